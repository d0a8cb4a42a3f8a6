//! Conversations that come as JSON in a text: their messages, each for itself.
//!
//! Agents hand over `[[{"role", "content", "timestamp"}, …], …]`, a flat list, `{"messages": […]}`, or
//! one message a line. Stored as it is, every memory would be full of brackets.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::clock::parse_time;

/// What one side said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks, in front of what is said, unless the text says so itself.
    pub text: String,
    pub said_at: Option<DateTime<Utc>>,
}

/// The messages of a text that is a conversation, without blank ones; `None` for any other text.
pub fn messages(text: &str) -> Option<Vec<Message>> {
    let text = text.trim();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    let mut messages = Vec::new();
    match serde_json::from_str(text) {
        Ok(Value::Array(items)) if !items.is_empty() => collect(&items, &mut messages)?,
        Ok(Value::Object(object)) => match object.get("messages") {
            Some(Value::Array(items)) => collect(items, &mut messages)?,
            Some(_) => return None,
            None => messages.push(message(&Value::Object(object))?),
        },
        Ok(_) => return None,
        Err(_) => {
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                messages.push(message(&serde_json::from_str(line).ok()?)?);
            }
        }
    }
    messages.retain(|message| !message.text.trim().is_empty());
    Some(messages)
}

/// Adds messages, and those of turns that hold several.
fn collect(items: &[Value], messages: &mut Vec<Message>) -> Option<()> {
    for item in items {
        match item {
            Value::Array(turn) => {
                for item in turn {
                    messages.push(message(item)?);
                }
            }
            item => messages.push(message(item)?),
        }
    }
    Some(())
}

fn message(item: &Value) -> Option<Message> {
    let text = |name: &str| item[name].as_str().filter(|text| !text.trim().is_empty());
    let role = text("role")?;
    let said = match &item["content"] {
        Value::String(said) => said.clone(),
        // Blocks: what is not text, such as a call of a tool, says nothing that is worth keeping.
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        _ => return None,
    };
    let speaker = text("name").unwrap_or(role);
    let text_with_speaker = if said.trim().is_empty() || names_its_speaker(&said) {
        said
    } else {
        format!("{}: {said}", capitalised(speaker))
    };
    Some(Message {
        text: text_with_speaker,
        said_at: text("timestamp").and_then(parse_time),
    })
}

/// Whether a text begins with one short word and a colon.
fn names_its_speaker(said: &str) -> bool {
    /// Longest name, in characters.
    const LONGEST: usize = 32;
    let Some((name, _)) = said.split_once(": ") else {
        return false;
    };
    !name.is_empty()
        && name.chars().count() <= LONGEST
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_-.@".contains(c))
}

fn capitalised(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts(text: &str) -> Option<Vec<String>> {
        messages(text).map(|messages| messages.into_iter().map(|message| message.text).collect())
    }

    #[test]
    fn every_form_of_a_conversation_gives_its_messages() {
        let (ask, answer) = (
            json!({"role": "user", "content": "Tea?", "timestamp": "2026-05-01T08:00:00+02:00"}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "Yes."}, {"type": "tool_use", "name": "x"}]}),
        );
        let expected = Some(vec!["User: Tea?".to_owned(), "Assistant: Yes.".to_owned()]);
        for form in [
            json!([[ask, answer]]).to_string(),
            json!([[ask], [answer]]).to_string(),
            json!([ask, answer]).to_string(),
            json!({"messages": [ask, answer]}).to_string(),
            format!("{ask}\n\n{answer}\n"),
        ] {
            assert_eq!(texts(&form), expected, "{form}");
        }
        let said_at = messages(&json!([ask]).to_string()).unwrap()[0].said_at;
        assert_eq!(said_at, "2026-05-01T06:00:00Z".parse().ok());
    }

    #[test]
    fn who_speaks_is_said_once() {
        for (message, text) in [
            (
                json!({"role": "user", "content": "User: hello"}),
                "User: hello",
            ),
            (
                json!({"role": "user", "name": "ann", "content": "hello"}),
                "Ann: hello",
            ),
            (
                json!({"role": "user", "content": "so it is: yes"}),
                "User: so it is: yes",
            ),
            (
                json!({"role": "user", "content": "https://x.y"}),
                "User: https://x.y",
            ),
            (json!({"role": "用户", "content": "喝茶"}), "用户: 喝茶"),
        ] {
            assert_eq!(
                texts(&json!([message]).to_string()),
                Some(vec![text.to_owned()])
            );
        }
    }

    #[test]
    fn any_other_text_is_no_conversation() {
        for text in [
            "",
            "[]",
            "[1, 2]",
            "[TODO] call Ann",
            "{\"a\": 1}",
            "[{\"role\": \"user\"}, \"x\"]",
            "{\"role\": \"user\", \"content\": 3}",
            "{\"role\": \"user\", \"content\": \"x\"}\nand more",
            "{\"messages\": 3}",
        ] {
            assert_eq!(texts(text), None, "{text}");
        }
        assert_eq!(
            texts("[[{\"role\": \"user\", \"content\": \" \"}]]"),
            Some(vec![])
        );
    }
}
