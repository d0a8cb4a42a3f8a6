//! `keepsake eval` on a small set of our own.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

const MEMORIES: [(&str, &str); 3] = [
    ("m1", "Oskar keeps the sauna key under the blue flowerpot"),
    ("m2", "The lighthouse opens for visitors in April"),
    ("m3", "小明把护照放在蓝色文件夹里"),
];

fn write_set(folder: &Path) {
    let dev = folder.join("small/dev");
    std::fs::create_dir_all(&dev).unwrap();
    let lines = |values: Vec<Value>| {
        values
            .iter()
            .map(|value| format!("{value}\n"))
            .collect::<String>()
    };
    let memory = |(id, content): &(&str, &str)| json!({"id": id, "content": content, "created": "2026-05-02"});
    let query = |id: &str, text: &str, relevant: &str| json!({"id": id, "text": text, "relevant": [relevant]});
    let queries = vec![
        query("q1", "where is the sauna key?", "m1"),
        query("q2", "小明的护照在哪里？", "m3"),
        query("q3", "when does the lighthouse open?", "m1"),
    ];
    std::fs::write(
        dev.join("memories.jsonl"),
        lines(MEMORIES.iter().map(memory).collect()),
    )
    .unwrap();
    std::fs::write(dev.join("queries.jsonl"), lines(queries)).unwrap();
}

fn eval(folder: &Path, more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_keepsake"))
        .args(["eval", folder.to_str().unwrap(), "--json"])
        .args(more)
        .env("HOME", folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_set_is_measured_written_as_a_run_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    write_set(folder.path());
    let runs = folder.path().join("runs");

    let table = eval(
        folder.path(),
        &[
            "--mode",
            "lexical",
            "--ablate",
            "--runs",
            runs.to_str().unwrap(),
        ],
    );

    // Two questions find their memory first; the third is labelled with one that does not match.
    let row = &table["sets"][0];
    assert_eq!((&row["set"], &row["queries"]), (&json!("small"), &json!(3)));
    for metric in ["R@1", "R@10", "MRR@10", "nDCG@10"] {
        assert!(
            (row[metric].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9,
            "{row:#}"
        );
    }
    assert!(table["without"][0]["stems"].is_number(), "{table:#}");
    let run = std::fs::read_to_string(runs.join("lexical/small.jsonl")).unwrap();
    let runs = runs.join("lexical");
    let first: Value = serde_json::from_str(run.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["qid"], &first["ids"][0]),
        (&json!("q1"), &json!("m1"))
    );

    let same = eval(
        folder.path(),
        &["--compare", runs.to_str().unwrap(), runs.to_str().unwrap()],
    );
    assert_eq!(same["sets"][0]["equal"], 3);
}
