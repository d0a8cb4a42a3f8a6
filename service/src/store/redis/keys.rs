//! Every key that the store uses in Redis.
//!
//! `<ns>` is the namespace and `<agent>` the agent, both percent-encoded (nothing for no agent);
//! `fragment` is what older data calls a memory. Keys marked with P are those of the Python Keepsake.
//!
//! | key | type | what it holds |
//! | --- | --- | --- |
//! | `memory:frag:<id>` P | hash | a memory: what the search index sees |
//! | `memory:trash:<id>` | hash | a memory in the trash: no index sees it; expires |
//! | `keepsake:state:<id>` | hash | what changes often: revision, mentions, feedback, times; and its turn |
//! | `keepsake:content:<sha256>` | string | id of the memory with this content at this place |
//! | `keepsake:ids` | sorted set | every id, in the order of the alphabet |
//! | `keepsake:newest:<ns>` | sorted set | ids of a namespace, newest created first |
//! | `keepsake:trashed:<ns>` | sorted set | ids of a namespace that are in the trash |
//! | `keepsake:turn:<ns>:<session>:<turn>` | set | ids at a turn of a conversation |
//! | `keepsake:naming:<ns>:<entity>` | sorted set | ids that name an entity, newest created first |
//! | `keepsake:totals:<ns>` | hash | memories and words of a namespace, for BM25 |
//! | `keepsake:df:<ns>` | hash | for each term, how many memories hold it |
//! | `keepsake:agents:<ns>` | set | agents that have counters |
//! | `keepsake:topics:<ns>:<agent>` | hash | sums over all days: `m:`, `a:`, `d:` + topic (mentions, attention, last day) |
//! | `keepsake:topics:<ns>:<agent>:<day>` | hash | the same of one day, without `d:` |
//! | `keepsake:topic_days:<ns>:<agent>` | sorted set | the days that have counters |
//! | `keepsake:pairs:<ns>:<agent>:<entity>` | hash | `c:` + other entity: memories that name both; `n:` its spelling |
//! | `keepsake:paired:<ns>:<agent>` | sorted set | the entities that have pairs, in alphabetical order |
//! | `keepsake:namespaces` | set | namespaces that have counters or synonyms |
//! | `keepsake:records:<kind>:<ns>` | hash | texts that ways in keep beside the memories, by key |
//! | `keepsake:record_order:<kind>:<ns>` | sorted set | their keys, the newest put last |
//! | `keepsake:record_places` | set | JSON lists of a kind and a namespace that have, or had, records |
//! | `keepsake:done:<sha256>` | string | what an operation did, or the answer that a request got; expires |
//! | `keepsake:synonyms` P | hash | term → JSON list of synonyms, default namespace |
//! | `keepsake:synonyms:<ns>` | hash | the same of another namespace |
//! | `keepsake:synonyms_found:<ns>` | set | terms whose synonyms no person made |
//! | `keepsake:signals` | string | grows with every change of topics, pairs and synonyms |
//! | `keepsake:workflow_lock` P | string | any value: nothing is searched |
//! | `keepsake:entity_cooc` P | sorted set | `a\|\|b` → count, default namespace, for the Python Keepsake |
//! | `keepsake:hot_topics`, `keepsake:attention`, each also `:daily`, `:weekly` P | sorted set | rebuilt from the days, for the Python Keepsake |
//! | `keepsake:feedback` | set | ids whose feedback is still to be mirrored for the Python Keepsake |
//! | `keepsake:malformed` | hash | id → why a hash under `memory:frag:` could not be understood |
//! | `keepsake:schema` | string | version of this layout |
//! | `keepsake:index` | hash | number and schema of the current generation of the index |
//! | `keepsake:models` | hash | mark of a model → its identity: the models that memories have vectors of |
//! | `keepsake:idx` | alias | the current generation, `keepsake:idx:<n>` |
//! | `keepsake:retrieved` | sorted set | ids by when they were last found for someone |
//! | `keepsake:checked` | set | ids whose content was looked at for duplicates |
//! | `keepsake:lease:<job>` | string | who does a background job, with a TTL |

use std::fmt::Write;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::memory::{KEY_PREFIX, MemoryId};
use crate::scope::DEFAULT_NAMESPACE;

/// The keys of one Keepsake, all behind a prefix (usually none).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Keys {
        Keys {
            prefix: prefix.to_owned(),
        }
    }

    fn own(&self, rest: &str) -> String {
        format!("{}keepsake:{rest}", self.prefix)
    }

    /// What the keys of all memories begin with.
    pub(super) fn fragments(&self) -> String {
        format!("{}{KEY_PREFIX}", self.prefix)
    }

    pub(super) fn fragment(&self, id: &MemoryId) -> String {
        format!("{}{id}", self.fragments())
    }

    /// What the keys of all memories in the trash begin with.
    pub(super) fn trashed(&self) -> String {
        format!("{}memory:trash:", self.prefix)
    }

    pub(super) fn trash(&self, id: &MemoryId) -> String {
        format!("{}{id}", self.trashed())
    }

    /// What the keys of all states begin with.
    pub(super) fn states(&self) -> String {
        self.own("state:")
    }

    pub(super) fn state(&self, id: &MemoryId) -> String {
        format!("{}{id}", self.states())
    }

    pub(super) fn content(&self, digest: &str) -> String {
        self.own(&format!("content:{digest}"))
    }

    pub(super) fn ids(&self) -> String {
        self.own("ids")
    }

    pub(super) fn newest(&self, namespace: &str) -> String {
        self.own(&format!("newest:{}", encoded(namespace)))
    }

    pub(super) fn trash_list(&self, namespace: &str) -> String {
        self.own(&format!("trashed:{}", encoded(namespace)))
    }

    /// What the keys of all turns of a namespace begin with; session and turn follow.
    pub(super) fn turns(&self, namespace: &str) -> String {
        self.own(&format!("turn:{}:", encoded(namespace)))
    }

    pub(super) fn turn(&self, namespace: &str, session: &str, turn: i64) -> String {
        format!("{}{}", self.turns(namespace), place(session, turn))
    }

    pub(super) fn naming(&self, namespace: &str, entity: &str) -> String {
        self.own(&format!(
            "naming:{}:{}",
            encoded(namespace),
            encoded(entity)
        ))
    }

    pub(super) fn totals(&self, namespace: &str) -> String {
        self.own(&format!("totals:{}", encoded(namespace)))
    }

    pub(super) fn document_frequencies(&self, namespace: &str) -> String {
        self.own(&format!("df:{}", encoded(namespace)))
    }

    pub(super) fn agents(&self, namespace: &str) -> String {
        self.own(&format!("agents:{}", encoded(namespace)))
    }

    pub(super) fn topics(&self, namespace: &str, agent: &str) -> String {
        self.own(&format!("topics:{}:{}", encoded(namespace), encoded(agent)))
    }

    pub(super) fn topics_of_day(&self, namespace: &str, agent: &str, day: i64) -> String {
        format!("{}:{day}", self.topics(namespace, agent))
    }

    pub(super) fn topic_days(&self, namespace: &str, agent: &str) -> String {
        self.own(&format!(
            "topic_days:{}:{}",
            encoded(namespace),
            encoded(agent)
        ))
    }

    pub(super) fn pairs(&self, namespace: &str, agent: &str, entity: &str) -> String {
        self.own(&format!(
            "pairs:{}:{}:{}",
            encoded(namespace),
            encoded(agent),
            encoded(entity)
        ))
    }

    pub(super) fn paired(&self, namespace: &str, agent: &str) -> String {
        self.own(&format!("paired:{}:{}", encoded(namespace), encoded(agent)))
    }

    pub(super) fn namespaces(&self) -> String {
        self.own("namespaces")
    }

    pub(super) fn records(&self, kind: &str, namespace: &str) -> String {
        self.own(&format!("records:{}:{}", encoded(kind), encoded(namespace)))
    }

    /// The keys of records in the order in which they were put.
    pub(super) fn record_order(&self, kind: &str, namespace: &str) -> String {
        self.own(&format!(
            "record_order:{}:{}",
            encoded(kind),
            encoded(namespace)
        ))
    }

    pub(super) fn record_places(&self) -> String {
        self.own("record_places")
    }

    /// What was done, or answered, under a name that is unique within `whose`.
    pub(super) fn done(&self, whose: &str, name: &str) -> String {
        let both = serde_json::json!([whose, name]).to_string();
        let digest = Sha256::digest(both.as_bytes());
        self.own(&format!("done:{}", HEXLOWER.encode(&digest)))
    }

    pub(super) fn synonyms(&self, namespace: &str) -> String {
        if namespace == DEFAULT_NAMESPACE {
            self.own("synonyms")
        } else {
            self.own(&format!("synonyms:{}", encoded(namespace)))
        }
    }

    pub(super) fn synonyms_found(&self, namespace: &str) -> String {
        self.own(&format!("synonyms_found:{}", encoded(namespace)))
    }

    pub(super) fn signals(&self) -> String {
        self.own("signals")
    }

    pub(super) fn lock(&self) -> String {
        self.own("workflow_lock")
    }

    pub(super) fn python_pairs(&self) -> String {
        self.own("entity_cooc")
    }

    /// Hot topics for the Python Keepsake: `""`, `":daily"` or `":weekly"`.
    pub(super) fn python_topics(&self, period: &str) -> String {
        self.own(&format!("hot_topics{period}"))
    }

    /// Attention for the Python Keepsake, likewise.
    pub(super) fn python_attention(&self, period: &str) -> String {
        self.own(&format!("attention{period}"))
    }

    pub(super) fn feedback(&self) -> String {
        self.own("feedback")
    }

    pub(super) fn malformed(&self) -> String {
        self.own("malformed")
    }

    pub(super) fn schema(&self) -> String {
        self.own("schema")
    }

    pub(super) fn index(&self) -> String {
        self.own("index")
    }

    pub(super) fn models(&self) -> String {
        self.own("models")
    }

    /// The name that searches go through.
    pub(super) fn alias(&self) -> String {
        self.own("idx")
    }

    pub(super) fn generation(&self, number: u64) -> String {
        self.own(&format!("idx:{number}"))
    }

    pub(super) fn retrieved(&self) -> String {
        self.own("retrieved")
    }

    pub(super) fn checked(&self) -> String {
        self.own("checked")
    }

    pub(super) fn lease(&self, job: &str) -> String {
        self.own(&format!("lease:{job}"))
    }
}

/// A turn of a session, as the keys of turns end.
pub(super) fn place(session: &str, turn: i64) -> String {
    format!("{}:{turn}", encoded(session))
}

/// Letters, digits, `-`, `.` and non-ASCII text as they are, any other byte as `%` and two digits: so
/// a `:` in a name never ends it.
pub(super) fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_') || !c.is_ascii() {
            encoded.push(c);
        } else {
            write!(encoded, "%{:02x}", u32::from(c)).expect("writing to a string cannot fail");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_imitate_another_key() {
        let keys = Keys::new("");
        assert_ne!(keys.turn("a", "b:1", 2), keys.turn("a", "b", 12));
        assert_ne!(keys.topics("a:b", "c"), keys.topics("a", "b:c"));
        assert_ne!(keys.topics("a", "b:1"), keys.topics_of_day("a", "b", 1));
        assert_ne!(keys.totals("a%3a"), keys.totals("a:"));
    }

    #[test]
    fn keys_of_the_python_keepsake_are_its_own() {
        let keys = Keys::new("");
        assert_eq!(
            keys.fragment(&MemoryId::new("ab12:1700000000")),
            "memory:frag:ab12:1700000000"
        );
        assert_eq!(keys.synonyms("default"), "keepsake:synonyms");
        assert_eq!(keys.lock(), "keepsake:workflow_lock");
        assert_eq!(keys.python_topics(":daily"), "keepsake:hot_topics:daily");
    }
}
