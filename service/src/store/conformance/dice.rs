//! Random memories, edits and queries, each run the same.

use std::collections::HashSet;

use super::samples::{agent, analysed, day, elsewhere, plan_of, said, told};
use crate::analysis::{entity_term, tag_term};
use crate::memory::NewMemory;
use crate::query::{Filters, Plan, QueryTerm, TagRule, VectorQuery, Via};
use crate::scope::Scope;
use crate::vector::{ModelId, NewVector};

const WORDS: [&str; 40] = [
    "server",
    "port",
    "deploy",
    "cable",
    "harbour",
    "project",
    "budget",
    "meeting",
    "Alice",
    "Bob",
    "garden",
    "music",
    "train",
    "ticket",
    "report",
    "invoice",
    "coffee",
    "kernel",
    "node.js",
    "C++",
    "数据库",
    "会议",
    "北京",
    "音乐",
    "项目",
    "预算",
    "上海",
    "火车票",
    "花园",
    "咖啡",
    "lighthouse",
    "database",
    "weather",
    "doctor",
    "school",
    "football",
    "painting",
    "river",
    "mountain",
    "🎉",
];
pub(crate) const TAGS: [&str; 4] = ["work", "home", "Tag with Case", "标签"];
const CATEGORIES: [&str; 3] = ["fact", "preference", "事实"];

pub(crate) fn model() -> ModelId {
    ModelId::new("of its text", 3)
}

/// What the model makes of a content: one of few directions, so that many are equally near, and of some
/// nothing.
pub(crate) fn values(content: &str) -> Vec<f32> {
    let mut rng = fastrand::Rng::with_seed(content.bytes().map(u64::from).sum());
    match rng.u8(..4) {
        0 => Vec::new(),
        _ => (0..3).map(|_| f32::from(rng.i8(-1..2))).collect(),
    }
}

pub(crate) fn vector(content: &str) -> Option<NewVector> {
    Some(NewVector {
        model: model(),
        values: values(content),
    })
}

/// Random memories, edits and queries from one seed.
pub(crate) struct Dice(pub fastrand::Rng);

impl Dice {
    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.0.usize(..of.len())]
    }

    /// Rare and everyday words: the first ones come often.
    pub(crate) fn text(&mut self) -> String {
        let length = self.0.usize(2..14);
        let word = |dice: &mut Dice| {
            let most = dice.0.usize(1..=WORDS.len());
            WORDS[dice.0.usize(..most)]
        };
        (0..length)
            .map(|_| word(self))
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub(crate) fn maybe<T>(&mut self, value: impl FnOnce(&mut Dice) -> T) -> Option<T> {
        self.0.bool().then(|| value(self))
    }

    pub(crate) fn memory(&mut self) -> NewMemory {
        let text = self.text();
        let mut memory = if self.0.u8(..3) == 0 {
            let session = format!("session {}", self.0.u8(..40));
            said(&session, self.0.i64(0..60), &text)
        } else {
            told(&text)
        };
        // Days, so that many memories are of the same time and tie.
        memory.created_at = day(self.0.i64(-30..1));
        memory.vector = vector(&text);
        memory.details.shared = self.0.u8(..5) == 0;
        memory.details.category = self.maybe(|dice| dice.one(&CATEGORIES).to_owned());
        memory.details.source = self.maybe(|dice| dice.one(&["chat", "mail"]).to_owned());
        memory.details.invalid_at = (self.0.u8(..6) == 0).then(|| day(self.0.i64(-5..5)));
        let tags: HashSet<&str> = (0..self.0.usize(..3)).map(|_| self.one(&TAGS)).collect();
        memory.details.tags = tags.into_iter().map(str::to_owned).collect();
        memory
    }

    pub(crate) fn scope(&mut self) -> Scope {
        match self.0.u8(..6) {
            0..=2 => Scope::owner(),
            3 => agent("alpha"),
            4 => agent("beta"),
            _ => elsewhere(),
        }
    }

    pub(crate) fn filters(&mut self) -> Filters {
        let some_day = |dice: &mut Dice| day(dice.0.i64(-30..2));
        Filters {
            tags: (0..self.0.usize(..3).saturating_sub(self.0.usize(..2)))
                .map(|_| self.one(&TAGS).to_owned())
                .collect(),
            all_tags: self.0.bool(),
            tag_rule: self.maybe(|dice| dice.tag_rule(2)),
            category: self.maybe(|dice| dice.one(&["fact", "事实", "absent"]).to_owned()),
            source: self.maybe(|dice| dice.one(&["chat", "mail"]).to_owned()),
            session: (self.0.u8(..8) == 0).then(|| format!("session {}", self.0.u8(..45))),
            created_after: self.maybe(some_day),
            created_before: self.maybe(some_day),
            as_of: self.maybe(some_day),
            include_expired: self.0.bool(),
        }
    }

    fn tag_rule(&mut self, depth: u8) -> TagRule {
        let tags = (0..self.0.usize(..3))
            .map(|_| self.one(&TAGS).to_owned())
            .collect();
        match self.0.u8(..if depth > 0 { 6 } else { 3 }) {
            0 => TagRule::Any(tags),
            1 => TagRule::All(tags),
            2 => TagRule::Exactly(tags),
            3 => TagRule::And(vec![self.tag_rule(depth - 1), self.tag_rule(depth - 1)]),
            4 => TagRule::Or(vec![self.tag_rule(depth - 1), self.tag_rule(depth - 1)]),
            _ => TagRule::Not(Box::new(self.tag_rule(depth - 1))),
        }
    }

    pub(crate) fn plan(&mut self) -> Plan {
        let words = self.text();
        let analysis = analysed(&words);
        let mut plan = plan_of(analysis.terms.iter().map(|(term, _)| term));
        for term in &mut plan.terms {
            term.weight = f64::from(self.0.u8(1..20)) / 10.0;
            term.via = if self.0.bool() {
                Via::Own
            } else {
                Via::Synonym
            };
        }
        let beside = [tag_term(self.one(&TAGS)), entity_term("Alice")];
        let known: HashSet<_> = plan.terms.iter().map(|term| term.term.clone()).collect();
        plan.terms.extend(
            beside
                .into_iter()
                .filter(|term| !known.contains(term))
                .map(|term| QueryTerm {
                    detail: term.to_string(),
                    term,
                    weight: 0.1,
                    via: Via::Tag,
                    by_length: false,
                }),
        );
        // Half of the questions without any filter, half with any of them.
        plan.filters = self.maybe(Dice::filters).unwrap_or_default();
        plan.vector = self.maybe(|dice| VectorQuery {
            model: model(),
            values: [dice.0.f32(), dice.0.f32() - 0.5, -0.1].into(),
        });
        plan.pool = [1, 5, 20, 100][self.0.usize(..4)];
        plan.neighbours = self.0.bool();
        plan
    }
}
