//! English stems.

use rust_stemmers::{Algorithm, Stemmer};

use super::Ingredients;

/// Shortest word that has a stem other than itself.
const SHORTEST: usize = 3;

/// The Snowball English stem of a folded word; a word of another language is its own stem.
pub fn stem(word: &str, ingredients: Ingredients) -> String {
    let english =
        word.len() >= SHORTEST && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'');
    if english && ingredients.stems {
        Stemmer::create(Algorithm::English).stem(word).into_owned()
    } else {
        word.to_owned()
    }
}
