//! Models from the hub: fetched once, then used without a network.

use std::process::Command;

use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::get;
use keepsake::embedding::Choice;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::support::TestServer;

const NAME: &str = "someone/tiny-model";
const TOKENIZER: &str = r#"{"version": "1.0", "added_tokens": [], "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
    "post_processor": null, "decoder": null, "truncation": null, "padding": null,
    "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
    "vocab": [["[UNK]", 0.0], ["▁car", -1.0], ["▁automobile", -1.0], ["▁garage", -1.5], ["▁tomato", -2.0]]}}"#;

/// Rows for unknown, car, automobile, garage, tomato; a car is an automobile.
fn tables() -> Vec<u8> {
    let rows = [0.0_f32, 0.0, 1.0, 0.1, 1.0, 0.0, 0.5, 0.1, -0.1, 1.0];
    let header = r#"{"embeddings":{"dtype":"F32","shape":[5,2],"data_offsets":[0,40]}}"#;
    let length = header.len() as u64;
    [
        &length.to_le_bytes()[..],
        header.as_bytes(),
        &rows.map(f32::to_le_bytes).concat(),
    ]
    .concat()
}

async fn file(
    Path((owner, name, file)): Path<(String, String, String)>,
) -> Result<Vec<u8>, StatusCode> {
    match (format!("{owner}/{name}") == NAME, file.as_str()) {
        (true, "config.json") => Ok(br#"{"normalize": true}"#.to_vec()),
        (true, "tokenizer.json") => Ok(TOKENIZER.as_bytes().to_vec()),
        (true, "model.safetensors") => Ok(tables()),
        _ => Err(StatusCode::NOT_FOUND),
    }
}

/// A hub of one model, [`NAME`]; it ends with the runtime.
pub(crate) fn hub() -> (Runtime, String) {
    let runtime = Runtime::new().unwrap();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let routes = Router::new().route("/{owner}/{name}/resolve/main/{file}", get(file));
    runtime.spawn(async { axum::serve(listener, routes).await });
    (runtime, url)
}

/// Runs `keepsake model download` against a hub that lives no longer than this.
fn download(folder: &std::path::Path, name: &str) -> std::process::Output {
    let (_runtime, hub) = hub();
    Command::new(env!("CARGO_BIN_EXE_keepsake"))
        .args(["model", "download", name, "--data-dir"])
        .arg(folder)
        .env("HF_ENDPOINT", hub)
        .env("HOME", "/nonexistent")
        .output()
        .unwrap()
}

#[test]
fn a_model_is_fetched_once_and_used_without_the_hub() {
    let folder = tempfile::tempdir().unwrap();
    let output = download(folder.path(), NAME);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(told.contains("2 dimensions"), "{told}");
    let server = TestServer::start_in(folder, |settings| {
        settings.embedder = Choice::Model2Vec(NAME.to_owned());
    });
    server.add_all(&["the car is in the garage", "tomato"]);
    let found = server.search(json!({"query": "automobile", "mode": "vector"}));
    assert_eq!(found["results"][0]["content"], "the car is in the garage");
}

#[test]
fn what_the_hub_does_not_have_is_an_error_and_leaves_no_model() {
    let folder = tempfile::tempdir().unwrap();
    let output = download(folder.path(), "someone/else");
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("has no `config.json` of `someone/else`"),
        "{told}"
    );
    assert!(
        !folder
            .path()
            .join("models/someone/else/config.json")
            .exists()
    );
}
