//! What a store keeps besides memories: counters and synonyms, one row each, for export and import.

use chrono::NaiveDate;

use super::Synonyms;

/// One row. A namespace's own agent is `None` where nobody is named.
#[derive(Debug, Clone, PartialEq)]
pub enum Counter {
    /// How often a topic was told on the day that the telling is about, and the attention it gained.
    Topic {
        namespace: String,
        agent: Option<String>,
        day: NaiveDate,
        topic: String,
        mentions: f64,
        attention: f64,
    },
    /// In how many memories `other` occurs beside `entity`, both folded; `name` is how `other` is shown.
    Pair {
        namespace: String,
        agent: Option<String>,
        entity: String,
        other: String,
        name: String,
        memories: u64,
    },
    Synonyms {
        namespace: String,
        synonyms: Synonyms,
    },
}

impl Counter {
    pub fn namespace(&self) -> &str {
        match self {
            Counter::Topic { namespace, .. }
            | Counter::Pair { namespace, .. }
            | Counter::Synonyms { namespace, .. } => namespace,
        }
    }

    /// Whose counter it is; `Some(None)` is nobody's, `None` belongs to the whole namespace.
    pub fn agent(&self) -> Option<Option<&str>> {
        match self {
            Counter::Topic { agent, .. } | Counter::Pair { agent, .. } => Some(agent.as_deref()),
            Counter::Synonyms { .. } => None,
        }
    }
}
