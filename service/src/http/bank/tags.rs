//! Tags of requests, and the conditions on them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::super::problem::Problem;
use super::extract::Query;
use crate::query::TagRule;

/// Deepest nesting of groups.
const DEEPEST: usize = 16;

/// Tags as clients write them: a list, a list as JSON in a text, or one tag.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(from = "Value")]
pub(super) struct Tags(pub Vec<String>);

impl From<Value> for Tags {
    fn from(value: Value) -> Tags {
        let plain = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        let tags: Vec<String> = match value {
            Value::Array(tags) => tags.into_iter().map(plain).collect(),
            Value::String(text) => match serde_json::from_str(&text) {
                Ok(Value::Array(tags)) => tags.into_iter().map(plain).collect(),
                _ => vec![text],
            },
            other => vec![plain(other)],
        };
        let mut unique = Vec::with_capacity(tags.len());
        for tag in tags {
            let tag = tag.trim().to_owned();
            if !tag.is_empty() && !unique.contains(&tag) {
                unique.push(tag);
            }
        }
        Tags(unique)
    }
}

/// How the tags of a memory are compared with those of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[schemars(rename = "TagsMatch")]
#[serde(rename_all = "snake_case")]
pub(super) enum Match {
    #[default]
    Any,
    All,
    AnyStrict,
    AllStrict,
    Exact,
}

impl Match {
    /// The rule for these tags, or `None` if every memory passes.
    pub(super) fn rule(self, tags: Vec<String>) -> Option<TagRule> {
        if tags.is_empty() {
            return (self == Match::Exact).then(TagRule::untagged);
        }
        let or_untagged = |rule| TagRule::Or(vec![rule, TagRule::untagged()]);
        Some(match self {
            Match::Any => or_untagged(TagRule::Any(tags)),
            Match::All => or_untagged(TagRule::All(tags)),
            Match::AnyStrict => TagRule::Any(tags),
            Match::AllStrict => TagRule::All(tags),
            Match::Exact => TagRule::Exactly(tags),
        })
    }
}

/// Conditions joined by words.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(rename = "TagGroup")]
#[serde(untagged)]
pub(super) enum Group {
    And {
        and: Vec<Group>,
    },
    Or {
        or: Vec<Group>,
    },
    Not {
        not: Box<Group>,
    },
    Leaf {
        tags: Tags,
        #[serde(default = "any_strict", rename = "match")]
        how: Match,
    },
}

fn any_strict() -> Match {
    Match::AnyStrict
}

impl Group {
    fn rule(self) -> TagRule {
        let rules = |groups: Vec<Group>| groups.into_iter().map(Group::rule).collect();
        match self {
            Group::And { and } => TagRule::And(rules(and)),
            Group::Or { or } => TagRule::Or(rules(or)),
            Group::Not { not } => TagRule::Not(Box::new(not.rule())),
            // Without tags every memory passes.
            Group::Leaf { tags, how } => how.rule(tags.0).unwrap_or(TagRule::And(Vec::new())),
        }
    }
}

/// The fields of a request that say which tags a memory must have.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(rename = "TagsWanted")]
pub(super) struct Wanted {
    #[serde(default)]
    pub tags: Tags,
    #[serde(default)]
    pub tags_match: Match,
    /// Read by [`groups`]: a wrong one is told apart from a wrong field beside it.
    tag_groups: Option<Value>,
}

impl Wanted {
    pub(super) fn rule(self) -> Result<Option<TagRule>, Problem> {
        let Some(given) = self.tag_groups else {
            return Ok(self.tags_match.rule(self.tags.0));
        };
        if !self.tags.0.is_empty() {
            return Err(Problem::invalid_field(
                "tag_groups",
                "cannot be given with `tags`",
            ));
        }
        let rules = groups(given)?.into_iter().map(Group::rule);
        Ok(Some(TagRule::And(rules.collect())))
    }

    /// The same in a query string.
    pub(super) fn of(query: &Query) -> Result<Wanted, Problem> {
        let how = query.text("tags_match").unwrap_or("any");
        let how = serde_json::from_value(Value::from(how)).map_err(|_| {
            let known = "any, all, any_strict, all_strict, exact";
            Problem::invalid_field("tags_match", format!("must be one of {known}"))
        })?;
        Ok(Wanted {
            tags: Tags::from(Value::from(query.all("tags"))),
            tags_match: how,
            tag_groups: None,
        })
    }
}

fn groups(given: Value) -> Result<Vec<Group>, Problem> {
    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
            Value::Object(fields) => fields.values().map(depth).max().unwrap_or(0) + 1,
            _ => 0,
        }
    }
    if depth(&given) > 2 * DEEPEST {
        let message = format!("is nested deeper than {DEEPEST} groups");
        return Err(Problem::invalid_field("tag_groups", message));
    }
    serde_json::from_value(given).map_err(|_| {
        let message = "must be a list of {tags, match}, {and: […]}, {or: […]} or {not: …}";
        Problem::invalid_field("tag_groups", message)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn strings(tags: &[&str]) -> Vec<String> {
        tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    /// Which of untagged, subset, equal, superset, disjoint, other case pass.
    fn passing(rule: &Option<TagRule>) -> [bool; 6] {
        let memories = [
            &[][..],
            &["a"],
            &["b", "a"],
            &["a", "b", "c"],
            &["z"],
            &["A", "B"],
        ];
        memories.map(|tags| rule.as_ref().is_none_or(|rule| rule.admits(&strings(tags))))
    }

    #[test]
    fn five_ways_to_match() {
        for (how, expected) in [
            (Match::Any, [true, true, true, true, false, false]),
            (Match::All, [true, false, true, true, false, false]),
            (Match::AnyStrict, [false, true, true, true, false, false]),
            (Match::AllStrict, [false, false, true, true, false, false]),
            (Match::Exact, [false, false, true, false, false, false]),
        ] {
            assert_eq!(
                passing(&how.rule(strings(&["a", "b"]))),
                expected,
                "{how:?}"
            );
        }
    }

    #[test]
    fn no_tags_are_no_condition_but_for_an_exact_match() {
        for how in [Match::Any, Match::All, Match::AnyStrict, Match::AllStrict] {
            assert_eq!(how.rule(Vec::new()), None, "{how:?}");
        }
        let exact = Match::Exact.rule(Vec::new());
        assert_eq!(passing(&exact), [true, false, false, false, false, false]);
    }

    #[test]
    fn groups_are_joined_by_words() {
        let wanted = json!({"tag_groups": [
            {"tags": ["a"]},
            {"or": [{"tags": ["b"], "match": "all_strict"}, {"not": {"tags": ["c"]}}]},
        ]});
        let wanted: Wanted = serde_json::from_value(wanted).unwrap();
        let rule = wanted.rule().unwrap_or_default();
        assert_eq!(passing(&rule), [false, true, true, true, false, false]);
    }

    #[test]
    fn wrong_groups_are_refused() {
        let mut deep = json!({"tags": ["a"]});
        for _ in 0..50 {
            deep = json!({"not": deep});
        }
        for wanted in [
            json!({"tags": ["a"], "tag_groups": [{"tags": ["b"]}]}),
            json!({"tag_groups": [{"nor": []}]}),
            json!({"tag_groups": 3}),
            json!({"tag_groups": [deep]}),
        ] {
            let wanted: Wanted = serde_json::from_value(wanted.clone()).unwrap();
            assert!(wanted.clone().rule().is_err(), "{wanted:?}");
        }
    }

    #[test]
    fn tags_come_in_three_forms() {
        for (given, tags) in [
            (json!(["a", "b", "a", " "]), &["a", "b"][..]),
            (json!("[\"a\", \"b\"]"), &["a", "b"]),
            (json!("a, b"), &["a, b"]),
            (json!(""), &[]),
        ] {
            assert_eq!(Tags::from(given).0, tags);
        }
    }
}
