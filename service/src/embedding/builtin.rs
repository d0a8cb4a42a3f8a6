//! The model that is compiled in: small, English and Chinese, nothing to download.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;

use super::model2vec::Static;
use super::{EmbedError, Embedder, Model};

/// Name of the model, with the version of how texts are prepared for it.
const NAME: &str = "builtin/en-zh-static-256/1";

static MODEL: LazyLock<Result<Arc<Static>, String>> = LazyLock::new(|| {
    Static::from_static(
        NAME,
        include_bytes!("data/en-zh-static-256/tokenizer.json"),
        include_bytes!("data/en-zh-static-256/model.safetensors"),
    )
    .map(Arc::new)
});

/// The built-in model; loaded once in a process, when it is first used.
pub struct Builtin;

/// Loads the model if it is not there yet; takes a fifth of a second.
pub fn warm_up() {
    LazyLock::force(&MODEL);
}

async fn loaded() -> Result<Arc<Static>, EmbedError> {
    if LazyLock::get(&MODEL).is_none() {
        tokio::task::spawn_blocking(warm_up)
            .await
            .map_err(|error| EmbedError::Load(error.to_string()))?;
    }
    MODEL.clone().map_err(EmbedError::Load)
}

#[async_trait]
impl Embedder for Builtin {
    async fn model(&self) -> Result<Model, EmbedError> {
        Ok(loaded().await?.model().clone())
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(loaded().await?.embed_all(texts).await)
    }

    fn destination(&self) -> Option<&str> {
        None
    }

    fn name(&self) -> &str {
        "builtin"
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Made {
        text: String,
        vector: Vec<f32>,
    }

    async fn embed(text: &str) -> Vec<f32> {
        let mut vectors = Builtin.embed(&[text.to_owned()]).await.unwrap();
        vectors.pop().unwrap()
    }

    fn cosine(one: &[f32], other: &[f32]) -> f64 {
        let product = |one: &[f32], other: &[f32]| -> f64 {
            one.iter()
                .zip(other)
                .map(|(x, y)| f64::from(*x) * f64::from(*y))
                .sum()
        };
        product(one, other) / (product(one, one) * product(other, other)).sqrt()
    }

    #[tokio::test]
    async fn vectors_are_those_of_the_python_library() {
        let lines = include_str!("data/parity/vectors.ndjson").lines();
        for made in lines.map(|line| serde_json::from_str::<Made>(line).unwrap()) {
            let ours = embed(&made.text).await;
            assert_eq!(ours.len(), made.vector.len(), "{:?}", made.text);
            if !ours.is_empty() {
                let cosine = cosine(&ours, &made.vector);
                assert!(cosine >= 0.9999, "{:?}: {cosine}", made.text);
            }
        }
    }

    #[tokio::test]
    async fn what_holds_no_known_token_has_no_vector() {
        for text in ["", "  ", "...", "🙂", "안녕하세요", "\u{0}"] {
            assert_eq!(embed(text).await, Vec::<f32>::new(), "{text:?}");
        }
    }

    #[tokio::test]
    async fn a_question_is_nearer_to_its_answer_than_to_anything_else_across_languages() {
        let answer = embed("部署流程：先运行 make build，然后 kubectl apply").await;
        let other = embed("调试 JWT token 过期").await;
        let question = embed("how to deploy the application").await;
        assert!(cosine(&question, &answer) > cosine(&question, &other) + 0.1);
    }

    #[tokio::test]
    async fn unrelated_texts_are_hardly_near() {
        let noise = Builtin.model().await.unwrap().noise;
        assert!(
            noise.mean.abs() < 0.1 && noise.deviation < 0.15,
            "{noise:?}"
        );
    }
}
