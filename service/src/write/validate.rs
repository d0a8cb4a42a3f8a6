//! What a memory must be to be stored.

use chrono::SubsecRound;
use serde_json::{Map, Value};

use crate::config::Settings;
use crate::error::{Error, FieldError};
use crate::memory::{Details, Place};

/// The tag that makes a memory visible to all agents.
const SHARED_TAG: &str = "shared";
/// Tags that begin like this would look like the Python Keepsake's mark of an agent.
const RESERVED_TAG_PREFIX: &str = "agent:";
/// Longest tag and other short field, in characters.
const MAX_NAME_CHARS: usize = 256;
/// Longest metadata, in bytes of JSON.
const MAX_METADATA_BYTES: usize = 65_536;
/// Most names that a teller gives a memory.
const MAX_ENTITIES: usize = 64;
/// Most tags of a memory.
const MAX_TAGS: usize = 64;

/// Checks all fields of a draft and reports every wrong one.
///
/// # Errors
/// [`Error::Invalid`] with each wrong field.
pub fn draft(
    content: String,
    mut details: Details,
    place: &Place,
    settings: &Settings,
) -> Result<(String, Details), Error> {
    let mut errors = Vec::new();
    let mut keep = |error: FieldError| errors.push(error);
    let content = self::content(content, settings)
        .map_err(&mut keep)
        .unwrap_or_default();
    let (tags, shared) = tags(std::mem::take(&mut details.tags))
        .map_err(&mut keep)
        .unwrap_or_default();
    details.tags = tags;
    details.shared |= shared;
    details.invalid_at = details.invalid_at.map(|time| time.trunc_subsecs(3));
    for (field, value) in [
        ("category", &details.category),
        ("source", &details.source),
        ("entry_type", &details.entry_type),
        ("session", &place.session),
        ("document", &place.document),
    ] {
        if let Some(value) = value {
            name(field, value).map_err(&mut keep).unwrap_or_default();
        }
    }
    metadata(&details.metadata)
        .map_err(&mut keep)
        .unwrap_or_default();
    if place.turn.is_some() && place.session.is_none() {
        errors.push(FieldError::new(
            "turn",
            "belongs to a session, but no `session` is given",
        ));
    }
    if errors.is_empty() {
        Ok((content, details))
    } else {
        Err(Error::Invalid(errors))
    }
}

/// Checks a content: not blank, not too long. It is stored exactly as given.
///
/// # Errors
/// The wrong field.
pub fn content(content: String, settings: &Settings) -> Result<String, FieldError> {
    let length = content.chars().count();
    if content.trim().is_empty() {
        Err(FieldError::new("content", "must not be blank"))
    } else if length > settings.max_content_chars {
        Err(FieldError::new(
            "content",
            format!(
                "has {length} characters, at most {} are allowed",
                settings.max_content_chars
            ),
        ))
    } else {
        Ok(content)
    }
}

/// Checks that metadata are not too long.
///
/// # Errors
/// The wrong field.
pub fn metadata(metadata: &Map<String, Value>) -> Result<(), FieldError> {
    let length = serde_json::to_vec(metadata).map_or(0, |json| json.len());
    if length > MAX_METADATA_BYTES {
        return Err(FieldError::new(
            "metadata",
            format!("has {length} bytes, at most {MAX_METADATA_BYTES} are allowed"),
        ));
    }
    Ok(())
}

/// Checks tags and drops repeated ones; also whether the tag `shared` is among them.
///
/// # Errors
/// The wrong field.
pub fn tags(tags: Vec<String>) -> Result<(Vec<String>, bool), FieldError> {
    if tags.len() > MAX_TAGS {
        return Err(FieldError::new(
            "tags",
            format!("has {} tags, at most {MAX_TAGS} are allowed", tags.len()),
        ));
    }
    let mut unique: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        name("tags", &tag)?;
        if tag.starts_with(RESERVED_TAG_PREFIX) {
            return Err(FieldError::new(
                "tags",
                format!("`{tag}` is reserved: no tag may begin with `{RESERVED_TAG_PREFIX}`"),
            ));
        }
        if !unique.contains(&tag) {
            unique.push(tag);
        }
    }
    let shared = unique.iter().any(|tag| tag == SHARED_TAG);
    Ok((unique, shared))
}

/// Checks names that a memory is about.
///
/// # Errors
/// The wrong field.
pub fn entities(names: &[String]) -> Result<(), Error> {
    let checked = if names.len() > MAX_ENTITIES {
        let message = format!(
            "has {} names, at most {MAX_ENTITIES} are allowed",
            names.len()
        );
        Err(FieldError::new("entities", message))
    } else {
        names.iter().try_for_each(|entity| name("entities", entity))
    };
    checked.map_err(|error| Error::Invalid(vec![error]))
}

/// Checks tags to filter by; any text may be asked for, but not without end.
///
/// # Errors
/// The wrong field.
pub fn tag_filter(tags: &[String]) -> Result<(), FieldError> {
    if tags.len() > MAX_TAGS {
        let message = format!("has {} tags, at most {MAX_TAGS} are allowed", tags.len());
        return Err(FieldError::new("tag_filter", message));
    }
    tags.iter().try_for_each(|tag| name("tag_filter", tag))
}

/// Checks a short text such as a tag or a session.
///
/// # Errors
/// The wrong field.
pub fn name(field: &str, value: &str) -> Result<(), FieldError> {
    if value.trim().is_empty() {
        Err(FieldError::new(field, "must not be blank"))
    } else if value.chars().count() > MAX_NAME_CHARS {
        Err(FieldError::new(
            field,
            format!("is longer than {MAX_NAME_CHARS} characters"),
        ))
    } else {
        Ok(())
    }
}
