//! Writing: validate, analyse, embed, store in one atomic step with the counters, answer.

pub mod import;
pub mod validate;

use chrono::{DateTime, SubsecRound, Utc};

use crate::analysis::emotion::Emotion;
use crate::app::App;
use crate::clock::new_id;
use crate::config::Settings;
use crate::error::Error;
use crate::memory::{Details, Edit, Memory, MemoryId, NewMemory, NewVector, Place, State};
use crate::scope::Scope;
use crate::store::{Added, Edited, Resolved};

/// "Useful" adds this to the feedback of a memory, "useless" takes the other.
const USEFUL: f64 = 1.0;
const USELESS: f64 = -2.0;

/// A memory that someone wants stored, as asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Draft {
    pub content: String,
    pub place: Place,
    pub details: Details,
    /// The time that it is about; now if absent.
    pub created_at: Option<DateTime<Utc>>,
    /// Id, key or unique beginning of the id of the memory that it replaces.
    pub supersedes: Option<String>,
    /// Store it even if the same content was corrected.
    pub force: bool,
}

/// A stored memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub memory: Memory,
    /// It was there before.
    pub reinforced: bool,
    /// What hid it before, if something did.
    pub revived: Option<State>,
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
    let mut results: Vec<Result<Option<Stored>, Error>> = Vec::with_capacity(drafts.len());
    let mut accepted = Vec::new();
    for draft in drafts {
        let prepared = prepare(app, scope, draft, now).await;
        results.push(prepared.map(|memory| {
            accepted.push(memory);
            None
        }));
    }
    let contents = accepted.iter().map(|memory| memory.content.clone());
    let vectors = vectors(app, contents.collect()).await;
    for (memory, vector) in accepted.iter_mut().zip(vectors) {
        memory.vector = vector;
    }
    let mut added = app.store.add(scope, accepted, now).await?.into_iter();
    let answer = |result: Result<Option<Stored>, Error>| {
        result.and_then(|_| stored(added.next().expect("the store answers for each memory")))
    };
    Ok(results.into_iter().map(answer).collect())
}

/// Checks a draft and analyses its content.
async fn prepare(
    app: &App,
    scope: &Scope,
    draft: Draft,
    now: DateTime<Utc>,
) -> Result<NewMemory, Error> {
    let (content, details) =
        validate::draft(draft.content, draft.details, &draft.place, &app.settings)?;
    let analysis = app.analyser.content(&content);
    let supersedes = match draft.supersedes {
        Some(reference) => Some(resolve(app, scope, &reference).await?),
        None => None,
    };
    Ok(NewMemory {
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
    })
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
        }),
        Added::Reinforced { memory, revived } => Ok(Stored {
            memory,
            reinforced: true,
            revived,
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
    if let Some(content) = content {
        let content = validate::content(content, &app.settings)
            .map_err(|error| Error::Invalid(vec![error]))?;
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
    sum.map(|sum| (id, sum))
        .ok_or_else(|| Error::NotFound(reference.to_owned()))
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
