//! From what a query says and also means to the terms that are looked for.

use std::collections::HashMap;

use crate::analysis::content::key_term;
use crate::analysis::dates;
use crate::analysis::query::Concept;
use crate::analysis::terms::Term;
use crate::analysis::{QueryAnalysis, entity_term, tag_term};
use crate::app::Switches;
use crate::config::Settings;
use crate::query::{Claim, Plan, QueryTerm, Via};

use super::Request;
use super::expansion::Expansions;

/// Weights beside the query's own words, which weigh up to 1.0. Measured on the evaluation sets;
/// synonyms and co-occurring entities, which those lack, weigh less than any own word must.
const DATE: f64 = 0.5;
const TAG: f64 = 0.1;
const ENTITY: f64 = 0.1;
const SYNONYM: f64 = 0.5;
const COOCCURRENCE: f64 = 0.2;

/// Plans a query.
pub fn plan(
    analysis: &QueryAnalysis,
    expansions: &Expansions,
    request: &Request,
    settings: &Settings,
    switches: Switches,
) -> Plan {
    let mut builder = Builder::default();
    let telling = |concept: &&Concept| !concept.stop;
    if analysis.concepts.iter().any(|concept| telling(&concept)) {
        analysis
            .concepts
            .iter()
            .filter(telling)
            .for_each(|concept| builder.concept(concept));
    } else {
        // Stop words decide no match beside others, but a query of nothing else has only them.
        analysis
            .concepts
            .iter()
            .for_each(|concept| builder.stop_words(concept));
    }
    if switches.dates {
        for date in &analysis.dates {
            let index = builder.add(date.term.clone(), DATE, Via::Own, &date.words, false);
            builder.claims.push(Claim {
                proofs: vec![(index, 1.0)],
                commonness: date.commonness,
            });
        }
    }
    if let Some(window) = request.window {
        for (term, words) in dates::within(window.start, window.end) {
            builder.add(term, DATE, Via::Window, &words, false);
        }
    }
    for entity in &analysis.entities {
        builder.add(entity_term(entity), ENTITY, Via::Entity, entity, false);
    }
    for concept in analysis.concepts.iter().filter(telling) {
        builder.add(tag_term(&concept.text), TAG, Via::Tag, &concept.text, false);
    }
    for (synonym, word) in &expansions.synonyms {
        builder.add(
            key_term(synonym),
            SYNONYM,
            Via::Synonym,
            &format!("{synonym} for {word}"),
            true,
        );
    }
    for (other, entity) in &expansions.cooccurring {
        builder.add(
            entity_term(other),
            COOCCURRENCE,
            Via::Cooccurrence,
            &format!("{other} with {entity}"),
            false,
        );
    }
    Plan {
        terms: builder.terms,
        vector: None,
        claims: builder.claims,
        filters: request.filters.clone(),
        pool: request
            .pool
            .unwrap_or_else(|| settings.candidate_pool.max(settings.bm25_limit)),
        neighbours: switches.neighbours,
    }
}

#[derive(Default)]
struct Builder {
    terms: Vec<QueryTerm>,
    claims: Vec<Claim>,
    indices: HashMap<Term, usize>,
}

impl Builder {
    /// Adds a term, or raises the weight of one that is there.
    fn add(&mut self, term: Term, weight: f64, via: Via, detail: &str, by_length: bool) -> usize {
        let index = *self.indices.entry(term.clone()).or_insert(self.terms.len());
        match self.terms.get_mut(index) {
            Some(there) => there.weight = there.weight.max(weight),
            None => self.terms.push(QueryTerm {
                term,
                weight,
                via,
                detail: detail.to_owned(),
                by_length,
            }),
        }
        index
    }

    fn concept(&mut self, concept: &Concept) {
        let mut proofs = Vec::with_capacity(concept.terms.len());
        for part in &concept.terms {
            let index = self.add(part.term.clone(), part.weight, Via::Own, &part.text, true);
            proofs.push((index, part.share));
        }
        if proofs.iter().any(|(_, share)| *share > 0.0) {
            self.claims.push(Claim {
                proofs,
                commonness: concept.commonness,
            });
        }
    }

    fn stop_words(&mut self, concept: &Concept) {
        for part in &concept.terms {
            self.add(part.term.clone(), part.weight, Via::Own, &part.text, true);
        }
    }
}
