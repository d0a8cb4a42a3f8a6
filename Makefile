.PHONY: build check test fix

build:
	cargo build --release --workspace

# What CI runs.
check:
	.ci/run

test:
	tests/run

# Formats and applies what the lints can mend by themselves.
fix:
	cargo clippy --release --workspace --all-targets --fix --allow-dirty --allow-staged
	cargo fmt --all
