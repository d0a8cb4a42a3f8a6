//! Secrets in what is stored without anyone's asking are masked, and tell themselves nowhere.

use keepsake::config::RedactSecrets;
use serde_json::{Value, json};

use crate::answers::{lines, text};
use crate::support::TestServer;

/// Put together here, so that no scanner takes the tests for a leak.
fn secret() -> String {
    ["sk-", "proj-", "4f9Kd02mXq7LrT1vBn8YzW3c"].concat()
}

fn stored(server: &TestServer, id: &Value) -> String {
    let path = format!("/v1/memories/{}?is_primary=true", text(id));
    text(&server.get(&path).body["content"])
}

#[test]
fn an_automatic_write_is_masked_and_a_persons_is_not() {
    let server = TestServer::start();
    let content = format!("my key is {}, keep it", secret());
    for (origin, redacted) in [
        (Some("automatic"), json!(["secret-key"])),
        (Some("person"), json!([])),
        (Some("model"), json!([])),
        (None, json!([])),
    ] {
        let mut body = json!({"content": content, "session": format!("{origin:?}"), "turn": 1});
        body["metadata"] = json!({"said": [{"raw": content}]});
        if let Some(origin) = origin {
            body["origin"] = json!(origin);
        }
        let answer = server.post("/v1/memories", body);
        assert_eq!(answer.status, 201, "{:#}", answer.body);
        assert_eq!(answer.body["redacted"], redacted, "{origin:?}");
        let masked = origin == Some("automatic");
        assert_eq!(
            answer.body.to_string().contains(&secret()),
            !masked,
            "{:#}",
            answer.body
        );
        let expected = if masked {
            "my key is [redacted: secret-key], keep it".to_owned()
        } else {
            content.clone()
        };
        assert_eq!(stored(&server, &answer.body["id"]), expected);
    }
}

#[test]
fn the_setting_decides_for_every_way_of_writing() {
    for (setting, masked) in [
        (RedactSecrets::Never, false),
        (RedactSecrets::Automatic, true),
        (RedactSecrets::Always, true),
    ] {
        let server = TestServer::start_with(|settings| settings.redact_secrets = setting);
        let item = json!({"content": format!("token {}", secret()), "origin": "automatic"});
        let mut operation = item.clone();
        operation["op"] = json!("add");
        operation["op_id"] = json!("1");
        operation["content"] = json!(format!("spooled {}", secret()));
        server.post("/v1/memories/batch", json!([item]));
        server.post_raw(
            "/v1/memories/batch?agent_id=alpha",
            Some("application/x-ndjson"),
            item.to_string().as_bytes(),
        );
        let done = server.post("/v1/memories/operations", json!([operation]));
        assert_eq!(
            done.body["results"][0]["redacted"].is_array(),
            masked,
            "{:#}",
            done.body
        );
        let export = server.get("/v1/export?is_primary=true").body.to_string();
        assert_eq!(export.contains(&secret()), !masked, "{setting:?}");
    }
}

#[test]
fn always_masks_edits_and_imports_too() {
    let server = TestServer::start_with(|settings| settings.redact_secrets = RedactSecrets::Always);
    let id = server.add(json!({"content": "plain"}));
    let path = format!("/v1/memories/{id}?is_primary=true");
    let edit = json!({"content": format!("now {}", secret()), "metadata": {"k": secret()}});
    assert_eq!(server.patch(&path, edit).status, 200);
    let line = json!({"id": "imported1", "content": format!("was {}", secret())});
    server.post_raw(
        "/v1/import",
        Some("application/x-ndjson"),
        line.to_string().as_bytes(),
    );
    let export = server.get("/v1/export?is_primary=true");
    assert_eq!(
        lines(&export)
            .iter()
            .filter(|line| line["id"].is_string())
            .count(),
        2
    );
    assert!(
        !export.body.to_string().contains(&secret()),
        "{:#}",
        export.body
    );
}

#[test]
fn a_masked_memory_is_replaced_by_the_text_that_was_said() {
    let server = TestServer::start();
    let said = format!("deploy with {}", secret());
    let answer = server.post(
        "/v1/memories/operations",
        json!([
            {"op_id": "1", "op": "add", "content": said, "origin": "automatic"},
            {"op_id": "2", "op": "replace", "old_text": said, "content": "deploy with the vault", "origin": "automatic"},
        ]),
    );
    assert_eq!(
        answer.body["results"][1]["status"], "done",
        "{:#}",
        answer.body
    );
}

#[test]
fn no_error_tells_a_secret() {
    let server = TestServer::start();
    let secret = secret();
    for answer in [
        server.post("/v1/memories", json!({"content": "x", "pinned": secret})),
        server.post(
            "/v1/memories",
            json!({"content": "x", "tags": [format!("agent:{secret}")]}),
        ),
        server.post("/v1/memories", json!({"content": "x", secret.clone(): 1})),
        server.post(
            "/v1/memories",
            json!({"content": "x", "created_at": secret}),
        ),
        server.get(&format!("/v1/memories/{secret}")),
        server.get(&format!("/v1/memories?state={secret}")),
        server.get(&format!("/v1/memories?{secret}=1")),
        server.post(
            "/v1/memories/operations",
            json!([{"op_id": "1", "op": secret}]),
        ),
    ] {
        assert!((200..500).contains(&answer.status));
        assert!(
            !answer.body.to_string().contains(&secret),
            "{:#}",
            answer.body
        );
    }
}
