//! What is derived from the truth to find memories fast; it can be thrown away at any time.

pub(super) mod tail;
