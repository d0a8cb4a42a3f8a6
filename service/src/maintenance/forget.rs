//! Forgetting: what is old and nobody valued, felt or found goes to the trash; what was in the trash
//! long enough is deleted for good.
//!
//! Only active memories are forgotten. Those that are hidden already (expired, superseded, consumed,
//! corrected) stay, since whoever hid them may want them back.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::report::Item;
use super::work::{BATCH, Work};
use crate::analysis::content::key_term;
use crate::analysis::terms::Term;
use crate::config::Settings;
use crate::error::Error;
use crate::memory::{Memory, MemoryId, State};
use crate::ranking::Weights;
use crate::ranking::factors::attention;
use crate::scope::Scope;
use crate::store::{Change, Revision};
use crate::write::attention_gained;

/// From here on an emotion keeps a memory.
const STRONG_EMOTION: f64 = 0.3;
/// Above this, attention keeps a memory.
const ATTENTION: f64 = 1.1;
/// What consolidation calls the entries that it makes.
pub const CONSOLIDATED: &str = "consolidated";

/// Goes through every memory.
///
/// # Errors
/// When the store fails.
pub async fn run(work: &mut Work<'_>) -> Result<(), Error> {
    work.app.store_recalls().await?;
    let mut kept = BTreeMap::new();
    let mut after = work.resume().await?;
    loop {
        let batch = work.app.store.scan(after.as_ref(), BATCH).await?;
        let Some(last) = batch.last().map(|memory| memory.id.clone()) else {
            break;
        };
        let full = examine(work, batch, &mut kept).await?;
        if full {
            break;
        }
        work.reached(&last).await?;
        after = Some(last);
    }
    work.tell("kept", json!(kept));
    Ok(())
}

/// One batch; whether no more may be changed.
async fn examine(
    work: &mut Work<'_>,
    batch: Vec<Memory>,
    kept: &mut BTreeMap<&'static str, u64>,
) -> Result<bool, Error> {
    let ids: Vec<MemoryId> = batch.iter().map(|memory| memory.id.clone()).collect();
    let found = work.app.store.last_retrieved(&ids).await?;
    let (mut revisions, mut items): (Vec<Revision>, Vec<Item>) = (Vec::new(), Vec::new());
    let mut full = false;
    for (memory, retrieved) in batch.into_iter().zip(found) {
        if !work.concerns(&memory) {
            continue;
        }
        let decision = decide(work, &memory, retrieved).await?;
        if !matches!(decision, Decision::Hidden) {
            work.examined(1);
        }
        let (action, reasons) = match decision {
            Decision::Hidden => continue,
            Decision::Keep(reason) => {
                *kept.entry(reason).or_default() += 1;
                continue;
            }
            Decision::Forget(reasons) => ("forget", reasons),
            Decision::Purge(reason) => ("purge", vec![reason]),
        };
        if revisions.len() as u64 >= work.room() {
            full = true;
            break;
        }
        items.push(Item {
            id: memory.id.to_string(),
            action,
            other_id: None,
            reasons,
        });
        revisions.push(vec![match action {
            "purge" => Change::purge(memory),
            _ => {
                let mut after = memory.clone();
                after.fate.trashed_at = Some(work.now);
                after.updated_at = work.now;
                Change::replace(memory, after)
            }
        }]);
    }
    let made = work.revise(revisions).await?;
    for (item, _) in items.into_iter().zip(made).filter(|(_, made)| *made) {
        work.changed(1);
        work.item(item);
    }
    Ok(full)
}

enum Decision {
    /// None of our business.
    Hidden,
    /// Why it stays.
    Keep(&'static str),
    /// Why it goes.
    Forget(Vec<String>),
    Purge(String),
}

async fn decide(
    work: &Work<'_>,
    memory: &Memory,
    retrieved: Option<DateTime<Utc>>,
) -> Result<Decision, Error> {
    let settings = &work.app.settings.maintenance;
    if let Some(trashed_at) = memory.fate.trashed_at {
        let days = (work.now - trashed_at).num_days();
        return Ok(if work.now - trashed_at >= days_of(settings.trash_days) {
            Decision::Purge(format!("in the trash for {days} days"))
        } else {
            Decision::Hidden
        });
    }
    if memory.state(work.now) != State::Active {
        return Ok(Decision::Hidden);
    }
    let scope = Scope {
        namespace: memory.namespace.clone(),
        agent: memory.agent.clone(),
        primary: false,
    };
    let signals = work.app.signals(&scope, work.now).await?;
    let weights = Weights {
        factor_influence: 1.0,
        ..work.app.settings.weights
    };
    let others = attention_of_others(memory, &signals.attention, &work.app.settings);
    let max_age = days_of(settings.forget_max_age_days);
    Ok(
        match grounds(memory, retrieved, &others, &weights, max_age, work.now) {
            Ok(reasons) => Decision::Forget(reasons),
            Err(reason) => Decision::Keep(reason),
        },
    )
}

/// The attention of the top topics without what the memory itself brought: in a small store every
/// memory would else keep itself.
fn attention_of_others(
    memory: &Memory,
    topics: &[(Term, f64)],
    settings: &Settings,
) -> Vec<(Term, f64)> {
    let gained = attention_gained(&memory.analysis.emotion, settings) * f64::from(memory.mentions);
    let own: Vec<Term> = memory
        .analysis
        .keywords
        .iter()
        .map(|keyword| key_term(keyword))
        .collect();
    let others = topics.iter().map(|(term, score)| {
        let score = match own.contains(term) {
            true => (score - gained).max(0.0),
            false => *score,
        };
        (term.clone(), score)
    });
    others.collect()
}

fn days_of(days: u32) -> TimeDelta {
    TimeDelta::days(i64::from(days))
}

/// Why an active memory is forgotten, or else why it is kept.
pub fn grounds(
    memory: &Memory,
    retrieved: Option<DateTime<Utc>>,
    attention: &[(Term, f64)],
    weights: &Weights,
    max_age: TimeDelta,
    now: DateTime<Utc>,
) -> Result<Vec<String>, &'static str> {
    let emotion = &memory.analysis.emotion;
    let (intensity, polarity) = (emotion.intensity, emotion.polarity);
    let told_at = memory.told_at();
    if memory.details.pinned {
        return Err("pinned");
    }
    if memory.level > 0 || memory.details.entry_type.as_deref() == Some(CONSOLIDATED) {
        return Err("consolidated");
    }
    // What lies at or before the beginning of computers' time is a time that nobody knew.
    if memory.created_at <= DateTime::UNIX_EPOCH {
        return Err("unknown age");
    }
    if now - told_at <= max_age {
        return Err("young");
    }
    if memory.feedback > 0.0 {
        return Err("positive feedback");
    }
    if intensity >= STRONG_EMOTION || polarity.abs() >= STRONG_EMOTION {
        return Err("emotion");
    }
    if retrieved.is_some_and(|at| now - at <= max_age) {
        return Err("retrieved");
    }
    let holds = |term: &Term| memory.analysis.terms.contains(term);
    let weight = attention::factor(attention, holds, weights);
    if weight > ATTENTION {
        return Err("attention");
    }
    let last = match retrieved {
        Some(at) => format!("last retrieved {} days ago", (now - at).num_days()),
        None => "never retrieved".to_owned(),
    };
    Ok(vec![
        format!("{} days old", (now - told_at).num_days()),
        format!("feedback {}", memory.feedback),
        format!("emotion intensity {intensity:.2}, polarity {polarity:.2}"),
        format!("attention weight {weight:.2}"),
        last,
    ])
}
