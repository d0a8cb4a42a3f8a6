//! Skills of an agent's host, found on demand: collections of their own, ranked by the words and the
//! meaning that rank memories, without what only memories have: age, emotion, feedback, topics.

pub mod front_matter;
mod prepared;
pub mod shelf;

use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::error::Error;
use crate::store::Record;
use prepared::Prepared;
use shelf::Shelf;

/// The kind of record that a collection is kept as.
const KIND: &str = "skills";

/// Most skills of a collection.
pub const MAX_SKILLS: usize = 5_000;
/// Longest path and hash, and longest front matter, in characters.
const MAX_PATH_CHARS: usize = 4_096;
const MAX_HASH_CHARS: usize = 256;
const MAX_FRONT_MATTER_CHARS: usize = 65_536;

/// A skill as a client has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Where it is, for the client; it tells skills apart.
    pub path: String,
    /// Raw YAML.
    pub front_matter: String,
    /// Of the client's making: another one means that the skill changed.
    pub hash: String,
}

/// A skill of a collection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    pub path: String,
    pub name: String,
    /// May be empty.
    pub description: String,
    pub tags: Vec<String>,
    pub hash: String,
}

/// A skill that is not taken, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub path: String,
    pub reason: String,
}

/// What became of a collection that was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// Skills that it holds now.
    pub count: usize,
    /// Skills that are new, differ, or are gone.
    pub changed: usize,
    pub refused: Vec<Refused>,
}

/// A skill that fits a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    pub skill: Skill,
    /// 0.0 to 1.0, relative to the best.
    pub score: f64,
}

/// Skills that fit, best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    pub matches: Vec<Match>,
    /// What could not be done.
    pub degraded: Vec<String>,
}

/// Makes `given` the whole of a collection. One skill that cannot be taken spoils no other.
///
/// # Errors
/// When the store fails; then nothing changed.
pub async fn put(
    app: &App,
    shelf: &Shelf,
    namespace: &str,
    collection: &str,
    given: Vec<Given>,
) -> Result<Put, Error> {
    let mut refused = Vec::new();
    let mut skills: Vec<Skill> = Vec::with_capacity(given.len());
    let mut paths = std::collections::HashSet::new();
    for one in given {
        let path = one.path.clone();
        let taken = read(one).and_then(|skill| match paths.insert(skill.path.clone()) {
            true => Ok(skill),
            false => Err("the path was there before in the request".to_owned()),
        });
        match taken {
            Ok(skill) => skills.push(skill),
            Err(reason) => refused.push(Refused { path, reason }),
        }
    }
    skills.sort_by(|left, right| left.path.cmp(&right.path));
    let before = list(app, namespace, collection).await?;
    let changed = differing(&before, &skills);
    if changed > 0 {
        let text = encode(&skills);
        let record = Record::new(collection, text.clone());
        app.store.put_record(KIND, namespace, record, None).await?;
    }
    let count = skills.len();
    // Nobody's first search should wait for it.
    prepared(app, shelf, namespace, collection).await?;
    Ok(Put {
        count,
        changed,
        refused,
    })
}

/// The skills of a collection, in the order of their paths; one that nobody put is empty.
///
/// # Errors
/// When the store fails.
pub async fn list(app: &App, namespace: &str, collection: &str) -> Result<Vec<Skill>, Error> {
    let text = app.store.record(KIND, namespace, collection).await?;
    Ok(text.map_or_else(Vec::new, |text| decode(&text)))
}

/// The at most `top_k` skills that fit a request; none when none does.
///
/// # Errors
/// When the store fails.
pub async fn search(
    app: &App,
    shelf: &Shelf,
    namespace: &str,
    collection: &str,
    query: &str,
    top_k: usize,
) -> Result<Found, Error> {
    if crate::read::gates::message(query, &app.settings).is_some() {
        return Ok(Found::default());
    }
    match prepared(app, shelf, namespace, collection).await? {
        Some(prepared) => Ok(prepared.search(app, query, top_k).await),
        None => Ok(Found::default()),
    }
}

/// A collection ready to be searched, made anew if it changed.
async fn prepared(
    app: &App,
    shelf: &Shelf,
    namespace: &str,
    collection: &str,
) -> Result<Option<std::sync::Arc<Prepared>>, Error> {
    let Some(text) = app.store.record(KIND, namespace, collection).await? else {
        return Ok(None);
    };
    Ok(Some(shelf.get(app, namespace, collection, text).await))
}

/// Reads one skill; why it cannot be taken.
fn read(given: Given) -> Result<Skill, String> {
    for (what, text, most) in [
        ("path", &given.path, MAX_PATH_CHARS),
        ("hash", &given.hash, MAX_HASH_CHARS),
        ("front_matter", &given.front_matter, MAX_FRONT_MATTER_CHARS),
    ] {
        if text.chars().count() > most {
            return Err(format!("`{what}` is longer than {most} characters"));
        }
    }
    if given.path.trim().is_empty() {
        return Err("`path` must not be blank".to_owned());
    }
    let read = front_matter::read(&given.front_matter)?;
    let name = read.name.or_else(|| folder(&given.path));
    Ok(Skill {
        name: name.ok_or("it has no `name`, and its path no folder")?,
        description: read.description,
        tags: read.tags,
        path: given.path,
        hash: given.hash,
    })
}

/// The folder of a skill's file, by which hosts call a skill without a name.
fn folder(path: &str) -> Option<String> {
    let mut parts = path.rsplit(['/', '\\']);
    parts.next();
    let folder = parts.next().filter(|folder| !folder.trim().is_empty());
    folder.map(str::to_owned)
}

/// How many skills are new, differ, or are gone.
fn differing(before: &[Skill], after: &[Skill]) -> usize {
    let known: std::collections::HashMap<&str, &Skill> = before
        .iter()
        .map(|skill| (skill.path.as_str(), skill))
        .collect();
    let same = after
        .iter()
        .filter(|skill| known.get(skill.path.as_str()) == Some(skill));
    let same = same.count();
    let kept = after
        .iter()
        .filter(|skill| known.contains_key(skill.path.as_str()))
        .count();
    (after.len() - same) + (before.len() - kept)
}

fn encode(skills: &[Skill]) -> String {
    serde_json::to_string(skills).expect("strings are JSON")
}

/// A record that cannot be read is as if it were not there: the client puts the whole set again.
fn decode(text: &str) -> Vec<Skill> {
    serde_json::from_str(text).unwrap_or_else(|error| {
        tracing::error!(%error, "a collection of skills cannot be read");
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(path: &str, hash: &str) -> Skill {
        Skill {
            path: path.to_owned(),
            name: "n".to_owned(),
            description: String::new(),
            tags: Vec::new(),
            hash: hash.to_owned(),
        }
    }

    #[test]
    fn what_is_new_differs_or_is_gone_is_counted() {
        let before = [skill("a", "1"), skill("b", "1"), skill("c", "1")];
        let after = [skill("b", "2"), skill("c", "1"), skill("d", "1")];
        assert_eq!(differing(&before, &after), 3);
        assert_eq!(differing(&before, &before), 0);
        assert_eq!(differing(&[], &after), 3);
    }

    #[test]
    fn a_skill_without_a_name_is_called_as_its_folder() {
        let given = |path: &str, front_matter: &str| Given {
            path: path.to_owned(),
            front_matter: front_matter.to_owned(),
            hash: String::new(),
        };
        let named = |path, text| read(given(path, text)).map(|skill| skill.name);
        assert_eq!(
            named("x/k8s/SKILL.md", "name: kubernetes").unwrap(),
            "kubernetes"
        );
        assert_eq!(named("x/k8s/SKILL.md", "description: d").unwrap(), "k8s");
        assert!(named("SKILL.md", "description: d").is_err());
        assert!(named(" ", "name: n").is_err());
        assert!(named("a", &"x".repeat(MAX_FRONT_MATTER_CHARS + 1)).is_err());
    }
}
