//! `POST /v1/sessions`: what a session sets holds for prefetches that carry its id.

use serde_json::json;

use crate::answers::{assert_rejects_field, contents, sorted};
use crate::support::TestServer;
use crate::unrelated::UNRELATED;

fn server() -> TestServer {
    let server = TestServer::start_with(|settings| {
        settings.top_k = 4;
        settings.tag_filter = vec!["team".to_owned()];
    });
    server.add_all(&UNRELATED);
    for (content, agent, tag) in [
        ("The zircon ring is insured", "alpha", "team"),
        ("A zircon brooch was lost", "alpha", "home"),
        ("zircon earrings were sold", "beta", "team"),
    ] {
        let fields = json!({"content": content, "agent_id": agent, "tags": [tag]});
        assert_eq!(server.post("/v1/memories", fields).status, 201);
    }
    server
}

fn prefetched(server: &TestServer, fields: serde_json::Value) -> Vec<String> {
    let answer = server.post("/v1/prefetch", fields);
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    sorted(contents(&answer.body))
}

#[test]
fn a_session_tells_its_effective_settings() {
    let server = server();
    let answer = server.post("/v1/sessions", json!({"session_id": "s"}));
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    let defaults = json!({"session_id": "s", "namespace": "default", "agent_id": null,
        "is_primary": false, "tag_filter": ["team"], "top_k": 4});
    assert_eq!(
        answer.body,
        json!({"settings": defaults, "reloaded": false})
    );

    let answer = server.post(
        "/v1/sessions?namespace=n",
        json!({"session_id": "s", "agent_id": "alpha", "is_primary": true, "tag_filter": "a, b", "top_k": 9}),
    );
    let own = json!({"session_id": "s", "namespace": "n", "agent_id": "alpha",
        "is_primary": true, "tag_filter": ["a", "b"], "top_k": 9});
    assert_eq!(answer.body["settings"], own);
}

#[test]
fn the_request_is_stronger_than_the_session_and_that_than_the_configuration() {
    let server = server();
    let query = |fields: serde_json::Value| {
        let mut query = json!({"query": "what about the zircon?"});
        query
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        prefetched(&server, query)
    };
    server.post(
        "/v1/sessions",
        json!({"session_id": "s", "agent_id": "alpha", "tag_filter": []}),
    );
    let (ring, brooch, earrings) = (
        "The zircon ring is insured",
        "A zircon brooch was lost",
        "zircon earrings were sold",
    );
    assert_eq!(query(json!({"session_id": "s"})), [brooch, ring]);
    assert_eq!(query(json!({"session_id": "unknown"})), [""; 0]);
    assert_eq!(
        query(json!({"session_id": "s", "namespace": "other"})),
        [""; 0]
    );
    assert_eq!(
        query(json!({"session_id": "s", "tag_filter": ["home"]})),
        [brooch]
    );
    assert_eq!(
        query(json!({"session_id": "s", "agent_id": "beta"})),
        [earrings]
    );
    assert_eq!(
        query(json!({"session_id": "s", "agent_id": ""})),
        [brooch, ring]
    );

    // A session that begins again forgets what it said before.
    server.post(
        "/v1/sessions",
        json!({"session_id": "s", "agent_id": "alpha", "top_k": 1}),
    );
    assert_eq!(query(json!({"session_id": "s"})), [ring]);
    assert_eq!(
        query(json!({"session_id": "s", "tag_filter": [], "top_k": 5})),
        [brooch, ring]
    );
}

#[test]
fn wrong_settings_are_refused_by_name() {
    let server = server();
    for (field, value) in [
        ("session_id", json!(" ")),
        ("session_id", json!(7)),
        ("top_k", json!(0)),
        ("top_k", json!(1_001)),
        ("tag_filter", json!({"any": 1})),
        ("is_primary", json!("yes")),
        ("colour", json!("red")),
    ] {
        let mut body = json!({"session_id": "s"});
        body[field] = value;
        assert_rejects_field(&server.post("/v1/sessions", body), field);
    }
    assert_rejects_field(&server.post("/v1/sessions", json!({})), "session_id");
}
