//! Feelings and topics as they are read from a text.

use serde_json::{Value, json};

use crate::answers::{column, folded, number};
use crate::support::TestServer;

#[test]
fn a_topic_is_counted_once_whatever_its_capitals() {
    let server = TestServer::start();
    server.add_all(&[
        "Caroline visited place 1",
        "Caroline visited place 2",
        "caroline visited place 3",
    ]);

    let topics = server.get("/v1/topics?is_primary=true&limit=100").body;

    let names = folded(&column(&topics["topics"], "topic"));
    assert_eq!(
        names.iter().filter(|name| *name == "caroline").count(),
        1,
        "{names:?}"
    );
    assert!(
        names.iter().all(|name| name.parse::<f64>().is_err()),
        "numbers are no topics: {names:?}"
    );
}

#[test]
fn words_that_merely_contain_feelings_are_neutral() {
    let server = TestServer::start();
    for content in [
        "I know this piano",
        "Nothing notable",
        "灿烂的阳光",
        "我的老师去超市",
        "特斯拉老板差不多到了",
    ] {
        let emotion = emotion_of(&server, content);
        assert!(
            number(&emotion["intensity"]).abs() < 1e-9,
            "{content}: {emotion}"
        );
        assert!(
            number(&emotion["polarity"]).abs() < 1e-9,
            "{content}: {emotion}"
        );
        assert_eq!(emotion["label"], "neutral", "{content}");
    }
}

#[test]
fn negation_turns_a_feeling_round() {
    let server = TestServer::start();
    for (content, sign) in [
        ("The soup was good", 1.0),
        ("The soup was not good", -1.0),
        ("我喜欢这家餐厅", 1.0),
        ("我不喜欢这家餐厅", -1.0),
        ("这家餐厅不错", 1.0),
    ] {
        let emotion = emotion_of(&server, content);
        assert!(
            number(&emotion["polarity"]) * sign > 0.0,
            "{content}: {emotion}"
        );
    }
}

fn emotion_of(server: &TestServer, content: &str) -> Value {
    let answer = server.post(
        "/v1/memories",
        json!({"content": content, "is_primary": true}),
    );
    assert_eq!(answer.status, 201, "{:#}", answer.body);
    answer.body["emotion"].clone()
}
