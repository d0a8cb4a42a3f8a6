//! Memories that someone else wrote: the Python Keepsake, or a person with `redis-cli`.
//!
//! A hash under `memory:frag:` that lacks our fields is adopted: it gets them, and nothing of what it
//! holds is changed (but for `sentiment_score`, which the Python Keepsake uses for two different
//! things). Of each memory a digest of the fields that others write is kept, so that later edits by
//! them are seen and followed. What cannot be understood is reported and left alone.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, Utc};

use super::RedisStore;
use super::errors::from_redis;
use super::scripts::Name;
use super::transaction::{Draft, Held, Unknown, unexpected};
use super::upkeep;
use super::values::{answers, list, number, text};
use crate::analysis::Analyser;
use crate::memory::{Details, Fate, Memory, MemoryId, Place};
use crate::scope::DEFAULT_NAMESPACE;
use crate::store::StoreError;

/// The fields that others write, as `prelude.lua` has them, too.
pub(super) const WATCHED: [&str; 11] = [
    "content",
    "tags",
    "category",
    "source",
    "created",
    "fragment_type",
    "invalid_at",
    "valid_until",
    "consumed_by",
    "corrected_at",
    "feedback_score",
];

/// Keys that one step of the search for changes looks at.
const STEP: usize = 500;
/// What the Python Keepsake marks the agent of a memory with, among its tags.
const AGENT_TAG: &str = "agent:";

/// What adopting needs beside the store.
#[derive(Clone)]
pub struct Adoption {
    pub analyser: Analyser,
    /// Attention that each keyword of a memory gains: a base, and a part of its emotion's intensity.
    pub attention: (f64, f64),
}

/// What one pass over all memories did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pass {
    pub adopted: usize,
    pub followed: usize,
    pub malformed: usize,
}

/// One memory as others wrote it: the watched fields that are texts, by name.
type Raw = BTreeMap<&'static str, String>;

impl RedisStore {
    /// Takes over now what others wrote, so that a copy misses nothing.
    ///
    /// # Errors
    /// When Redis fails.
    pub async fn adopt(&self) -> Result<(), StoreError> {
        self.prepared().await?;
        self.adopt_all(None).await.map(|_| ())
    }

    /// Looks through all memories once and takes over what others wrote, as long as the lease is
    /// held, if there is one.
    pub(super) async fn adopt_all(&self, lease: Option<&str>) -> Result<Pass, StoreError> {
        let mut pass = Pass::default();
        let mut cursor = "0".to_owned();
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(&cursor).arg("MATCH");
            scan.arg(format!("{}*", glob_escaped(&self.inner.keys.fragments())));
            scan.arg("COUNT").arg(STEP);
            let mut answer = list(self.inner.connection.command(&scan).await?)?.into_iter();
            cursor = answer.next().and_then(text).ok_or_else(unexpected)?;
            let keys = answer.next().and_then(answers).ok_or_else(unexpected)?;
            for (id, now, seen) in self.changed(keys.into_iter().flatten().collect()).await? {
                match self.take_over(&id, &now, &seen).await? {
                    Taken::Adopted => pass.adopted += 1,
                    Taken::Followed => pass.followed += 1,
                    Taken::Malformed => pass.malformed += 1,
                    Taken::Gone => {}
                }
            }
            self.inner.tell_progress(pass);
            let goes_on = match lease {
                Some(token) => self.lease(upkeep::JOB, token, upkeep::LEASE).await?,
                None => true,
            };
            if cursor == "0" || !goes_on {
                return Ok(pass);
            }
        }
    }

    /// Those of the keys that someone else wrote to, with the digests of now and then.
    async fn changed(
        &self,
        keys: Vec<Vec<u8>>,
    ) -> Result<Vec<(MemoryId, String, String)>, StoreError> {
        let prefix = self.inner.keys.fragments();
        let ids = keys.into_iter().filter_map(|key| {
            let key = String::from_utf8(key).ok()?;
            key.strip_prefix(prefix.as_str()).map(str::to_owned)
        });
        let mut arguments = vec![
            prefix.clone().into_bytes(),
            self.inner.keys.states().into_bytes(),
        ];
        arguments.extend(ids.map(String::into_bytes));
        if arguments.len() == 2 {
            return Ok(Vec::new());
        }
        let answer = self
            .inner
            .connection
            .script(Name::Examine, &arguments)
            .await;
        let changed = list(answer.map_err(from_redis)?)?;
        changed
            .into_iter()
            .map(|item| {
                let mut item = list(item)?.into_iter().filter_map(text);
                let mut next = || item.next().ok_or_else(unexpected);
                Ok((MemoryId::new(next()?), next()?, next()?))
            })
            .collect()
    }

    /// Adopts one memory, or follows what was changed of it.
    async fn take_over(&self, id: &MemoryId, now: &str, seen: &str) -> Result<Taken, StoreError> {
        let raw = match self.raw(id).await? {
            Some(Ok(raw)) => raw,
            None => return Ok(Taken::Gone),
            Some(Err(reason)) => return self.report(id, now, reason).await,
        };
        let adoption = &self.inner.adoption;
        if !raw.contains_key("content") {
            return self.report(id, now, "it has no content").await;
        }
        let changed = changed_fields(now, seen);
        let mirrored = self.mirrored(id).await?;
        let taken = self
            .write(|draft| follow(draft, adoption, id, &raw, &changed, mirrored))
            .await?;
        if let Some(told) = raw.get("feedback_score") {
            self.note(id, &[("mirrored", told.as_str())]).await?;
        }
        let mut forget = redis::cmd("HDEL");
        forget.arg(self.inner.keys.malformed()).arg(id.as_str());
        self.inner.connection.command(&forget).await?;
        Ok(taken)
    }

    /// The watched fields; an error if one of them is no text.
    async fn raw(&self, id: &MemoryId) -> Result<Option<Result<Raw, &'static str>>, StoreError> {
        let mut get = redis::cmd("HMGET");
        get.arg(self.inner.keys.fragment(id)).arg(&WATCHED);
        let values = match self.inner.connection.command(&get).await {
            Ok(values) => answers(values).ok_or_else(unexpected)?,
            Err(StoreError::Unavailable(_)) => return Ok(Some(Err("it is no hash"))),
            Err(error) => return Err(error),
        };
        if values.iter().all(Option::is_none) {
            return Ok(Some(Err("it has none of the fields of a memory")));
        }
        let mut raw = Raw::new();
        for (name, value) in WATCHED.into_iter().zip(values) {
            match value.map(String::from_utf8) {
                Some(Ok(value)) => {
                    raw.insert(name, value);
                }
                Some(Err(_)) => return Ok(Some(Err("a field is no UTF-8 text"))),
                None => {}
            }
        }
        Ok(Some(Ok(raw)))
    }

    /// The feedback that the hash held when it was last looked at.
    async fn mirrored(&self, id: &MemoryId) -> Result<f64, StoreError> {
        let mut get = redis::cmd("HGET");
        get.arg(self.inner.keys.state(id)).arg("mirrored");
        let told = text(self.inner.connection.command(&get).await?);
        Ok(told.and_then(|told| told.parse().ok()).unwrap_or(0.0))
    }

    async fn note(&self, id: &MemoryId, fields: &[(&str, &str)]) -> Result<(), StoreError> {
        let mut set = redis::cmd("HSET");
        set.arg(self.inner.keys.state(id));
        for (name, value) in fields {
            set.arg(name).arg(value);
        }
        self.inner.connection.command(&set).await.map(|_| ())
    }

    /// Reports what cannot be understood, once for each state of it.
    async fn report(&self, id: &MemoryId, now: &str, reason: &str) -> Result<Taken, StoreError> {
        tracing::warn!(memory.id = %id, reason, "a hash under memory:frag: is left alone");
        let mut set = redis::cmd("HSET");
        set.arg(self.inner.keys.malformed())
            .arg(id.as_str())
            .arg(reason);
        self.inner.connection.command(&set).await?;
        self.note(id, &[("seen", now)]).await?;
        Ok(Taken::Malformed)
    }

    /// How many hashes are left alone since they cannot be understood.
    pub(super) async fn malformed(&self) -> Result<i64, StoreError> {
        let mut count = redis::cmd("HLEN");
        count.arg(self.inner.keys.malformed());
        Ok(number(self.inner.connection.command(&count).await?).unwrap_or(0))
    }
}

enum Taken {
    Adopted,
    Followed,
    Malformed,
    Gone,
}

/// The names of the fields whose digests differ; all if none was seen before.
fn changed_fields(now: &str, seen: &str) -> Vec<&'static str> {
    let mut before = seen.split(',');
    let pairs = now.split(',').zip(WATCHED);
    pairs
        .filter(|(digest, _)| before.next() != Some(*digest))
        .map(|(_, name)| name)
        .collect()
}

/// Takes over one memory within a write.
fn follow(
    draft: &mut Draft<'_>,
    adoption: &Adoption,
    id: &MemoryId,
    raw: &Raw,
    changed: &[&str],
    mirrored: f64,
) -> Result<Taken, Unknown> {
    match draft.by_id(id)? {
        Held::Free => Ok(Taken::Gone),
        Held::Foreign => {
            let memory = adopted(id, raw, &adoption.analyser);
            let (base, part) = adoption.attention;
            let attention = base + part * memory.analysis.emotion.intensity;
            draft.adopt(&memory);
            draft.counters.count(&memory, 1);
            draft
                .counters
                .mention(&memory, memory.created_at, attention);
            Ok(Taken::Adopted)
        }
        Held::Memory(before) => {
            let mut memory = before.clone();
            let told = adopted(id, raw, &adoption.analyser);
            for field in changed {
                take_field(&mut memory, &told, field, mirrored);
            }
            draft.adopt(&memory);
            if memory.content != before.content {
                draft.forget_vectors(id);
            }
            draft.counters.recount(&before, &memory);
            Ok(Taken::Followed)
        }
    }
}

/// Takes one field of what others wrote.
fn take_field(memory: &mut Memory, told: &Memory, field: &str, mirrored: f64) {
    match field {
        "content" => {
            memory.content.clone_from(&told.content);
            memory.analysis = told.analysis.clone();
        }
        "tags" => {
            memory.details.tags.clone_from(&told.details.tags);
            memory.details.shared = told.details.shared;
            memory.agent.clone_from(&told.agent);
            memory.fate.corrected_at = told.fate.corrected_at;
        }
        "category" => memory.details.category.clone_from(&told.details.category),
        "source" => memory.details.source.clone_from(&told.details.source),
        "created" => memory.created_at = told.created_at,
        "fragment_type" | "consumed_by" => {
            memory
                .details
                .entry_type
                .clone_from(&told.details.entry_type);
            memory.fate.consumed_by.clone_from(&told.fate.consumed_by);
        }
        "invalid_at" | "valid_until" => {
            memory.details.invalid_at = told.details.invalid_at;
            if told.details.invalid_at.is_none() {
                memory.fate.superseded_by = None;
            }
        }
        "corrected_at" => memory.fate.corrected_at = told.fate.corrected_at,
        "feedback_score" => memory.feedback += told.feedback - mirrored,
        _ => {}
    }
}

/// The memory that the Python Keepsake's fields tell of.
fn adopted(id: &MemoryId, raw: &Raw, analyser: &Analyser) -> Memory {
    let of = |name: &str| raw.get(name).filter(|value| !value.trim().is_empty());
    let content = raw.get("content").cloned().unwrap_or_default();
    let created_at = of("created")
        .and_then(|text| time(text))
        .unwrap_or(DateTime::UNIX_EPOCH);
    // Anything there hides a memory, also what is no time.
    let end = |name| of(name).map(|text| time(text).unwrap_or(DateTime::UNIX_EPOCH));
    let (mut tags, mut agent, mut shared, mut corrected) = (Vec::new(), None, false, false);
    for tag in of("tags")
        .into_iter()
        .flat_map(|tags| tags.split(','))
        .map(str::trim)
    {
        match tag.strip_prefix(AGENT_TAG) {
            Some(name) if !name.is_empty() => agent = Some(name.to_owned()),
            _ if tag == "shared" => shared = true,
            _ if tag == "corrected" => corrected = true,
            _ if tag.is_empty() || tags.iter().any(|known| known == tag) => {}
            _ => tags.push(tag.to_owned()),
        }
    }
    let entry_type = of("fragment_type").cloned();
    let is_consumed = entry_type.as_deref() == Some("consumed");
    let consumed_by = of("consumed_by").cloned();
    let consumed_by = consumed_by.or_else(|| is_consumed.then(|| "unknown".to_owned()));
    let corrected_at = of("corrected_at").map(|text| time(text).unwrap_or(created_at));
    Memory {
        id: id.clone(),
        namespace: DEFAULT_NAMESPACE.to_owned(),
        agent,
        place: Place::default(),
        details: Details {
            tags,
            shared,
            category: of("category").cloned(),
            source: of("source").cloned(),
            entry_type,
            invalid_at: end("invalid_at")
                .into_iter()
                .chain(end("valid_until"))
                .min(),
            pinned: false,
            metadata: serde_json::Map::new(),
        },
        created_at,
        updated_at: created_at,
        reinforced_at: None,
        fate: Fate {
            superseded_by: None,
            consumed_by: consumed_by.map(MemoryId::new),
            corrected_at: corrected_at.or_else(|| corrected.then_some(created_at)),
            trashed_at: None,
        },
        mentions: 1,
        feedback: of("feedback_score")
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0.0),
        level: 0,
        sources: Vec::new(),
        analysis: analyser.content(&content),
        content,
    }
}

/// A time as Python writes it: with or without a zone, or as seconds since 1970.
fn time(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    let zoned = DateTime::parse_from_rfc3339(text).map(|time| time.to_utc());
    let plain = || {
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
            .iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
            .map(|time| time.and_utc())
    };
    let day = || {
        let day = text.parse::<chrono::NaiveDate>().ok()?;
        Some(day.and_hms_opt(0, 0, 0)?.and_utc())
    };
    let seconds = || {
        let seconds = text
            .parse::<f64>()
            .ok()
            .filter(|seconds| seconds.is_finite())?;
        DateTime::from_timestamp_millis((seconds * 1000.0) as i64)
    };
    let found = zoned.ok().or_else(plain).or_else(day).or_else(seconds)?;
    // Stores keep whole milliseconds.
    DateTime::from_timestamp_millis(found.timestamp_millis())
}

/// A prefix for `MATCH`, with nothing special left in it.
pub(super) fn glob_escaped(prefix: &str) -> String {
    let mut escaped = String::with_capacity(prefix.len());
    for c in prefix.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '^' | '-') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Ingredients;

    fn raw(fields: &[(&'static str, &str)]) -> Raw {
        fields
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect()
    }

    fn adopt(fields: &[(&'static str, &str)]) -> Memory {
        let analyser = Analyser::new("", Ingredients::default());
        adopted(&MemoryId::new("ab12"), &raw(fields), &analyser)
    }

    #[test]
    fn python_fields_are_understood() {
        let memory = adopt(&[
            ("content", "用户喜欢喝茶"),
            ("tags", "food, tea,agent:main-brain,shared"),
            ("created", "2025-05-01T08:00:00.123456+00:00"),
            ("feedback_score", "-2"),
        ]);
        assert_eq!(memory.details.tags, ["food", "tea"]);
        assert_eq!(memory.agent.as_deref(), Some("main-brain"));
        assert!(memory.details.shared);
        assert_eq!(memory.created_at.timestamp_millis(), 1_746_086_400_123);
        assert!((memory.feedback + 2.0).abs() < 1e-12);
    }

    #[test]
    fn times_come_in_several_forms() {
        for (text, seconds) in [
            ("2025-05-01T08:00:00+00:00", Some(1_746_086_400)),
            ("2025-05-01T10:00:00+02:00", Some(1_746_086_400)),
            ("2025-05-01T08:00:00", Some(1_746_086_400)),
            ("2025-05-01 08:00:00.5", Some(1_746_086_400)),
            ("2025-05-01", Some(1_746_057_600)),
            ("1746086400.9", Some(1_746_086_400)),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(time(text).map(|time| time.timestamp()), seconds, "{text}");
        }
    }

    #[test]
    fn anything_that_python_hides_is_hidden() {
        for fields in [
            [("content", "x"), ("invalid_at", "soon")],
            [("content", "x"), ("valid_until", "2025-05-01T08:00:00")],
            [("content", "x"), ("fragment_type", "consumed")],
            [("content", "x"), ("consumed_by", "memory:frag:other")],
            [("content", "x"), ("tags", "a,corrected")],
            [("content", "x"), ("corrected_at", "2025-05-01T08:00:00")],
        ] {
            let memory = adopt(&fields);
            let later = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
            assert_ne!(
                memory.state(later),
                crate::memory::State::Active,
                "{fields:?}"
            );
        }
    }

    #[test]
    fn only_what_others_changed_is_followed() {
        let same = vec!["a"; WATCHED.len()].join(",");
        let other = format!("b,{}", vec!["a"; WATCHED.len() - 1].join(","));
        assert_eq!(changed_fields(&other, &same), ["content"]);
        assert_eq!(changed_fields(&same, "").len(), WATCHED.len());
        assert_eq!(changed_fields(&same, &same), [""; 0]);
    }
}
