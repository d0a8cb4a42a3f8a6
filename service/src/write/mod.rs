//! Writing: validate, analyse, embed, store in one atomic step with the counters, answer.

pub mod documents;
pub mod import;
pub mod operations;
pub mod pieces;
pub mod secrets;
pub mod transcript;
pub mod validate;

use chrono::{DateTime, SubsecRound, Utc};

use crate::analysis;
use crate::analysis::emotion::Emotion;
use crate::app::App;
use crate::clock::new_id;
use crate::config::{RedactSecrets, Settings};
use crate::error::Error;
use crate::memory::{Details, Edit, Memory, MemoryId, NewMemory, Place, State};
use crate::scope::Scope;
use crate::store::{Added, Edited, Effect, Operated, Operation, Resolved, Step};
use crate::vector::NewVector;

/// "Useful" adds this to the feedback of a memory, "useless" takes the other.
const USEFUL: f64 = 1.0;
const USELESS: f64 = -2.0;

/// Who is behind a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Origin {
    #[default]
    Person,
    Model,
    /// A program, unasked.
    Automatic,
}

/// A memory that someone wants stored, as asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    pub content: String,
    pub place: Place,
    pub details: Details,
    /// The time that it is about; now if absent.
    pub created_at: Option<DateTime<Utc>>,
    /// Names that it is about besides those that its content names.
    pub entities: Vec<String>,
    /// Id, key or unique beginning of the id of the memory that it replaces.
    pub supersedes: Option<String>,
    /// Store it even if the same content was corrected.
    pub force: bool,
    pub origin: Origin,
    /// A name for this write, under which it is done once in 24 hours, however often it is asked for.
    pub once: Option<String>,
}

/// A stored memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub memory: Memory,
    /// It was there before.
    pub reinforced: bool,
    /// What hid it before, if something did.
    pub revived: Option<State>,
    /// Kinds of secrets that were masked.
    pub redacted: Vec<&'static str>,
}

/// Checks a draft without storing it.
///
/// # Errors
/// [`Error::Invalid`] with each wrong field.
pub fn check(app: &App, draft: &Draft) -> Result<(), Error> {
    let (content, details) = (draft.content.clone(), draft.details.clone());
    validate::draft(content, details, &draft.place, &app.settings)?;
    validate::entities(&draft.entities)
}

/// Stores one memory.
///
/// # Errors
/// When the draft is invalid, its content was corrected, or the store fails.
pub async fn add(
    app: &App,
    scope: &Scope,
    draft: Draft,
    now: DateTime<Utc>,
) -> Result<Stored, Error> {
    let mut stored = add_all(app, scope, vec![draft], now).await?;
    stored.pop().expect("one draft gives one result")
}

/// Stores several memories in one transaction; one that is refused spoils no other.
///
/// # Errors
/// When the store fails; what is wrong with one draft is in its own result.
pub async fn add_all(
    app: &App,
    scope: &Scope,
    drafts: Vec<Draft>,
    now: DateTime<Utc>,
) -> Result<Vec<Result<Stored, Error>>, Error> {
    app.metrics.uses(&scope.namespace);
    let mut stages = app.metrics.stages("write");
    let once: Option<Vec<String>> = drafts.iter().map(|draft| draft.once.clone()).collect();
    let mut accepted = Vec::new();
    let mut keys = Vec::new();
    let mut results: Vec<Result<Vec<&'static str>, Error>> = Vec::with_capacity(drafts.len());
    for (index, draft) in drafts.into_iter().enumerate() {
        let prepared = prepare(app, scope, draft, now).await;
        results.push(prepared.map(|prepared| {
            accepted.push(prepared.memory);
            keys.extend(once.as_ref().map(|once| once[index].clone()));
            prepared.redacted
        }));
    }
    stages.end("analyse");
    give_vectors(app, accepted.iter_mut().collect()).await;
    stages.end("embed");
    let outcomes = if keys.is_empty() {
        let added = app.store.add(scope, accepted, now).await?;
        added.into_iter().map(stored).collect()
    } else {
        add_once(app, scope, keys, accepted, now).await?
    };
    stages.end("store");
    let mut outcomes = outcomes.into_iter();
    let answer = |result: Result<Vec<&'static str>, Error>| {
        let redacted = result?;
        let stored = outcomes
            .next()
            .expect("the store answers for each memory")?;
        Ok(Stored { redacted, ..stored })
    };
    let results: Vec<Result<Stored, Error>> = results.into_iter().map(answer).collect();
    for result in &results {
        app.metrics.told(match result {
            Ok(stored) if stored.reinforced => "reinforced",
            Ok(_) => "created",
            Err(_) => "refused",
        });
    }
    Ok(results)
}

/// Adds memories, each unless it was added under its key before.
async fn add_once(
    app: &App,
    scope: &Scope,
    keys: Vec<String>,
    memories: Vec<NewMemory>,
    now: DateTime<Utc>,
) -> Result<Vec<Result<Stored, Error>>, Error> {
    let operation = |(key, memory)| Operation {
        key,
        step: Step::Add(memory),
    };
    let operations = keys.into_iter().zip(memories).map(operation).collect();
    let mut results = Vec::new();
    for operated in app.store.operate(scope, operations, now).await? {
        results.push(match operated {
            Operated::Added(added) => stored(added),
            Operated::Repeated(effect) => again(app, scope, effect).await,
            Operated::Removed(id) => Err(Error::NotFound(id.to_string())),
            Operated::NoMatch | Operated::Ambiguous => Err(Error::invalid(
                "Idempotency-Key",
                "belongs to another write",
            )),
        });
    }
    Ok(results)
}

/// What a write that was done before came to, with the memory as it is now.
async fn again(app: &App, scope: &Scope, effect: Effect) -> Result<Stored, Error> {
    let memory = app.store.get(scope, &effect.id).await?;
    let memory = memory.ok_or_else(|| Error::NotFound(effect.id.to_string()))?;
    Ok(Stored {
        memory,
        reinforced: effect.reinforced,
        revived: effect.revived,
        redacted: Vec::new(),
    })
}

/// A memory that can be stored.
struct Prepared {
    memory: NewMemory,
    redacted: Vec<&'static str>,
}

/// Checks a draft, masks its secrets and analyses its content.
async fn prepare(
    app: &App,
    scope: &Scope,
    draft: Draft,
    now: DateTime<Utc>,
) -> Result<Prepared, Error> {
    let (mut content, mut details) =
        validate::draft(draft.content, draft.details, &draft.place, &app.settings)?;
    let mut redacted = Vec::new();
    if redacts(&app.settings, draft.origin) {
        redacted = secrets::mask_all(&mut content, &mut details.metadata);
    }
    let mut analysis = app.analyser.content(&content);
    validate::entities(&draft.entities)?;
    for name in draft.entities {
        let term = analysis::entity_term(&name);
        if !analysis
            .entities
            .iter()
            .any(|there| analysis::entity_term(there) == term)
        {
            analysis.entities.push(name);
        }
    }
    let supersedes = match draft.supersedes {
        Some(reference) => Some(resolve(app, scope, &reference).await?),
        None => None,
    };
    let memory = NewMemory {
        id: new_id()?,
        content,
        place: draft.place,
        details,
        created_at: draft.created_at.map_or(now, |time| time.trunc_subsecs(3)),
        attention: attention_gained(&analysis.emotion, &app.settings),
        analysis,
        vector: None,
        supersedes,
        force: draft.force,
    };
    Ok(Prepared { memory, redacted })
}

/// Whether secrets are masked in a write of that origin.
pub fn redacts(settings: &Settings, origin: Origin) -> bool {
    match settings.redact_secrets {
        RedactSecrets::Never => false,
        RedactSecrets::Automatic => origin == Origin::Automatic,
        RedactSecrets::Always => true,
    }
}

/// Gives new memories their vectors, as far as the embedder has them in time.
async fn give_vectors(app: &App, memories: Vec<&mut NewMemory>) {
    let contents = memories.iter().map(|memory| memory.content.clone());
    let vectors = vectors(app, contents.collect()).await;
    for (memory, vector) in memories.into_iter().zip(vectors) {
        memory.vector = vector;
    }
}

/// A vector for each content, as far as the embedder has one in time; the others follow.
async fn vectors(app: &App, contents: Vec<String>) -> Vec<Option<NewVector>> {
    match &app.meaning {
        Some(meaning) if !contents.is_empty() => meaning.contents(&contents).await,
        _ => vec![None; contents.len()],
    }
}

fn stored(added: Added) -> Result<Stored, Error> {
    match added {
        Added::Created(memory) => Ok(Stored {
            memory,
            reinforced: false,
            revived: None,
            redacted: Vec::new(),
        }),
        Added::Reinforced { memory, revived } => Ok(Stored {
            memory,
            reinforced: true,
            revived,
            redacted: Vec::new(),
        }),
        Added::Corrected(id) => Err(Error::Corrected(id)),
        Added::NothingToSupersede(id) => Err(Error::NotFound(id.to_string())),
        // 80 random bits were drawn twice.
        Added::IdTaken => Err(Error::invalid(
            "id",
            "the new id is taken, please try again",
        )),
    }
}

/// How much attention each keyword of a memory gains: more the more it moves.
pub fn attention_gained(emotion: &Emotion, settings: &Settings) -> f64 {
    settings.attention_base_increment + emotion.intensity * settings.attention_emotion_factor
}

/// The memory that an id, a key, or the unique beginning of an id stands for.
///
/// # Errors
/// When there is none or several, or the store fails.
pub async fn resolve(app: &App, scope: &Scope, reference: &str) -> Result<MemoryId, Error> {
    match app.store.resolve(scope, reference).await? {
        Resolved::One(id) => Ok(id),
        Resolved::None => Err(Error::NotFound(reference.to_owned())),
        Resolved::Ambiguous(candidates) => Err(Error::Ambiguous {
            reference: reference.to_owned(),
            candidates,
        }),
    }
}

/// Changes a memory; `content` is analysed anew.
///
/// # Errors
/// When a value is invalid, there is no such memory, another has the content, or the store fails.
pub async fn edit(
    app: &App,
    scope: &Scope,
    reference: &str,
    content: Option<String>,
    mut edit: Edit,
    now: DateTime<Utc>,
) -> Result<Memory, Error> {
    let masks = redacts(&app.settings, Origin::Person);
    if let Some(metadata) = &mut edit.metadata {
        validate::metadata(metadata).map_err(|error| Error::Invalid(vec![error]))?;
        if masks {
            secrets::mask_all(&mut String::new(), metadata);
        }
    }
    if let Some(content) = content {
        let mut content = validate::content(content, &app.settings)
            .map_err(|error| Error::Invalid(vec![error]))?;
        if masks {
            content = secrets::without_secrets(content);
        }
        let analysis = app.analyser.content(&content);
        edit.vector = vectors(app, vec![content.clone()]).await.pop().flatten();
        edit.content = Some((content, analysis));
    }
    if let Some(tags) = edit.tags.take() {
        let (tags, shared) = validate::tags(tags).map_err(|error| Error::Invalid(vec![error]))?;
        edit.shared = edit.shared.or(shared.then_some(true));
        edit.tags = Some(tags);
    }
    let id = resolve(app, scope, reference).await?;
    match app.store.edit(scope, &id, edit, now).await? {
        Edited::Done(memory) => Ok(memory),
        Edited::NotFound => Err(Error::NotFound(reference.to_owned())),
        Edited::SameAs(twin) => Err(Error::SameContent(twin)),
    }
}

/// Records whether a memory was useful; its id and the new sum.
///
/// # Errors
/// When there is no such memory or the store fails.
pub async fn feedback(
    app: &App,
    scope: &Scope,
    reference: &str,
    useful: bool,
    now: DateTime<Utc>,
) -> Result<(MemoryId, f64), Error> {
    let id = resolve(app, scope, reference).await?;
    let change = if useful { USEFUL } else { USELESS };
    let sum = app.store.give_feedback(scope, &id, change, now).await?;
    let sum = sum.ok_or_else(|| Error::NotFound(reference.to_owned()))?;
    app.metrics.judged(useful);
    Ok((id, sum))
}

/// Marks a memory as wrong, so that it is never shown again, or takes that back.
///
/// # Errors
/// When there is no such memory or the store fails.
pub async fn correct(
    app: &App,
    scope: &Scope,
    reference: &str,
    wrong: bool,
    now: DateTime<Utc>,
) -> Result<Memory, Error> {
    let id = resolve(app, scope, reference).await?;
    app.store
        .correct(scope, &id, wrong, now)
        .await?
        .ok_or_else(|| Error::NotFound(reference.to_owned()))
}
