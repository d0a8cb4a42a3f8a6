//! Black-box tests of the service: what the specification promises, seen over
//! HTTP and through the command line. Which fault and which user report each
//! test answers is listed in `tests/coverage.tsv`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod answers;
mod chat_service;
mod support;
mod unrelated;
mod vector_service;
mod visibility;

mod agents;
mod bank;
mod bank_flows;
mod bank_routes;
mod bulk_delete;
mod chinese;
mod cli;
mod clients;
mod consolidation;
mod duplicate_jobs;
mod duplicates;
mod embedders;
mod emotion;
mod entities;
mod evaluation;
mod forgetting;
mod fuzz;
mod heavy;
mod hostile;
mod http_batches;
mod http_lists;
mod http_memories;
mod http_problems;
mod http_shapes;
mod http_signals;
mod idempotency;
mod isolation;
mod keys;
mod maintenance;
mod meaning;
mod metrics;
mod models;
mod openapi;
mod operations;
mod pairs;
mod prefetch_block;
mod query_rows;
mod query_text;
mod quiet;
mod ranking;
mod ranking_effects;
mod reinforcement;
mod relevance;
mod routes;
mod secrets;
mod sessions;
mod skills;
mod storing;
mod synonym_jobs;
mod synonyms;
mod tags;
mod times;
mod transfer;
