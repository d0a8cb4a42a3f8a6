//! Each route of the bank API, of its probes and of the tools for models, with a success and a failure:
//! rows of the table in `routes`.

use serde_json::json;

use crate::routes::Sent::{Json, Nothing};
use crate::routes::{Example, pair};

const OPERATION: &str = "6f1c1f0e-4d0f-4f7a-9a52-0d6c5f5f9d11";
const UNKNOWN_OPERATION: &str = "00000000-0000-4000-8000-000000000000";

/// In the order in which they are sent.
pub(crate) fn rows() -> Vec<[Example; 2]> {
    let bank = "/v1/default/banks/harbour";
    let route =
        |end: &str| -> &'static str { format!("/v1/default/banks/{{bank_id}}{end}").leak() };
    let at = |end: &str| format!("{bank}{end}");
    let nowhere = |end: &str| format!("/v1/default/banks/nowhere{end}");
    let row = |method, end: &str, good: (String, _), bad: (String, _)| {
        pair(method, route(end), (&good.0, good.1), (&bad.0, bad.1))
    };
    let mut rows = vec![
        pair(
            "GET",
            "/health",
            ("/health", Nothing),
            ("/health/x", Nothing),
        ),
        pair(
            "GET",
            "/health/ready",
            ("/health/ready", Nothing),
            ("/health/ready/x", Nothing),
        ),
        pair(
            "GET",
            "/health/live",
            ("/health/live", Nothing),
            ("/health/live/x", Nothing),
        ),
        pair(
            "POST",
            "/mcp",
            (
                "/mcp?is_primary=true",
                Json(
                    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"query": "zircon"}}}),
                ),
            ),
            ("/mcp/x", Json(json!({}))),
        ),
        row(
            "PUT",
            "",
            (
                at(""),
                Json(
                    json!({"name": "Harbour", "mission": "Watch the ships", "disposition": {"empathy": 5}, "retain_chunk_size": 3000}),
                ),
            ),
            (at(""), Json(json!({"disposition_empathy": 9}))),
        ),
        row(
            "PATCH",
            "",
            (
                at(""),
                Json(json!({"background": "An old port", "mission": null})),
            ),
            (nowhere(""), Json(json!({}))),
        ),
    ];
    rows.extend([
        row("GET", "/profile", (at("/profile"), Nothing), (nowhere("/profile"), Nothing)),
        row(
            "PUT",
            "/profile",
            (at("/profile"), Json(json!({"disposition": {"skepticism": 1, "literalism": 2, "empathy": 3}}))),
            (at("/profile"), Json(json!({"disposition": {"skepticism": 0}}))),
        ),
        row("GET", "/config", (at("/config"), Nothing), (nowhere("/config"), Nothing)),
        row(
            "PATCH",
            "/config",
            (at("/config"), Json(json!({"updates": {"retain_mission": "names"}}))),
            (nowhere("/config"), Json(json!({}))),
        ),
        row("DELETE", "/config", (at("/config"), Nothing), (nowhere("/config"), Nothing)),
        row(
            "POST",
            "/memories",
            (
                at("/memories"),
                Json(json!({"items": [
                    {"content": "The Albatross moors at the north pier", "tags": ["ships"], "context": "log", "metadata": {"page": "3"}, "timestamp": "2026-05-01T08:00:00Z"},
                    {"content": "[[{\"role\": \"user\", \"content\": \"Is the crane free?\"}, {\"role\": \"assistant\", \"content\": \"Until noon.\"}]]", "document_id": "log/May 1.md", "update_mode": "append"},
                ], "document_tags": null, "async": true, "operation_id": OPERATION})),
            ),
            (at("/memories"), Json(json!({"items": [{"content": "fine"}, {"content": " "}]}))),
        ),
        row(
            "POST",
            "/memories/recall",
            (
                at("/memories/recall"),
                Json(json!({"query": "where does the Albatross moor?", "types": ["observation"], "max_tokens": 100, "include": {"entities": {}, "chunks": null}})),
            ),
            (at("/memories/recall"), Json(json!({"query": "?!"}))),
        ),
        row(
            "GET",
            "/memories/list",
            (at("/memories/list?limit=1&q=pier"), Nothing),
            (at("/memories/list?limit=0"), Nothing),
        ),
        row(
            "GET",
            "/memories/{id}",
            ("/v1/default/banks/default/memories/{id}".to_owned(), Nothing),
            (at("/memories/{id}"), Nothing),
        ),
        row(
            "PATCH",
            "/memories/{id}",
            (
                "/v1/default/banks/default/memories/{id}".to_owned(),
                Json(json!({"context": "jewels", "state": "invalidated", "reason": "sold"})),
            ),
            (at("/memories/{id}"), Json(json!({"state": "invalidated"}))),
        ),
        row(
            "POST",
            "/reflect",
            (at("/reflect"), Json(json!({"query": "is the crane free?", "max_tokens": null}))),
            (at("/reflect"), Json(json!({"query": "crane", "response_schema": {"type": "object"}}))),
        ),
        row("GET", "/stats", (at("/stats"), Nothing), ("/v1/default/banks/%00/stats".to_owned(), Nothing)),
        row("GET", "/documents", (at("/documents"), Nothing), (at("/documents?offset=x"), Nothing)),
        row(
            "GET",
            "/documents/{*id}",
            (at("/documents/log/May%201.md"), Nothing),
            (at("/documents/log%2FMay%202.md"), Nothing),
        ),
        row(
            "PATCH",
            "/documents/{*id}",
            (at("/documents/log%2FMay%201.md"), Json(json!({"tags": ["crane"]}))),
            (at("/documents/log%2FMay%201.md"), Json(json!({}))),
        ),
        row("GET", "/tags", (at("/tags"), Nothing), (at("/tags?limit=-1"), Nothing)),
        row("GET", "/entities", (at("/entities"), Nothing), (at("/entities?limit=x"), Nothing)),
        row(
            "GET",
            "/entities/{id}",
            (at("/entities/albatross"), Nothing),
            (at("/entities/kraken"), Nothing),
        ),
        row(
            "POST",
            "/mental-models",
            (
                at("/mental-models"),
                Json(json!({"id": "ships", "name": "Ships", "source_query": "which ships moor here?", "trigger": {"mode": "full"}})),
            ),
            (at("/mental-models"), Json(json!({"name": "Ships", "source_query": "ships", "max_tokens": 1}))),
        ),
        row(
            "GET",
            "/mental-models",
            (at("/mental-models?detail=content&limit=1000"), Nothing),
            (at("/mental-models?detail=everything"), Nothing),
        ),
        row(
            "GET",
            "/mental-models/{id}",
            (at("/mental-models/ships"), Nothing),
            (at("/mental-models/crews"), Nothing),
        ),
        row(
            "PATCH",
            "/mental-models/{id}",
            (at("/mental-models/ships"), Json(json!({"source_query": "is the crane free?"}))),
            (at("/mental-models/ships"), Json(json!({"source_query": "?"}))),
        ),
        row(
            "POST",
            "/mental-models/{id}/refresh",
            (at("/mental-models/ships/refresh"), Nothing),
            (at("/mental-models/crews/refresh"), Nothing),
        ),
        row(
            "GET",
            "/mental-models/{id}/history",
            (at("/mental-models/ships/history"), Nothing),
            (at("/mental-models/crews/history"), Nothing),
        ),
        row(
            "DELETE",
            "/mental-models/{id}",
            (at("/mental-models/ships"), Nothing),
            (at("/mental-models/ships"), Nothing),
        ),
    ]);
    let named = "/operations/{id}";
    rows.extend([
        row(
            "POST",
            "/consolidate",
            (at("/consolidate"), Nothing),
            ("/v1/default/banks/%20/consolidate".to_owned(), Nothing),
        ),
        row(
            "GET",
            "/operations",
            (at("/operations?type=retain"), Nothing),
            (at("/operations?limit=x"), Nothing),
        ),
        row(
            "GET",
            named,
            (at(&format!("/operations/{UNKNOWN_OPERATION}")), Nothing),
            (at("/operations/seven"), Nothing),
        ),
        row(
            "DELETE",
            named,
            (at(&format!("/operations/{OPERATION}")), Nothing),
            (at(&format!("/operations/{UNKNOWN_OPERATION}")), Nothing),
        ),
        row(
            "POST",
            "/operations/{id}/retry",
            (at(&format!("/operations/{OPERATION}/retry")), Nothing),
            (
                at(&format!("/operations/{UNKNOWN_OPERATION}/retry")),
                Nothing,
            ),
        ),
        row(
            "DELETE",
            "/documents/{*id}",
            (at("/documents/log/May%201.md"), Nothing),
            (at("/documents/log/May%201.md"), Nothing),
        ),
        row(
            "DELETE",
            "/memories",
            (at("/memories?type=world"), Nothing),
            (at("/memories?type=rumour"), Nothing),
        ),
        pair(
            "GET",
            "/v1/default/banks",
            ("/v1/default/banks?q=harb", Nothing),
            ("/v1/default/banks?limit=0", Nothing),
        ),
        row("DELETE", "", (at(""), Nothing), (nowhere(""), Nothing)),
    ]);
    rows
}
