//! Keepsake: long-term memory for AI agents.
//!
//! Modules in the order of their dependencies, each using only those above it:
//!
//! - [`clock`], [`error`], [`keys`], [`memory`], [`metrics`], [`query`], [`scope`], [`session`], [`signals`], [`recalls`]:
//!   plain data, and the one place that reads the time
//! - [`analysis`]: text in, facts out; [`ranking`]: numbers in, order out; both pure
//! - [`store`]: where memories are kept; [`outbound`], [`embedding`], [`chat`]: models; [`meaning`]: keeps the
//!   vectors of a store complete
//! - [`config`], [`app`]: settings, and the long-lived parts put together
//! - [`mod@write`], [`read`]: the two straight lines; [`evaluation`]: how good the answers are;
//!   [`maintenance`]: what is done to memories while nobody waits
//! - [`skills`]: what an agent's host can do, found on demand
//! - [`http`], [`mcp`], [`cli`]: the ways in
//!
//! A write is [`write::add`], a read is [`read::search`] or [`read::prefetch`]; `ARCHITECTURE.md`
//! walks both.

pub mod analysis;
pub mod app;
pub mod chat;
pub mod cli;
pub mod clock;
pub mod config;
pub mod embedding;
pub mod error;
pub mod evaluation;
pub mod http;
pub mod keys;
pub mod maintenance;
pub mod mcp;
pub mod meaning;
pub mod memory;
pub mod metrics;
pub mod outbound;
pub mod parallel;
pub mod query;
pub mod ranking;
pub mod read;
pub mod recalls;
pub mod scope;
pub mod secret;
pub mod session;
pub mod signals;
pub mod skills;
pub mod store;
pub mod vector;
pub mod write;
