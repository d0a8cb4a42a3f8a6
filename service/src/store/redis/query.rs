//! From a scope and filters to the engine's query language. Pure: tested without a server.
//!
//! Every value is a token of letters, digits and `_` (see `tokens`), so nothing needs escaping and no
//! text can be a syntax error.

use chrono::{DateTime, Utc};

use super::tokens::{facet, tag_token, tags_facet, visible_facets};
use crate::query::{Filters, TagRule};
use crate::scope::Scope;

/// The two sides of a plan's filters, as beginnings of queries that the terms follow.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sides {
    /// What the scope sees and the filters let through.
    pub admitted: String,
    /// The same among all memories of the namespace, as a whole query.
    pub anything: String,
    /// What the scope sees and the filters or its state keep back.
    pub refused: String,
}

fn of_namespace(scope: &Scope) -> String {
    format!("@facets:{{{}}}", facet('n', Some(&scope.namespace)))
}

/// The sides of these filters. Where terms are looked for, the namespace is no filter: its terms are
/// its own.
pub(super) fn sides(scope: &Scope, filters: &Filters, now: DateTime<Utc>) -> Sides {
    let visible = visible_facets(scope)
        .map(|facets| format!("@facets:{{{facets}}} "))
        .unwrap_or_default();
    let (keep, out) = conditions(filters, now);
    let mut admitted = visible.clone();
    for condition in &keep {
        admitted.push_str(condition);
        admitted.push(' ');
    }
    for condition in &out {
        admitted.push_str(&format!("-{condition} "));
    }
    let kept_back: Vec<String> = keep
        .iter()
        .map(|condition| format!("-{condition}"))
        .chain(out)
        .collect();
    Sides {
        refused: format!("{visible}({}) ", kept_back.join("|")),
        anything: format!("{} {admitted}", of_namespace(scope)),
        admitted,
    }
}

/// Conditions that must hold, and conditions that must not.
fn conditions(filters: &Filters, now: DateTime<Utc>) -> (Vec<String>, Vec<String>) {
    let mut keep = Vec::new();
    let tags: Vec<String> = filters.tags.iter().map(|tag| tag_token(tag)).collect();
    if filters.all_tags {
        keep.extend(tags.iter().map(|tag| format!("@ktags:{{{tag}}}")));
    } else if !tags.is_empty() {
        keep.push(format!("@ktags:{{{}}}", tags.join("|")));
    }
    if let Some(rule) = &filters.tag_rule {
        keep.push(rule_of_tags(rule));
    }
    for (kind, value) in [
        ('c', &filters.category),
        ('s', &filters.source),
        ('t', &filters.session),
    ] {
        if let Some(value) = value {
            keep.push(format!("@facets:{{{}}}", facet(kind, Some(value))));
        }
    }
    let millis = |time: DateTime<Utc>| time.timestamp_millis();
    if let Some(after) = filters.created_after {
        keep.push(format!("@created_ts:[{} +inf]", millis(after)));
    }
    if let Some(before) = filters.created_before {
        keep.push(format!("@created_ts:[-inf ({}]", millis(before)));
    }
    if let Some(as_of) = filters.as_of {
        keep.push(format!("@created_ts:[-inf {}]", millis(as_of)));
    }
    let mut out = vec!["@hidden:{gone}".to_owned()];
    if !filters.include_expired {
        out[0] = "@hidden:{gone|replaced}".to_owned();
        let end = millis(filters.as_of.unwrap_or(now));
        out.push(format!("@invalid_ts:[-inf {end}]"));
    }
    (keep, out)
}

/// No memory has this token, and each lacks it.
const NOTHING: &str = "@ktags:{nothing}";

/// The condition that a rule of tags comes to.
fn rule_of_tags(rule: &TagRule) -> String {
    let tokens =
        |tags: &[String]| -> Vec<String> { tags.iter().map(|tag| tag_token(tag)).collect() };
    let each = |rules: &[TagRule]| -> Vec<String> { rules.iter().map(rule_of_tags).collect() };
    let all = |conditions: Vec<String>| match conditions.is_empty() {
        true => format!("(-{NOTHING})"),
        false => format!("({})", conditions.join(" ")),
    };
    match rule {
        TagRule::Any(tags) if tags.is_empty() => NOTHING.to_owned(),
        TagRule::Any(tags) => format!("@ktags:{{{}}}", tokens(tags).join("|")),
        TagRule::All(tags) => {
            let has = tokens(tags).into_iter();
            all(has.map(|token| format!("@ktags:{{{token}}}")).collect())
        }
        TagRule::Exactly(tags) => format!("@facets:{{{}}}", tags_facet(tags)),
        TagRule::And(rules) => all(each(rules)),
        TagRule::Or(rules) if rules.is_empty() => NOTHING.to_owned(),
        TagRule::Or(rules) => format!("({})", each(rules).join("|")),
        TagRule::Not(rule) => format!("(-{})", rule_of_tags(rule)),
    }
}

/// Queries that count what a scope sees outside the trash: all, expired, consumed, superseded,
/// corrected.
pub(super) fn states(scope: &Scope, now: DateTime<Utc>) -> [String; 5] {
    let visible = visible_facets(scope)
        .map(|facets| format!("@facets:{{{facets}}}"))
        .unwrap_or_default();
    let all = format!("{} {visible}", of_namespace(scope));
    let ended = format!("@invalid_ts:[-inf {}]", now.timestamp_millis());
    [
        all.clone(),
        format!("{all} {ended} -@hidden:{{gone|superseded}}"),
        format!("{all} @hidden:{{consumed}} -@hidden:{{corrected}}"),
        format!("{all} @hidden:{{superseded}} (@hidden:{{replaced}}|{ended}) -@hidden:{{gone}}"),
        format!("{all} @hidden:{{corrected}}"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_back_is_the_opposite_of_what_is_admitted() {
        let filters = Filters {
            tags: vec!["a,b".to_owned()],
            include_expired: true,
            ..Filters::default()
        };
        let sides = sides(&Scope::owner(), &filters, DateTime::UNIX_EPOCH);
        assert_eq!(sides.admitted, "@ktags:{ga_2cb} -@hidden:{gone} ");
        assert_eq!(sides.refused, "(-@ktags:{ga_2cb}|@hidden:{gone}) ");
    }

    #[test]
    fn no_text_reaches_the_query_language() {
        let nasty = "}) | @x:{* \"'\\-=>{$weight:9}".to_owned();
        let scope = Scope {
            namespace: nasty.clone(),
            agent: Some(nasty.clone()),
            primary: false,
        };
        let filters = Filters {
            tags: vec![nasty.clone()],
            category: Some(nasty.clone()),
            source: Some(nasty.clone()),
            session: Some(nasty),
            ..Filters::default()
        };
        let sides = sides(&scope, &filters, DateTime::UNIX_EPOCH);
        for query in states(&scope, DateTime::UNIX_EPOCH)
            .iter()
            .chain([&sides.admitted])
        {
            assert!(
                !query.contains("weight:9") && !query.contains('*'),
                "{query}"
            );
        }
    }
}
