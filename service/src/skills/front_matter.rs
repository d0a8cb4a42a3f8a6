//! The YAML at the head of a SKILL.md, of which name, description and tags count. People write it by
//! hand, so what is no YAML is read line by line, as hosts do.

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Longest name and description that are kept, in characters.
const MAX_NAME_CHARS: usize = 256;
const MAX_DESCRIPTION_CHARS: usize = 8_192;
/// Most tags, and the longest.
const MAX_TAGS: usize = 64;
const MAX_TAG_CHARS: usize = 128;

/// What a front matter says of its skill.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FrontMatter {
    pub name: Option<String>,
    /// Empty if there is none.
    pub description: String,
    pub tags: Vec<String>,
}

/// Reads a front matter, with or without its lines of dashes.
///
/// # Errors
/// Why it says nothing.
pub fn read(text: &str) -> Result<FrontMatter, String> {
    let text = inner(text);
    let fields = fields(text).unwrap_or_else(|| lines(text));
    let first = |name: &str, most| {
        let value = fields.iter().find(|(path, _)| path == name);
        value.map_or_else(String::new, |(_, value)| on_one_line(value, most))
    };
    let name = Some(first("name", MAX_NAME_CHARS)).filter(|name| !name.is_empty());
    let description = first("description", MAX_DESCRIPTION_CHARS);
    if name.is_none() && description.is_empty() {
        return Err("the front matter has neither `name` nor `description`".to_owned());
    }
    Ok(FrontMatter {
        name,
        description,
        tags: tags(&fields),
    })
}

/// A value with the names that lead to it, joined by dots; the items of a list are values of its name.
type Field = (String, String);

/// The text between two lines of dashes, or the whole.
fn inner(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}').trim();
    let Some(rest) = text.strip_prefix("---") else {
        return text;
    };
    rest.split_once("\n---").map_or(rest, |(inner, _)| inner)
}

/// What a list or a mapping is in the middle of.
enum Within {
    /// With the name whose value comes next.
    Mapping(Option<String>),
    Sequence,
}

/// The fields of a mapping; nothing if the text is none. Aliases are read over, so that they cannot
/// multiply.
fn fields(text: &str) -> Option<Vec<Field>> {
    let mut within: Vec<Within> = Vec::new();
    let mut fields = Vec::new();
    for event in Parser::new_from_str(text) {
        let value = match event.ok()?.0 {
            Event::MappingStart(..) => {
                within.push(Within::Mapping(None));
                continue;
            }
            Event::SequenceStart(..) if within.is_empty() => return None,
            Event::SequenceStart(..) => {
                within.push(Within::Sequence);
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => {
                within.pop();
                None
            }
            Event::Scalar(text, style, ..) => {
                let is_null = style == ScalarStyle::Plain && matches!(&*text, "~" | "null");
                (!is_null).then(|| text.into_owned())
            }
            Event::Alias(_) => None,
            Event::DocumentEnd => break,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) => {
                continue;
            }
        };
        if let Some(Within::Mapping(name @ None)) = within.last_mut() {
            *name = Some(value.unwrap_or_default());
            continue;
        }
        if let Some(value) = value.filter(|_| !within.is_empty()) {
            fields.push((path(&within), value));
        }
        if let Some(Within::Mapping(name)) = within.last_mut() {
            *name = None;
        }
    }
    (!fields.is_empty()).then_some(fields)
}

fn path(within: &[Within]) -> String {
    let names = within.iter().filter_map(|within| match within {
        Within::Mapping(name) => name.as_deref(),
        Within::Sequence => None,
    });
    names.collect::<Vec<_>>().join(".")
}

/// Lines `name: value`, for what is no YAML.
fn lines(text: &str) -> Vec<Field> {
    let split = text.lines().filter_map(|line| line.split_once(':'));
    let plain = |value: &str| value.trim().trim_matches(['"', '\'']).to_owned();
    split
        .map(|(name, value)| (name.to_owned(), plain(value)))
        .collect()
}

/// Tags of a list, or separated by commas.
fn tags(fields: &[Field]) -> Vec<String> {
    let mut tags = Vec::new();
    let places = ["tags", "metadata.tags", "metadata.hermes.tags"];
    let given = fields
        .iter()
        .filter(|(path, _)| places.contains(&path.as_str()));
    for tag in given.flat_map(|(_, value)| value.split(',')) {
        let tag = on_one_line(tag.trim_matches(['[', ']']), MAX_TAG_CHARS);
        if !tag.is_empty() && tags.len() < MAX_TAGS && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

/// A text without line breaks, at most so long.
fn on_one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, name: &str, description: &str, tags: &[&str]) {
        let read = read(text).unwrap();
        assert_eq!(read.name.as_deref(), Some(name), "{text}");
        assert_eq!(read.description, description, "{text}");
        assert_eq!(read.tags, tags, "{text}");
    }

    #[test]
    fn every_way_of_writing_it_is_read() {
        check(
            "name: k8s\ndescription: Debug pods",
            "k8s",
            "Debug pods",
            &[],
        );
        check(
            "---\nname: k8s\ndescription: \"a: b\"\n---\nBody",
            "k8s",
            "a: b",
            &[],
        );
        check(
            "name: a\ndescription: >\n  Folded\n  text\nmetadata:\n  hermes:\n    tags: [X, y]",
            "a",
            "Folded text",
            &["X", "y"],
        );
        check(
            "name: 部署\ndescription: |\n  先构建\n  再部署\ntags: a, b",
            "部署",
            "先构建 再部署",
            &["a", "b"],
        );
        check("name: 7\ndescription: yes", "7", "yes", &[]);
        // No YAML, and yet what people write.
        check(
            "name: a\ndescription: Use when: x, y",
            "a",
            "Use when: x, y",
            &[],
        );
        check("name: a\ndescription: \"unclosed", "a", "unclosed", &[]);
    }

    #[test]
    fn what_says_nothing_is_refused() {
        for text in [
            "",
            "---\n---",
            "- a\n- b",
            "just text",
            "name:\ndescription: ''",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_bomb_of_aliases_is_no_danger() {
        let mut text = String::from("name: bomb\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let items = vec![format!("*a{}", level - 1); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
        }
        check(&text, "bomb", "", &[]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}") {
            if let Ok(read) = read(&text) {
                prop_assert!(read.description.chars().count() <= MAX_DESCRIPTION_CHARS);
                prop_assert!(!read.description.contains('\n'));
            }
        }

        #[test]
        fn lines_of_all_kinds_are_read_or_refused(
            lines in prop::collection::vec("(name|description|tags|metadata| )[:{\\[&*>|'\"!%-]{0,3} ?[a-z&*{\\[\"']{0,6}", 0..8)
        ) {
            drop(read(&lines.join("\n")));
        }
    }
}
