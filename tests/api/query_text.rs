//! Single promises about query text: what must be first, what must not match,
//! what is empty. The table of queries is in `query_rows.rs`.

use serde_json::json;

use crate::answers::{contents, ids, list};
use crate::support::{TestServer, encode};
use crate::unrelated::UNRELATED;

/// Every printable ASCII mark, alone between words, at a word's end, and at its start.
#[test]
fn no_punctuation_mark_breaks_a_query() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "Caroline met us yesterday at the museum"}));
    let marks = (0x21..0x7f_u8)
        .map(char::from)
        .filter(char::is_ascii_punctuation);

    let missing: Vec<_> = marks
        .flat_map(|mark| {
            [
                format!("Caroline {mark} yesterday"),
                format!("Caroline{mark} yesterday"),
                format!("{mark}Caroline yesterday"),
                format!("{mark} Caroline"),
                format!("yesterday Caroline {mark}"),
            ]
        })
        .filter(|query| {
            !server
                .found(query)
                .contains(&"Caroline met us yesterday at the museum".to_owned())
        })
        .collect();

    assert!(missing.is_empty(), "not found: {missing:#?}");
}

#[test]
fn a_minus_sign_excludes_nothing() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "alpha zzz is a radio call sign"}));

    assert_eq!(
        server.found("alpha -zzz"),
        ["alpha zzz is a radio call sign"]
    );
}

#[test]
fn a_query_of_marks_only_is_answered() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);

    for query in [
        "=>", "-", "--", "*", "\"", "\\", "(", "@", "%%", "???", "|", "~1", "…", "。",
    ] {
        let body = server.search(json!({"query": query}));
        assert_eq!(contents(&body), [""; 0], "search for {query}");
        assert!(body["empty"].is_string(), "search for {query}: {body:#}");
    }
}

#[test]
fn an_exact_mail_address_is_first() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "Docs live at https://example.com/alice",
        "Write to bob@example.com about parking",
        "Write to alice@example.com about rent",
    ]);

    assert_eq!(
        server.found("alice@example.com")[0],
        "Write to alice@example.com about rent"
    );
}

#[test]
fn the_asked_version_is_above_its_sibling() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "Ubuntu 22.04 hardening",
        "Ubuntu 20.04 hardening",
        "Ubuntu 18.04 hardening",
    ]);

    assert_eq!(server.found("ubuntu 20.04")[0], "Ubuntu 20.04 hardening");
}

#[test]
fn stop_words_do_not_match_beside_a_telling_word() {
    let server = TestServer::start();
    server.add_all(&[
        "Caroline likes hiking",
        "Bread and butter for breakfast",
        "Salt and pepper are empty",
    ]);

    assert_eq!(server.found("caroline AND"), ["Caroline likes hiking"]);
}

#[test]
fn a_prefetch_of_stop_words_injects_nothing() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);

    let body = server.prefetch(json!({"query": "what is the"}));

    assert_eq!(body["context"], "", "{body:#}");
}

#[test]
fn a_star_is_a_star_and_not_a_prefix_search() {
    let server = TestServer::start_lexical();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The carpenter called"}));

    assert!(
        !server
            .found("carp*")
            .contains(&"The carpenter called".to_owned())
    );
}

#[test]
fn a_blank_query_is_an_empty_answer() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);

    for query in ["", "   ", "\t\n", "\u{3000}"] {
        let get = server.get(&format!("/v1/search?q={}&is_primary=true", encode(query)));
        assert_eq!(get.status, 200, "GET of {query:?}: {:#}", get.body);
        let search = server.search(json!({"query": query}));
        let prefetch = server.prefetch(json!({"query": query}));
        for body in [get.body, search, prefetch] {
            assert_eq!(body["skipped"], "empty_query", "{query:?}: {body:#}");
            assert_eq!(body["empty"], "skipped", "{query:?}: {body:#}");
            assert_eq!(list(&body["results"]).len(), 0, "{query:?}: {body:#}");
        }
    }
    let output = server.cli(&["search", "   ", "--json"]);
    assert_eq!(output.code, 3, "nothing found: {}", output.stderr);
}

#[test]
fn two_servers_answer_alike() {
    let answers = [(); 2].map(|()| {
        let server = TestServer::start();
        server.add_all(&UNRELATED);
        server.add_all(&[
            "Knock (twice) before entering",
            "Mix it at a 50% ratio",
            r"The macro is \twice",
        ]);
        ["(twice)", "50% ratio", r"\twice"].map(|query| server.found(query))
    });

    assert_eq!(answers[0], answers[1]);
}

#[test]
fn the_table_of_a_search_shows_content_and_id() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "pve-01 hosts lxc-103"}));
    let id = ids(&server.search(json!({"query": "lxc-103"}))).remove(0);

    let output = server.cli(&["search", "lxc-103"]);

    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("pve-01 hosts"), "{}", output.stdout);
    assert!(output.stdout.contains(&id), "{}", output.stdout);
}

#[test]
fn a_word_of_a_query_that_no_memory_has_hides_nothing() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The postgres password is in the safe"}));

    assert_eq!(
        server.found("postgres zugzwang plan")[0],
        "The postgres password is in the safe"
    );
}
