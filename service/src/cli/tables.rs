//! Answers as text for people: tables whose columns line up.

use std::io::Write;

use serde_json::Value;
use tabwriter::TabWriter;
use unicode_width::UnicodeWidthChar;

/// Columns that a content takes in a table.
const CONTENT_WIDTH: usize = 72;
const FACTORS: [&str; 6] = [
    "similarity",
    "decay",
    "emotion",
    "feedback",
    "hot_topic",
    "attention",
];

/// The text of a value, or nothing.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Hits, best first, each with its factors and reasons.
pub(super) fn hits(answer: &Value) -> String {
    let mut rows = vec![format!("score\tid\tday\tcontent\t{}", FACTORS.join("\t"))];
    let results = list(&answer["results"]);
    for hit in results {
        let factors = FACTORS.map(|factor| number(&hit["factors"][factor]));
        rows.push(format!(
            "{}\t{}\t{}\t{}\t{}",
            number(&hit["score"]),
            text(&hit["id"]),
            day(hit),
            start(text(&hit["content"])),
            factors.join("\t")
        ));
    }
    let mut shown = if results.is_empty() {
        String::new()
    } else {
        aligned(&rows)
    };
    for hit in results {
        let reasons: Vec<String> = list(&hit["found_by"])
            .iter()
            .map(|found| format!("{} {}", text(&found["kind"]), text(&found["detail"])))
            .collect();
        shown.push_str(&format!(
            "{} found by {}\n",
            text(&hit["id"]),
            reasons.join(", ")
        ));
    }
    if results.is_empty() {
        let reason = answer["skipped"]
            .as_str()
            .or(answer["empty"].as_str())
            .unwrap_or("no_match");
        shown.push_str(&format!("nothing found ({reason})\n"));
    }
    if let Some(below @ 1..) = answer["below_floor"].as_u64() {
        shown.push_str(&format!(
            "{below} more fell below the floor; `--min-score 0` shows them\n"
        ))
    }
    if let Some(reason) = answer["explanation"]["reason"].as_str() {
        let explanation = &answer["explanation"];
        let rank = explanation["rank"]
            .as_u64()
            .map(|rank| format!(", rank {rank}"))
            .unwrap_or_default();
        shown.push_str(&format!("{}: {reason}{rank}\n", text(&explanation["id"])));
    }
    shown
}

/// A page of memories.
pub(super) fn memories(answer: &Value) -> String {
    let mut rows = vec!["id\tday\tstate\ttags\tcontent".to_owned()];
    for memory in list(&answer["items"]) {
        rows.push(format!(
            "{}\t{}\t{}\t{}\t{}",
            text(&memory["id"]),
            day(memory),
            text(&memory["state"]),
            tags(memory),
            start(text(&memory["content"]))
        ));
    }
    let mut shown = aligned(&rows);
    if let Some(cursor) = answer["next_cursor"].as_str() {
        shown.push_str(&format!("more: --cursor {cursor}\n"));
    }
    shown
}

/// One memory, field by field, the content last.
pub(super) fn memory(memory: &Value) -> String {
    let fields = memory.as_object().into_iter().flatten();
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                item.as_str()
                    .map_or_else(|| item.to_string(), str::to_owned)
            })
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    };
    let is_empty = |value: &Value| {
        value.is_null() || *value == Value::Array(vec![]) || *value == serde_json::json!({})
    };
    let rows: Vec<String> = fields
        .filter(|(name, value)| *name != "content" && !is_empty(value))
        .map(|(name, value)| format!("{name}\t{}", shown(value)))
        .collect();
    format!("{}\n{}\n", aligned(&rows), text(&memory["content"]))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn tags(memory: &Value) -> String {
    list(&memory["tags"])
        .iter()
        .map(text)
        .collect::<Vec<_>>()
        .join(",")
}

fn day(memory: &Value) -> &str {
    text(&memory["created_at"]).get(..10).unwrap_or_default()
}

fn number(value: &Value) -> String {
    format!("{:.3}", value.as_f64().unwrap_or_default())
}

/// The first line of a content, cut to fit.
fn start(content: &str) -> String {
    let line: String = content
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let mut width = 0;
    let fits = |c: &char| {
        width += c.width().unwrap_or(0);
        width <= CONTENT_WIDTH
    };
    let start: String = line.chars().take_while(fits).collect();
    if start.len() < line.len() {
        format!("{start}…")
    } else {
        start
    }
}

/// Rows with tabs as lines whose columns line up.
pub(super) fn aligned(rows: &[String]) -> String {
    let mut writer = TabWriter::new(Vec::new()).padding(2);
    let written = rows
        .iter()
        .try_for_each(|row| writeln!(writer, "{row}"))
        .map_err(|_| ())
        .and_then(|()| writer.into_inner().map_err(|_| ()));
    written
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .unwrap_or_else(|| rows.join("\n") + "\n")
}
