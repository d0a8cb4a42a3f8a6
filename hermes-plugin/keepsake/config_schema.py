"""The form of the dashboard; it writes `keepsake/config.json` under the Hermes home."""

from __future__ import annotations

from plugins.memory.config_schema import (
    KIND_BOOL,
    KIND_SECRET,
    KIND_SELECT,
    ProviderConfigSchema,
    ProviderField,
    ProviderFieldOption,
)

CONFIG_SCHEMA = ProviderConfigSchema(
    name="keepsake",
    label="Keepsake",
    fields=(
        ProviderField(
            "url",
            "Service",
            default="http://127.0.0.1:7437",
            description="Address of the Keepsake service",
            inline=True,
        ),
        ProviderField(
            "api_key",
            "API key",
            kind=KIND_SECRET,
            env_key="KEEPSAKE_API_KEY",
            description="Only if the service wants one",
        ),
        ProviderField(
            "recall",
            "Recall",
            kind=KIND_SELECT,
            default="auto",
            options=(
                ProviderFieldOption("auto", "With every message"),
                ProviderFieldOption("tools", "When the model asks"),
                ProviderFieldOption("off", "Never"),
            ),
            inline=True,
        ),
        ProviderField(
            "autostart",
            "Start the service",
            kind=KIND_BOOL,
            default="true",
            description="When it is on this machine and does not run",
        ),
    ),
)
