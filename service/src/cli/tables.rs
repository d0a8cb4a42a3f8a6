//! Answers as text for people: tables whose columns line up and whose lines fit the terminal.

use serde_json::Value;

use super::printer::Page;
use super::text::{bar, fitted, width};

const FACTORS: [&str; 6] = [
    "similarity",
    "decay",
    "emotion",
    "feedback",
    "hot_topic",
    "attention",
];
/// Largest value that a factor's bar shows: the greatest boost by default.
const FULL_FACTOR: f64 = 1.5;
const SCORE_BAR: usize = 10;
const FACTOR_BAR: usize = 6;
/// Columns of one factor with its bar, and of the indent before it.
const FACTOR_CELL: usize = 25;
const INDENT: &str = "    ";
/// Columns of an id, which is never cut.
const ID: usize = 16;
/// Columns between columns of a table.
const GAP: usize = 2;

/// The text of a value, or nothing.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Hits, best first, each with its score, its content and what found it; with `factors` also the six
/// numbers that the score is the product of.
pub(super) fn hits(answer: &Value, page: Page, factors: bool) -> String {
    let results = list(&answer["results"]);
    let best = results.first().map_or(0.0, |hit| float(&hit["score"]));
    let mut shown = String::new();
    for (rank, hit) in results.iter().enumerate() {
        let share = float(&hit["score"]) / best;
        let head = format!(
            "{:>2}  {} {}  {}  {}{}\n",
            rank + 1,
            number(&hit["score"]),
            page.bar(&bar(share, SCORE_BAR)),
            text(&hit["id"]),
            page.dim(day(hit)),
            tags(hit)
                .map(|tags| format!("  {}", page.dim(&tags)))
                .unwrap_or_default(),
        );
        shown.push_str(&head);
        let content = fitted(text(&hit["content"]), page.columns - INDENT.len());
        shown.push_str(&format!("{INDENT}{}\n", page.title(&content)));
        if factors {
            shown.push_str(&factor_bars(&hit["factors"], page));
        }
        let reasons: Vec<String> = list(&hit["found_by"])
            .iter()
            .map(|found| format!("{} {}", text(&found["kind"]), text(&found["detail"])))
            .collect();
        let reasons = format!("found by {}", reasons.join(", "));
        let reasons = fitted(&reasons, page.columns - INDENT.len());
        shown.push_str(&format!("{INDENT}{}\n", page.dim(&reasons)));
    }
    if results.is_empty() {
        let reason = answer["skipped"].as_str().or(answer["empty"].as_str());
        shown.push_str(&format!(
            "nothing found ({})\n",
            reason.unwrap_or("no_match")
        ));
    }
    for reason in list(&answer["degraded"]) {
        shown.push_str(&format!("degraded: {}\n", text(reason)));
    }
    if let Some(below @ 1..) = answer["below_floor"].as_u64() {
        shown.push_str(&format!(
            "{below} more fell below the floor; `--min-score 0` shows them\n"
        ));
    }
    if let Some(reason) = answer["explanation"]["reason"].as_str() {
        let explanation = &answer["explanation"];
        let rank = explanation["rank"].as_u64();
        let rank = rank
            .map(|rank| format!(", rank {rank}"))
            .unwrap_or_default();
        shown.push_str(&format!("{}: {reason}{rank}\n", text(&explanation["id"])));
        if explanation["factors"].is_object() {
            shown.push_str(&factor_bars(&explanation["factors"], page));
        }
    }
    shown
}

/// The six factors with bars, as many on a line as fit.
fn factor_bars(factors: &Value, page: Page) -> String {
    let a_line = ((page.columns - INDENT.len()) / FACTOR_CELL).clamp(1, FACTORS.len());
    let mut shown = String::new();
    for names in FACTORS.chunks(a_line) {
        let cells: Vec<String> = names
            .iter()
            .map(|name| {
                let value = float(&factors[name]);
                let drawn = page.bar(&bar(value / FULL_FACTOR, FACTOR_BAR));
                format!("{name:<10} {value:.3} {drawn}")
            })
            .collect();
        shown.push_str(&format!("{INDENT}{}\n", cells.join("  ").trim_end()));
    }
    shown
}

/// A page of memories.
pub(super) fn memories(answer: &Value, page: Page) -> String {
    let rows = list(&answer["items"]).iter().map(|memory| {
        let tags = tags(memory).unwrap_or_default();
        [
            text(&memory["id"]),
            day(memory),
            text(&memory["state"]),
            &tags,
            text(&memory["content"]),
        ]
        .map(str::to_owned)
    });
    let mut shown = table(&["id", "day", "state", "tags", "content"], rows, page);
    if let Some(cursor) = answer["next_cursor"].as_str() {
        shown.push_str(&format!("more: --cursor {cursor}\n"));
    }
    shown
}

/// One memory, field by field, the content last and whole.
pub(super) fn memory(memory: &Value, page: Page) -> String {
    let is_empty = |value: &Value| {
        value.is_null() || *value == Value::Array(vec![]) || *value == serde_json::json!({})
    };
    let fields = memory.as_object().into_iter().flatten();
    let fields: Vec<(String, String)> = fields
        .filter(|(name, value)| *name != "content" && !is_empty(value))
        .map(|(name, value)| (name.clone(), plain(value)))
        .collect();
    let names = fields
        .iter()
        .map(|(name, _)| width(name))
        .max()
        .unwrap_or(0);
    let mut shown = String::new();
    for (name, value) in fields {
        let space = " ".repeat(names - width(&name) + GAP);
        let value = fitted(&value, page.columns.saturating_sub(names + GAP));
        shown.push_str(&format!("{}{space}{value}\n", page.dim(&name)));
    }
    format!("{shown}\n{}\n", text(&memory["content"]))
}

/// A value on one line.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Rows under a head; without rows nothing. The last column gets what is left of the line.
pub(super) fn table<const N: usize>(
    head: &[&str; N],
    rows: impl Iterator<Item = [String; N]>,
    page: Page,
) -> String {
    let mut lines: Vec<[String; N]> = vec![head.map(str::to_owned)];
    lines.extend(rows);
    if lines.len() == 1 {
        return String::new();
    }
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = lines.iter().map(|line| width(&line[column]));
        cells.max().unwrap_or(0).min((page.columns / 3).max(ID))
    });
    let before_last: usize = widths[..N - 1].iter().map(|width| width + GAP).sum();
    let rest = page.columns.saturating_sub(before_last);
    let mut shown = String::new();
    for (number, line) in lines.iter().enumerate() {
        let mut drawn = String::new();
        for (column, cell) in line.iter().enumerate() {
            let cell = fitted(
                cell,
                if column == N - 1 {
                    rest
                } else {
                    widths[column]
                },
            );
            let space = (widths[column] + GAP).saturating_sub(width(&cell));
            drawn.push_str(&cell);
            drawn.push_str(&" ".repeat(space));
        }
        let drawn = drawn.trim_end();
        let drawn = if number == 0 {
            page.dim(drawn)
        } else {
            drawn.to_owned()
        };
        shown.push_str(&drawn);
        shown.push('\n');
    }
    shown
}

/// Rows whose cells are parted by tabs as lines whose columns line up, however long.
pub(super) fn aligned(rows: &[String]) -> String {
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.split('\t').collect()).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let mut shown = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, column) in row.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(column + GAP - width(cell)));
        }
        shown.push_str(line.trim_end());
        shown.push('\n');
    }
    shown
}

fn tags(memory: &Value) -> Option<String> {
    let tags: Vec<String> = list(&memory["tags"])
        .iter()
        .map(|tag| format!("#{}", text(tag)))
        .collect();
    (!tags.is_empty()).then(|| tags.join(" "))
}

/// The day of a time, or of `created_at`.
fn day(memory: &Value) -> &str {
    text(&memory["created_at"]).get(..10).unwrap_or_default()
}

fn float(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// A number with three decimals.
pub(super) fn number(value: &Value) -> String {
    format!("{:.3}", float(value))
}
