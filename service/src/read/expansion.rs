//! What a query also means: synonyms of its words, entities that occur together with its own.

use std::collections::HashSet;

use crate::analysis::QueryAnalysis;
use crate::analysis::normalise::fold;
use crate::app::App;
use crate::scope::Scope;
use crate::signals::Signals;
use crate::store::StoreError;

/// Most words or entities of a query that are expanded, so that a pasted text stays cheap.
const MOST_EXPANDED: usize = 16;

/// Words and entities added to a query, each with the word that it comes from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Expansions {
    /// Synonym, and the word of the query.
    pub synonyms: Vec<(String, String)>,
    /// Co-occurring entity, and the entity of the query.
    pub cooccurring: Vec<(String, String)>,
}

/// Expands by one hop. Expansions never repeat what the query says itself.
///
/// # Errors
/// When the store fails.
pub async fn expand(
    app: &App,
    scope: &Scope,
    analysis: &QueryAnalysis,
    signals: &Signals,
) -> Result<Expansions, StoreError> {
    let mut said: HashSet<String> = analysis.words.iter().cloned().collect();
    said.extend(analysis.entities.iter().map(|entity| fold(entity)));
    let mut expansions = Expansions::default();
    let telling = analysis.concepts.iter().filter(|concept| !concept.stop);
    for concept in telling
        .filter(|concept| signals.synonyms.contains_key(&concept.text))
        .take(MOST_EXPANDED)
    {
        for synonym in &signals.synonyms[&concept.text] {
            if said.insert(synonym.clone()) {
                expansions
                    .synonyms
                    .push((synonym.clone(), concept.text.clone()));
            }
        }
    }
    let settings = &app.settings;
    for entity in analysis.entities.iter().take(MOST_EXPANDED) {
        let related = app
            .store
            .related_entities(
                scope,
                entity,
                settings.entity_cooc_top_n,
                settings.entity_cooc_min_count,
            )
            .await?;
        for (other, _) in related {
            if said.insert(fold(&other)) {
                expansions.cooccurring.push((other, entity.clone()));
            }
        }
    }
    Ok(expansions)
}
