//! The document as a page that needs nothing else: no script, nothing from elsewhere.

use std::fmt::Write;

use serde_json::Value;

/// The page may style itself and do nothing else.
pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}
h1 small{font-weight:normal;color:#666}details{border-top:1px solid #ddd}summary{cursor:pointer;padding:.4rem 0}
code{font:14px ui-monospace,monospace}summary b{display:inline-block;width:4.5rem}summary span{color:#666}
pre{background:#f6f6f6;padding:.8rem;overflow:auto}td,th{text-align:left;padding:.1rem 1rem .1rem 0;vertical-align:top}
@media(prefers-color-scheme:dark){body{background:#1a1a1a;color:#ddd}pre{background:#262626}details{border-color:#444}}";

/// The page.
pub(super) fn page(document: &Value) -> String {
    let info = &document["info"];
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title><style>{STYLE}</style>\n<h1>{title} <small>{version}</small></h1>\n<p>{about} Errors are problem details (RFC 9457). For programs: <a href=\"/openapi.json\">openapi.json</a>.</p>\n",
        title = text(&info["title"]),
        version = text(&info["version"]),
        about = text(&info["description"]),
    );
    for (heading, tag) in [("Routes", "keepsake"), ("Bank API", "bank")] {
        let _ = writeln!(page, "<h2>{heading}</h2>");
        let paths = document["paths"].as_object().into_iter().flatten();
        for (path, item) in paths {
            for (method, operation) in item.as_object().into_iter().flatten() {
                if operation["tags"][0] == tag {
                    route(&mut page, document, path, method, operation);
                }
            }
        }
    }
    page
}

fn route(page: &mut String, document: &Value, path: &str, method: &str, operation: &Value) {
    let _ = writeln!(
        page,
        "<details><summary><b>{}</b><code>{}</code> <span>{}</span></summary>\n<p>Needs {}.</p>",
        escaped(&method.to_uppercase()),
        escaped(path),
        text(&operation["summary"]),
        text(&operation["x-keepsake-needs"]),
    );
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let mut rows = String::new();
    for parameter in parameters {
        let referred = parameter["$ref"]
            .as_str()
            .and_then(|at| at.strip_prefix('#'));
        let referred = referred.and_then(|at| document.pointer(at));
        let parameter = referred.unwrap_or(parameter);
        let _ = writeln!(
            rows,
            "<tr><td><code>{}</code><td>{}<td><code>{}</code><td>{}",
            text(&parameter["name"]),
            text(&parameter["in"]),
            text(&parameter["schema"]["type"]),
            text(&parameter["description"]),
        );
    }
    if !rows.is_empty() {
        let _ = writeln!(page, "<table>{rows}</table>");
    }
    for (heading, content) in [
        ("Body", &operation["requestBody"]["content"]),
        ("Answer", &operation["responses"]["200"]["content"]),
    ] {
        for (kind, content) in content.as_object().into_iter().flatten() {
            let schema = serde_json::to_string_pretty(&content["schema"]).unwrap_or_default();
            let (kind, schema) = (escaped(kind), escaped(&schema));
            let _ = writeln!(
                page,
                "<p>{heading}: <code>{kind}</code></p><pre>{schema}</pre>"
            );
        }
    }
    page.push_str("</details>\n");
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => escaped(text),
        other => escaped(&other.to_string()),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
