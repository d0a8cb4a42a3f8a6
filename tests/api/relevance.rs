//! Junk stays out, true hits stay in, an empty answer says why, and one fact
//! appears once.

use serde_json::{Value, json};

use crate::answers::{column, contents, ids, list, number};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

#[test]
fn a_phrase_found_nowhere_injects_nothing() {
    let server = TestServer::start();
    let crowd: Vec<_> = (0..200)
        .map(|number| json!({"content": format!("{} on day {number}", UNRELATED[number % 12]), "is_primary": true}))
        .collect();
    assert_eq!(server.post("/v1/memories/batch", json!(crowd)).status, 200);

    let body = server.prefetch(json!({"query": "PHRASE_THAT_DEFINITELY_DOES_NOT_APPEAR_QQQQ"}));

    assert_silent(&body);
}

#[test]
fn small_talk_injects_nothing() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "The model railway is in the attic",
        "Send thanks to the florist by Friday",
        "测试工程师周五请假",
        "It is ok to park behind the bakery",
    ]);

    for message in [
        "测试模型访问",
        "test the model",
        "ok",
        "thanks!",
        "👍",
        "???",
        "hi",
        "好的",
        "what is the",
    ] {
        assert_silent(&server.prefetch(json!({"query": message})));
    }
}

#[test]
fn a_single_memory_is_not_the_answer_to_everything() {
    let server = TestServer::start();
    server.add(json!({"content": "bake bread at dawn"}));

    assert_silent(&server.prefetch(json!({"query": "the old mill bakery's location"})));
}

#[test]
fn a_true_hit_passes_the_floor() {
    let server = TestServer::start();
    server.add(json!({"content": "Proton Bridge IMAP credentials are in the vault"}));

    let alone = server.prefetch(json!({"query": "proton bridge"}));
    server.add_all(&UNRELATED);
    let among_others = server.prefetch(json!({"query": "proton bridge"}));

    for body in [alone, among_others] {
        assert_eq!(
            contents(&body),
            ["Proton Bridge IMAP credentials are in the vault"]
        );
    }
}

#[test]
fn what_falls_below_the_floor_is_counted() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The model railway is in the attic"}));

    let body = server.prefetch(json!({"query": "test the model"}));

    assert_eq!(body["empty"], "below_floor", "{body:#}");
    assert!(number(&body["below_floor"]) >= 1.0, "{body:#}");
}

#[test]
fn a_given_min_score_replaces_the_floor_and_counts() {
    let server = server_with_lanterns();

    let body = server.search(json!({"query": "lantern", "mode": "lexical", "min_score": 1e9}));

    assert_eq!(contents(&body), [""; 0]);
    assert_eq!(body["below_floor"], 10, "{body:#}");
    assert_eq!(body["empty"], "below_floor", "{body:#}");
}

#[test]
fn a_min_score_between_two_scores_cuts_between_them() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "zircon obsidian feldspar quartz",
        "zircon marble granite basalt",
    ]);
    let query = "zircon obsidian feldspar";
    let both = server.search(json!({"query": query, "mode": "lexical", "min_score": 0}));
    let scores: Vec<_> = list(&both["results"])
        .iter()
        .map(|hit| number(&hit["score"]))
        .collect();

    let middle = f64::midpoint(scores[0], scores[1]);
    let body = server.search(json!({"query": query, "mode": "lexical", "min_score": middle}));

    assert_eq!(contents(&body), ["zircon obsidian feldspar quartz"]);
    assert_eq!(body["below_floor"], 1, "{body:#}");
}

#[test]
fn min_score_zero_returns_exactly_top_k() {
    let server = server_with_lanterns();

    for top_k in [1, 7, 10] {
        let body = server.search(json!({"query": "lantern", "min_score": 0, "top_k": top_k}));
        assert_eq!(list(&body["results"]).len(), top_k, "{body:#}");
    }
}

#[test]
fn top_k_is_five_unless_said() {
    let server = server_with_lanterns();

    assert_eq!(ids(&server.search(json!({"query": "lantern"}))).len(), 5);
}

#[test]
fn a_word_that_every_memory_holds_is_found_when_asked_for_alone() {
    let server = TestServer::start();
    server.add_all(&[
        "The lantern hangs by the door",
        "A lantern lit the tent",
        "Her lantern broke",
    ]);

    assert_eq!(server.found("lantern").len(), 3);
}

#[test]
fn every_empty_answer_says_why() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The zircon ring is insured", "tags": ["jewels"]}));

    for (fields, reason) in [
        (json!({"query": " "}), "skipped"),
        (json!({"query": "quaggaboo", "mode": "lexical"}), "no_match"),
        (
            json!({"query": "zircon ring", "mode": "lexical", "tag_filter": ["garden"]}),
            "filtered",
        ),
        (
            json!({"query": "zircon ring", "mode": "lexical", "min_score": 1e9}),
            "below_floor",
        ),
    ] {
        let body = server.search(fields.clone());
        assert_eq!(body["empty"], reason, "{fields}: {body:#}");
    }
}

#[test]
fn an_answer_with_results_has_no_reason_to_be_empty() {
    let server = TestServer::start();
    server.add(json!({"content": "Proton Bridge IMAP credentials are in the vault"}));

    for body in [
        server.search(json!({"query": "proton bridge"})),
        server.prefetch(json!({"query": "proton bridge"})),
    ] {
        assert_eq!(body["empty"], Value::Null, "{body:#}");
        assert_eq!(body["skipped"], Value::Null, "{body:#}");
    }
}

#[test]
fn an_unknown_namespace_is_an_empty_answer() {
    let server = TestServer::start();
    server.add(json!({"content": "The zircon ring is insured"}));

    let body = server.search(json!({"query": "zircon", "namespace": "nowhere"}));

    assert_eq!(contents(&body), [""; 0]);
    assert!(body["empty"].is_string(), "{body:#}");
}

#[test]
fn search_returns_whatever_prefetch_injects() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "Proton Bridge IMAP credentials are in the vault",
        "The vault opens with a brass key",
        "Caroline keeps the brass key of the observatory",
    ]);

    for query in [
        "proton bridge",
        "where is the brass key?",
        "who keeps the observatory key",
        "vault",
    ] {
        let injected = ids(&server.prefetch(json!({"query": query})));
        let found = ids(&server.search(json!({"query": query})));
        assert!(
            injected.iter().all(|id| found.contains(id)),
            "{query}: {injected:?} but {found:?}"
        );
    }
}

#[test]
fn what_merely_shares_a_common_word_does_not_flood() {
    let server = TestServer::start();
    for number in 1..=12 {
        server.add(json!({"content": format!("User prefers tea with breakfast number {number}")}));
    }
    server.add(json!({"content": "User owns a bicycle"}));

    let body = server.search(json!({"query": "tea", "mode": "lexical", "top_k": 20}));

    assert!(
        !contents(&body).contains(&"User owns a bicycle".to_owned()),
        "{body:#}"
    );
}

#[test]
fn each_result_says_how_it_was_found() {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add(json!({"content": "The zircon ring is insured"}));

    let body = server.search(json!({"query": "zircon", "mode": "lexical"}));

    let kinds = column(&body["results"][0]["found_by"], "kind");
    assert!(kinds.contains(&"term".to_owned()), "{body:#}");
}

fn assert_silent(body: &Value) {
    assert_eq!(body["context"], "", "{body:#}");
    assert_eq!(contents(body), [""; 0], "{body:#}");
    assert!(body["empty"].is_string(), "{body:#}");
}

fn server_with_lanterns() -> TestServer {
    let server = TestServer::start();
    server.add_all(&UNRELATED);
    server.add_all(&[
        "The lantern hangs by the door",
        "A lantern lit the tent",
        "Her lantern broke in transit",
        "Paint every lantern green",
        "One lantern costs eleven euros",
        "Fill each lantern with oil",
        "My lantern is older than yours",
        "Carry the lantern upstairs carefully",
        "Borrow a lantern from Edith",
        "No lantern burns at sea",
    ]);
    server
}
