//! POST /v1/import: what was exported, put back.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use chrono::{DateTime, SubsecRound, Utc};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::export::{CounterLine, RECORD, RecordLine};
use super::extract::{ItemDefaults, content_type, read};
use super::ndjson::{self, Line, Lines};
use super::problem::Problem;
use crate::app::App;
use crate::memory::{Details, Fate, Memory, MemoryId, Place};
use crate::parallel;
use crate::scope::Scope;
use crate::store::{Counter, Import, Imported, Record};
use crate::write::import::Restored;
use crate::write::{self, Origin};

/// Longest id that is accepted, in characters.
const MAX_ID_CHARS: usize = 128;
/// Longest word of a counter, in characters.
const MAX_WORD_CHARS: usize = 1_024;
/// Most refused lines that are told one by one, so that a file full of them needs no memory.
const MOST_TOLD: usize = 1_000;

/// A line of an import: an exported memory, of which only the id and the content must be there. What
/// the analysis finds again by itself is read over.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ImportLine {
    id: String,
    content: String,
    tags: Option<Vec<String>>,
    shared: Option<bool>,
    category: Option<String>,
    source: Option<String>,
    entry_type: Option<String>,
    session: Option<String>,
    turn: Option<i64>,
    document: Option<String>,
    created_at: Option<DateTime<Utc>>,
    updated_at: Option<DateTime<Utc>>,
    reinforced_at: Option<DateTime<Utc>>,
    invalid_at: Option<DateTime<Utc>>,
    corrected_at: Option<DateTime<Utc>>,
    trashed_at: Option<DateTime<Utc>>,
    pinned: Option<bool>,
    mentions: Option<u32>,
    feedback: Option<f64>,
    level: Option<u32>,
    links: Option<Links>,
    metadata: Option<Map<String, Value>>,
    /// The counters of the export hold what this memory was told.
    counted: Option<bool>,
    #[serde(rename = "key")]
    _key: Option<Value>,
    #[serde(rename = "state")]
    _state: Option<Value>,
    #[serde(rename = "entities")]
    _entities: Option<Value>,
    #[serde(rename = "keywords")]
    _keywords: Option<Value>,
    #[serde(rename = "emotion")]
    _emotion: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Links {
    superseded_by: Option<String>,
    consumed_by: Option<String>,
    sources: Option<Vec<String>>,
}

/// What became of the lines.
#[derive(Debug, Default)]
struct Tally {
    created: u64,
    updated: u64,
    unchanged: u64,
    /// Counters, synonyms, records.
    restored: u64,
    refused: u64,
    /// The first that were refused, with the reasons.
    told: Vec<Value>,
}

impl Tally {
    fn refuse(&mut self, line: usize, problem: &Problem) {
        self.refused += 1;
        if self.told.len() < MOST_TOLD {
            self.told.push(json!({"line": line, "problem": problem}));
        }
    }

    fn count(&mut self, lines: Vec<usize>, outcomes: Vec<Imported>) {
        for (line, outcome) in lines.into_iter().zip(outcomes) {
            match outcome {
                Imported::Created => self.created += 1,
                Imported::Updated => self.updated += 1,
                Imported::Unchanged => self.unchanged += 1,
                Imported::Refused(reason) => {
                    self.refuse(line, &Problem::invalid_field("id", reason));
                }
            }
        }
    }
}

pub(super) async fn import(
    State(app): State<App>,
    request: Request,
) -> Result<Json<Value>, Problem> {
    if content_type(&request).as_deref() != Some(ndjson::CONTENT_TYPE) {
        return Err(Problem::unsupported_media_type(ndjson::CONTENT_TYPE));
    }
    let defaults = ItemDefaults::of(&request)?;
    let defaults = Arc::new(defaults);
    let mut lines = Lines::new(request.into_body());
    let mut tally = Tally::default();
    let mut ready = Ready::default();
    loop {
        // The next lines are made ready while those before them are stored.
        let next = async {
            match lines.next().await {
                Some(read) => Some(prepare(&app, &defaults, read).await),
                None => None,
            }
        };
        let (stored, next) = tokio::join!(store(&app, ready, &mut tally), next);
        stored?;
        match next {
            Some(next) => ready = next,
            None => break,
        }
    }
    Ok(Json(json!({
        "created": tally.created,
        "updated": tally.updated,
        "unchanged": tally.unchanged,
        "restored": tally.restored,
        "refused": tally.told,
        "refused_total": tally.refused,
    })))
}

/// Lines that are ready to be stored.
#[derive(Default)]
struct Ready {
    /// Of the lines that hold the memories.
    numbers: Vec<usize>,
    memories: Vec<Import>,
    counters: Vec<Counter>,
    records: Vec<RecordLine>,
    refused: Vec<(usize, Problem)>,
}

/// What a line holds.
enum Held {
    Memory(Box<Restored>),
    Counter(Counter),
    Record(RecordLine),
}

/// Reads lines and makes what they hold ready.
async fn prepare(app: &App, defaults: &Arc<ItemDefaults>, lines: Vec<Line>) -> Ready {
    let bytes = lines.iter().map(|line| line.bytes).sum();
    let (reader, defaults) = (app.clone(), defaults.clone());
    let held = parallel::map(lines, bytes, move |line: Line| {
        let held = line.value.and_then(|value| {
            if value.get("kind").is_some_and(|kind| kind == RECORD) {
                record(value).map(Held::Record)
            } else if value.get("kind").is_some() {
                counter(value).map(Held::Counter)
            } else {
                memory(&reader, &defaults, value).map(|memory| Held::Memory(Box::new(memory)))
            }
        });
        (line.number, held)
    });
    let (mut ready, mut memories) = (Ready::default(), Vec::new());
    for (number, held) in held.await {
        match held {
            Ok(Held::Memory(memory)) => {
                ready.numbers.push(number);
                memories.push(*memory);
            }
            Ok(Held::Counter(counter)) => ready.counters.push(counter),
            Ok(Held::Record(record)) => ready.records.push(record),
            Err(problem) => ready.refused.push((number, problem)),
        }
    }
    ready.memories = write::import::ready(app, memories).await;
    ready
}

/// Puts back what some lines hold.
async fn store(app: &App, ready: Ready, tally: &mut Tally) -> Result<(), Problem> {
    for (number, problem) in &ready.refused {
        tally.refuse(*number, problem);
    }
    if !ready.memories.is_empty() {
        let outcomes = app.store.import(ready.memories).await?;
        tally.count(ready.numbers, outcomes);
    }
    if !ready.counters.is_empty() {
        tally.restored += ready.counters.len() as u64;
        app.store.restore_counters(ready.counters).await?;
    }
    for line in ready.records {
        tally.restored += 1;
        let (of, namespace) = (&line.of, &line.namespace);
        // One that is there as it was keeps its place in the order.
        if app.store.record(of, namespace, &line.key).await?.as_ref() != Some(&line.value) {
            let record = Record::new(line.key, line.value);
            app.store.put_record(of, namespace, record, None).await?;
        }
    }
    Ok(())
}

/// The record that a line stands for.
fn record(value: Value) -> Result<RecordLine, Problem> {
    let line: RecordLine = read(value)?;
    check_words(&[&line.of, &line.key])?;
    if line.namespace.chars().count() > MAX_WORD_CHARS {
        return Err(words_are_wrong());
    }
    Ok(line)
}

/// Checks words that are to be kept as they are.
fn check_words(words: &[&String]) -> Result<(), Problem> {
    let is_wrong = |word: &&String| word.is_empty() || word.chars().count() > MAX_WORD_CHARS;
    match words.iter().any(is_wrong) {
        true => Err(words_are_wrong()),
        false => Ok(()),
    }
}

fn words_are_wrong() -> Problem {
    let message = format!("its words must have 1 to {MAX_WORD_CHARS} characters");
    Problem::invalid_field("kind", message)
}

/// The counter that a line stands for.
fn counter(value: Value) -> Result<Counter, Problem> {
    let line: CounterLine = read(value)?;
    let words: Vec<&String> = match &line {
        CounterLine::Topic {
            namespace, topic, ..
        } => vec![namespace, topic],
        CounterLine::EntityPair {
            namespace,
            entity,
            other,
            name,
            ..
        } => vec![namespace, entity, other, name],
        CounterLine::Synonyms {
            namespace,
            term,
            terms,
            ..
        } => [namespace, term].into_iter().chain(terms).collect(),
    };
    check_words(&words)?;
    if let CounterLine::Topic {
        mentions,
        attention,
        ..
    } = &line
        && [mentions, attention]
            .iter()
            .any(|number| !(number.is_finite() && **number >= 0.0))
    {
        return Err(Problem::invalid_field("mentions", "must not be negative"));
    }
    Ok(Counter::from(line))
}

/// The memory that a line stands for.
fn memory(app: &App, defaults: &ItemDefaults, value: Value) -> Result<Restored, Problem> {
    // An exported `null` says that the memory has no agent, whatever agent the service works for.
    let nobody = value.get("agent_id").is_some_and(Value::is_null);
    let (mut scope, line): (Scope, ImportLine) = defaults.read(value, &app.settings)?;
    if nobody {
        scope.agent = None;
    }
    let id = MemoryId::new(line.id);
    if !(1..=MAX_ID_CHARS).contains(&id.as_str().chars().count())
        || id
            .as_str()
            .chars()
            .any(|c| c.is_control() || c.is_whitespace())
    {
        return Err(Problem::invalid_field(
            "id",
            format!("must be 1 to {MAX_ID_CHARS} characters without white space"),
        ));
    }
    if line.feedback.is_some_and(|feedback| !feedback.is_finite()) {
        return Err(Problem::invalid_field(
            "feedback",
            "must be a finite number",
        ));
    }
    let place = Place {
        session: line.session,
        turn: line.turn,
        document: line.document,
    };
    let details = Details {
        tags: line.tags.unwrap_or_default(),
        shared: line.shared.unwrap_or_default(),
        category: line.category,
        source: line.source,
        entry_type: line.entry_type,
        invalid_at: line.invalid_at,
        pinned: line.pinned.unwrap_or_default(),
        metadata: line.metadata.unwrap_or_default(),
    };
    let (mut content, mut details) =
        write::validate::draft(line.content, details, &place, &app.settings)?;
    // An import brings back what was stored on purpose, unless nothing may be stored in clear.
    if write::redacts(&app.settings, Origin::Person) {
        write::secrets::mask_all(&mut content, &mut details.metadata);
    }
    let links = line.links.unwrap_or_default();
    let now = app.clock.now();
    // Whole milliseconds are what stores keep and compare.
    let whole = |time: DateTime<Utc>| time.trunc_subsecs(3);
    let memory = Memory {
        id,
        analysis: app.analyser.content(&content),
        content,
        namespace: scope.namespace,
        agent: scope.agent,
        place,
        details,
        created_at: line.created_at.map_or(now, whole),
        updated_at: line.updated_at.or(line.created_at).map_or(now, whole),
        reinforced_at: line.reinforced_at.map(whole),
        fate: Fate {
            superseded_by: links.superseded_by.map(MemoryId::new),
            consumed_by: links.consumed_by.map(MemoryId::new),
            corrected_at: line.corrected_at.map(whole),
            trashed_at: line.trashed_at.map(whole),
        },
        mentions: line.mentions.unwrap_or(1),
        feedback: line.feedback.unwrap_or_default(),
        level: line.level.unwrap_or_default(),
        sources: links
            .sources
            .unwrap_or_default()
            .into_iter()
            .map(MemoryId::new)
            .collect(),
    };
    Ok(Restored {
        memory,
        counted: line.counted.unwrap_or_default(),
    })
}
