//! What the parts below Keepsake cost by themselves.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, Term};

use keepsake::analysis::{Analyser, Ingredients};
use keepsake::query::{Candidate, Plan, QueryTerm, Retrieved, Statistics, Via};
use keepsake::ranking::fusion::Fusion;
use keepsake::ranking::{Weights, rank};
use keepsake::signals::Signals;

use crate::corpus::Corpus;
use crate::{median, report};

/// The median of tantivy's own search for the same words, best 100, in the service's index: no
/// filters, no scoring of ours, no memories read.
pub(crate) fn bare_query(folder: &Path, questions: &[String]) -> Option<Duration> {
    let index = Index::open_in_dir(folder.join("index")).ok()?;
    let field = index.schema().get_field("terms").ok()?;
    let searcher = index.reader().ok()?.searcher();
    let analyser = Analyser::new("", Ingredients::default());
    let mut times: Vec<Duration> = questions
        .iter()
        .map(|question| {
            let terms = analyser
                .query(question)
                .concepts
                .into_iter()
                .filter(|concept| !concept.stop);
            let clauses: Vec<(Occur, Box<dyn Query>)> = terms
                .flat_map(|concept| concept.terms)
                .map(|part| {
                    let term = Term::from_field_text(field, &format!("default {}", part.term));
                    let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                    (Occur::Should, Box::new(query) as Box<dyn Query>)
                })
                .collect();
            let began = Instant::now();
            black_box(
                searcher
                    .search(
                        &BooleanQuery::new(clauses),
                        &TopDocs::with_limit(100).order_by_score(),
                    )
                    .ok(),
            );
            began.elapsed()
        })
        .collect();
    Some(median(&mut times))
}

/// The median of a commit of one short row by SQLite alone, durable, on the same disk.
pub(crate) fn bare_commit(folder: &Path, writes: usize) -> Duration {
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let connection =
        rusqlite::Connection::open(folder.path().join("bare.db")).expect("SQLite opens");
    connection
        .execute_batch(
            "PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE rows (text TEXT)",
        )
        .expect("a table");
    let mut times: Vec<Duration> = (0..writes)
        .map(|number| {
            let began = Instant::now();
            connection
                .execute("INSERT INTO rows VALUES (?1)", [format!("row {number}")])
                .expect("a row");
            began.elapsed()
        })
        .collect();
    median(&mut times)
}

/// Scoring and ranking 100 candidates.
pub(crate) fn ranking() {
    let analyser = Analyser::new("", Ingredients::default());
    let mut corpus = Corpus::new(3);
    let now = chrono::DateTime::from_timestamp(1_772_442_000, 0).expect("a time");
    let terms: Vec<QueryTerm> = analyser
        .query(&corpus.everyday_question())
        .concepts
        .into_iter()
        .flat_map(|concept| concept.terms)
        .map(|part| QueryTerm {
            term: part.term,
            weight: part.weight,
            via: Via::Own,
            detail: part.text,
            by_length: true,
        })
        .collect();
    let plan = Plan {
        terms,
        vector: None,
        claims: vec![],
        filters: keepsake::query::Filters::default(),
        pool: 100,
        neighbours: true,
    };
    let candidates = (0..100).map(|number| {
        let mut dice = fastrand::Rng::with_seed(number);
        Candidate {
            memory: std::sync::Arc::new(memory(&analyser, &corpus.text(), number, now)),
            frequencies: plan.terms.iter().map(|_| u32::from(dice.bool())).collect(),
            cosine: None,
            retrieved: true,
        }
    });
    let retrieved = Retrieved {
        candidates: candidates.collect(),
        statistics: Statistics {
            memories: 100_000,
            mean_length: 20.0,
            document_frequencies: plan.terms.iter().map(|_| 500).collect(),
        },
        ..Retrieved::default()
    };
    let signals = Signals::new(
        &[],
        std::collections::HashMap::new(),
        now.date_naive(),
        30.0,
    );
    let mut times: Vec<Duration> = (0..500)
        .map(|_| {
            let began = Instant::now();
            black_box(rank(
                Fusion::new(&plan, &retrieved, None).similarities(),
                &signals,
                &Weights::default(),
                now,
            ));
            began.elapsed()
        })
        .collect();
    report("score and rank 100 candidates", 0, &mut times, None);
}

fn memory(
    analyser: &Analyser,
    content: &str,
    number: u64,
    now: chrono::DateTime<chrono::Utc>,
) -> keepsake::memory::Memory {
    keepsake::memory::Memory {
        id: keepsake::memory::MemoryId::new(format!("bench{number:011}")),
        content: content.to_owned(),
        namespace: "default".to_owned(),
        agent: None,
        place: keepsake::memory::Place::default(),
        details: keepsake::memory::Details::default(),
        created_at: now,
        updated_at: now,
        reinforced_at: None,
        fate: keepsake::memory::Fate::default(),
        mentions: 1,
        feedback: 0.0,
        level: 0,
        sources: vec![],
        analysis: analyser.content(content),
    }
}
