//! Whatever a person types finds the memory that holds it: one table of queries,
//! asked through every door.

use serde_json::{Value, json};

use crate::answers::contents;
use crate::support::{TestServer, encode};
use crate::unrelated::store_among_unrelated;

/// A memory, and a query that must find it among the unrelated ones.
struct Row {
    stored: &'static str,
    query: &'static str,
    /// The query holds a word so telling that prefetch must inject the memory.
    telling: bool,
}

const fn row(stored: &'static str, query: &'static str) -> Row {
    Row {
        stored,
        query,
        telling: false,
    }
}

const fn telling(stored: &'static str, query: &'static str) -> Row {
    Row {
        stored,
        query,
        telling: true,
    }
}

const ROWS: &[Row] = &[
    // Apostrophes (fault 19).
    row("User's dog is called Biscuit", "User's dog"),
    row(
        "The vet asked what's the dog's name?",
        "what's the dog's name?",
    ),
    row("Rabbits don't eat chocolate", "don't eat"),
    row("Parrots don’t eat avocado", "don’t eat"),
    // Hyphens (fault 20).
    row("They sell state-of-the-art gearboxes", "state-of-the-art"),
    row("Start clean with rm -rf build", "rm -rf build"),
    row("The switch -rf is dangerous", "-rf"),
    row("Please re-check invoice nine", "re-check"),
    row("The alpha -zzz channel is quiet", "alpha -zzz"),
    // Colons (fault 21).
    row("Standup begins at 10:30", "10:30"),
    row("The sample prints hello: world", "hello: world"),
    telling(
        "Manual: https://example.com/docs?a=1&b=2",
        "https://example.com/docs?a=1&b=2",
    ),
    // Semicolons, per cent, brackets and braces (fault 22).
    row("Typed as tilde; semi in the draft", "tilde; semi"),
    row("Battery stops charging at 50%", "50%"),
    row("Shoes were reduced (50% off) last week", "(50% off)"),
    row("The crash is in array[0]", "array[0]"),
    row("Set the option {json: true}", "{json: true}"),
    // Dollars, arrows, backslashes (fault 23).
    row("The deposit was $5,000", "$5,000"),
    row("Map every key => value pair", "key => value"),
    row(r"His profile is in C:\Users\bob", r"C:\Users\bob"),
    // Dotted names, versions, addresses, paths (faults 25, 32).
    telling("Sessions are kept in state.db", "state.db"),
    row("The build needs node.js", "node.js"),
    telling("The printer answers at 192.168.1.10", "192.168.1.10"),
    telling("Pages are served from /opt/web/dist", "/opt/web/dist"),
    telling("Pin the module to v2.10.5-rc1", "v2.10.5-rc1"),
    row("The lease was signed on 2024-05-01", "2024-05-01"),
    row("Caroline plays the cello", "/Caroline"),
    // Languages and mail addresses (faults 26, 27).
    row("Nephew studies C++ at night", "C++"),
    row("Niece writes games in C#", "C#"),
    telling("Write to alice@example.com about rent", "alice@example.com"),
    telling("Invoices go to bob+tag@x.io", "bob+tag@x.io"),
    // Emoji, accents, width (faults 28, 29).
    row("Launch day 🎉 was great", "🎉"),
    row("Meet at the Café Lumen", "cafe"),
    row("Meet at the cafe Lumen", "Café"),
    row("Learning ＰＹＴＨＯＮ slowly", "python"),
    row("Learning python slowly", "ＰＹＴＨＯＮ"),
    // What the Python Keepsake escaped twice (fault 31).
    row("Knock (twice) before entering", "(twice)"),
    row("Mix it at a 50% ratio", "50% ratio"),
    row(r"The macro is \twice", r"\twice"),
    // User reports 1 to 13.
    telling("pve-01 hosts lxc-103", "lxc-103"),
    telling("pve-01 hosts lxc-103", "pve-01"),
    telling(
        "marker phrase is oceanbase-blue-116",
        "oceanbase-blue-116 add search",
    ),
    row("2026-03-14 会议改到三楼", "2026-03-14 会议"),
    telling("Summaries are made by gpt-4o", "gpt-4o"),
    row("Attachments may have 100-200MB", "100-200MB"),
    row("Write it as namespace:value", "namespace:value"),
    row("Truth tables: OR AND NOT", "OR AND NOT"),
    row("TODO: fix parser", "TODO: fix"),
    row("Log said error:timeout", "error:timeout"),
    row("Appointment time: 9am", "time: 9am"),
    row("Rule one: don't use agents", "don't use agents"),
    row("Saved under Downloads/transcripts", "Downloads/transcripts"),
    row("Bergen: it's raining", "it's"),
    row("A multi-agent setup", "multi-agent"),
    row("Take the a-b road", "a-b"),
    row("Dialect word a'b", "a'b"),
    row("Run it with --error-on-warnings", "\"--error-on-warnings\""),
    telling("Ticket OC-41252 is open", "OC-41252"),
    row("Shelf label book--1", "book--1"),
    row("Pages 10-20 are missing", "10-20"),
    telling(
        "Queue sgc117-192.168.95.117:prt:124 jams",
        "sgc117-192.168.95.117:prt:124",
    ),
    telling("mail testing@gmail.com", "testing@gmail.com"),
];

#[test]
fn every_query_finds_its_memory_by_search() {
    let server = server_with_rows();
    check(|number, row| server.search(json!({"query": row.query, "namespace": namespace(number)})));
}

#[test]
fn every_query_finds_its_memory_in_lexical_mode() {
    let server = server_with_rows();
    check(|number, row| {
        server
            .search(json!({"query": row.query, "namespace": namespace(number), "mode": "lexical"}))
    });
}

#[test]
fn every_query_finds_its_memory_by_get() {
    let server = server_with_rows();
    check(|number, row| {
        let (query, namespace) = (encode(row.query), namespace(number));
        let path = format!("/v1/search?q={query}&namespace={namespace}&is_primary=true");
        let answer = server.get(&path);
        assert_eq!(answer.status, 200, "{}: {:#}", row.query, answer.body);
        answer.body
    });
}

#[test]
fn every_query_finds_its_memory_on_the_command_line() {
    let server = server_with_rows();
    check(|number, row| {
        let output = server.cli(&[
            "--namespace",
            &namespace(number),
            "--json",
            "search",
            "--",
            row.query,
        ]);
        assert_eq!(output.code, 0, "{}: {}", row.query, output.stderr);
        serde_json::from_str(&output.stdout).expect("--json prints JSON")
    });
}

#[test]
fn every_query_is_answered_by_prefetch() {
    let server = server_with_rows();
    for (number, row) in ROWS.iter().enumerate() {
        let fields =
            json!({"query": row.query, "namespace": namespace(number), "is_primary": true});
        let answer = server.post("/v1/prefetch", fields);
        assert_eq!(answer.status, 200, "{}: {:#}", row.query, answer.body);
    }
}

#[test]
fn every_telling_query_is_prefetched() {
    let server = server_with_rows();
    let missing: Vec<_> = ROWS
        .iter()
        .enumerate()
        .filter(|(_, row)| row.telling)
        .filter(|(number, row)| {
            let body =
                server.prefetch(json!({"query": row.query, "namespace": namespace(*number)}));
            !body["context"]
                .as_str()
                .expect("context is a text")
                .contains(row.stored)
        })
        .map(|(_, row)| row.query)
        .collect();
    assert!(missing.is_empty(), "not prefetched: {missing:#?}");
}

fn namespace(number: usize) -> String {
    format!("row-{number}")
}

fn server_with_rows() -> TestServer {
    let server = TestServer::start();
    for (number, row) in ROWS.iter().enumerate() {
        store_among_unrelated(&server, &namespace(number), &[row.stored]);
    }
    server
}

/// Every row's memory is among the results; all that are not are named at once.
fn check(search: impl Fn(usize, &Row) -> Value) {
    let missing: Vec<_> = ROWS
        .iter()
        .enumerate()
        .filter(|(number, row)| !contents(&search(*number, row)).contains(&row.stored.to_owned()))
        .map(|(_, row)| row.query)
        .collect();
    assert!(missing.is_empty(), "not found: {missing:#?}");
}
