//! Small texts that a way in keeps beside the memories, under names of its own.

/// A text under a key. Whoever keeps it gives it its form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub key: String,
    pub value: String,
}

impl Record {
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Record {
        Record {
            key: key.into(),
            value: value.into(),
        }
    }
}
