//! The search index: derived from the truth, and thrown away when in doubt.
//!
//! `schema` says what it holds, `files` opens, checks and writes it, `view` and `segment` search one
//! commit of it, `tail` holds what changed since, `best` keeps the best of both; `terms` is the way in.

pub(super) mod best;
pub(super) mod files;
pub(super) mod schema;
mod segment;
pub(super) mod tail;
mod terms;
pub(super) mod view;
