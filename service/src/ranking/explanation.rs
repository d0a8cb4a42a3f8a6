//! The numbers and reasons behind a score.

/// The six factors as used; the score is exactly their product.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    pub similarity: f64,
    pub decay: f64,
    pub emotion: f64,
    pub feedback: f64,
    pub hot_topic: f64,
    pub attention: f64,
}

impl Factors {
    /// The score, multiplied in the order of the fields.
    pub fn product(&self) -> f64 {
        self.similarity
            * self.decay
            * self.emotion
            * self.feedback
            * self.hot_topic
            * self.attention
    }
}

/// What kind of match found a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FoundKind {
    Term,
    Synonym,
    Entity,
    Cooccurrence,
    Tag,
    Neighbour,
    Vector,
}

impl FoundKind {
    pub fn as_str(self) -> &'static str {
        match self {
            FoundKind::Term => "term",
            FoundKind::Synonym => "synonym",
            FoundKind::Entity => "entity",
            FoundKind::Cooccurrence => "cooccurrence",
            FoundKind::Tag => "tag",
            FoundKind::Neighbour => "neighbour",
            FoundKind::Vector => "vector",
        }
    }
}

/// One reason why a memory was found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Found {
    pub kind: FoundKind,
    /// The words that matched, or the id of the neighbour.
    pub detail: String,
}
