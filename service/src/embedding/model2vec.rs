//! Static models in the model2vec format: a table with a row for each token; a text is the mean of its
//! tokens' rows. No transformer, no chance.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use model2vec_rs::model::StaticModel;
#[cfg(feature = "builtin-model")]
use safetensors::SafeTensors;
use sha2::{Digest, Sha256};
#[cfg(feature = "builtin-model")]
use tokenizers::Tokenizer;
use tokio::sync::OnceCell;

use super::{EmbedError, Embedder, Model, noise};
use crate::parallel;

/// Files of a model, wherever it lies.
pub const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];

/// A loaded model.
pub struct Static {
    tables: StaticModel,
    model: Model,
}

impl Static {
    /// Reads the three files of a model.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn from_bytes(
        name: &str,
        tokenizer: &[u8],
        tables: &[u8],
        config: &[u8],
    ) -> Result<Static, String> {
        let tables = StaticModel::from_bytes(tokenizer, tables, config, None)
            .map_err(|error| format!("{error:#}"))?;
        Ok(Static::of(name, tables))
    }

    /// Reads a model of whole numbers whose table stays where it is, in the program.
    ///
    /// # Errors
    /// What is wrong with it.
    #[cfg(feature = "builtin-model")]
    pub fn from_static(
        name: &str,
        tokenizer: &[u8],
        tables: &'static [u8],
    ) -> Result<Static, String> {
        let tokenizer = Tokenizer::from_bytes(tokenizer).map_err(|error| error.to_string())?;
        let tables = SafeTensors::deserialize(tables).map_err(|error| error.to_string())?;
        let tensor = |name| tables.tensor(name).map_err(|error| error.to_string());
        let (rows, weights) = (tensor("embeddings")?, tensor("weights")?);
        let &[count, dimension] = rows.shape() else {
            return Err("its table has no rows".to_owned());
        };
        let (weights, _) = weights.data().as_chunks::<4>();
        let weights: Vec<f32> = weights.iter().copied().map(f32::from_le_bytes).collect();
        let tables = StaticModel::from_borrowed_i8(
            tokenizer,
            bytemuck::cast_slice(rows.data()),
            count,
            dimension,
            true,
            // Once in a process.
            Some(weights.leak()),
            None,
        );
        Ok(Static::of(
            name,
            tables.map_err(|error| format!("{error:#}"))?,
        ))
    }

    fn of(name: &str, tables: StaticModel) -> Static {
        let probes = noise::probes();
        let probed = probes.iter().map(|text| tables.encode_single(text));
        let model = Model::new(name, tables.dim(), probed.collect());
        Static { tables, model }
    }

    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The vector of a text; empty if no token of it is known.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let vector = self.tables.encode_single(text);
        if vector.iter().all(|value| *value == 0.0) {
            Vec::new()
        } else {
            vector
        }
    }
}

impl Static {
    /// The vectors of texts, each as [`Static::embed`] gives it.
    pub async fn embed_all(self: Arc<Static>, texts: &[String]) -> Vec<Vec<f32>> {
        let bytes = texts.iter().map(String::len).sum();
        parallel::map(texts.to_vec(), bytes, move |text| self.embed(&text)).await
    }
}

/// A model in a folder, loaded when it is first used.
pub struct Folder {
    name: String,
    /// Where it may lie, in this order.
    places: Vec<PathBuf>,
    loaded: OnceCell<Arc<Static>>,
}

impl Folder {
    /// `name` is a folder, or a model that was downloaded below `models`.
    pub fn new(name: &str, models: &Path) -> Folder {
        Folder {
            name: name.to_owned(),
            places: vec![PathBuf::from(name), models.join(name)],
            loaded: OnceCell::new(),
        }
    }

    async fn loaded(&self) -> Result<Arc<Static>, EmbedError> {
        let load = || async {
            let (name, places) = (self.name.clone(), self.places.clone());
            tokio::task::spawn_blocking(move || load(&name, &places))
                .await
                .map_err(|error| EmbedError::Load(error.to_string()))?
        };
        self.loaded.get_or_try_init(load).await.cloned()
    }
}

/// Reads a model from the first place that has one. Its identity is its content, not its place.
fn load(name: &str, places: &[PathBuf]) -> Result<Arc<Static>, EmbedError> {
    let folder = places
        .iter()
        .find(|folder| FILES.iter().all(|file| folder.join(file).is_file()))
        .ok_or_else(|| {
            EmbedError::Load(format!(
                "there is no model in `{name}`\nhint: `keepsake model download {name}` fetches one from the hub"
            ))
        })?;
    let read = |file: &str| {
        std::fs::read(folder.join(file))
            .map_err(|error| EmbedError::Load(format!("`{file}` of `{name}`: {error}")))
    };
    let (config, tokenizer, tables) = (
        read("config.json")?,
        read("tokenizer.json")?,
        read("model.safetensors")?,
    );
    let digest = Sha256::new()
        .chain_update(&tokenizer)
        .chain_update(&tables)
        .finalize();
    let identity = format!(
        "model2vec/{}/1",
        data_encoding::HEXLOWER.encode(&digest[..8])
    );
    Static::from_bytes(&identity, &tokenizer, &tables, &config)
        .map(Arc::new)
        .map_err(|error| EmbedError::Load(format!("`{name}`: {error}")))
}

#[async_trait]
impl Embedder for Folder {
    async fn model(&self) -> Result<Model, EmbedError> {
        Ok(self.loaded().await?.model().clone())
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(self.loaded().await?.embed_all(texts).await)
    }

    fn destination(&self) -> Option<&str> {
        None
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD_PIECE: &str = r###"{"version": "1.0", "added_tokens": [], "normalizer": {"type": "BertNormalizer",
        "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null, "decoder": null, "truncation": null, "padding": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
        "vocab": {"[UNK]": 0, "cat": 1, "dog": 2, "##s": 3}}}"###;
    const UNIGRAM: &str = r#"{"version": "1.0", "added_tokens": [], "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
        "post_processor": null, "decoder": null, "truncation": null, "padding": null,
        "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": false,
        "vocab": [["[UNK]", 0.0], ["▁cat", -1.0], ["▁dog", -1.5], ["s", -2.0]]}}"#;

    /// Tables of four rows and two columns: unknown, cat, dog, s.
    fn tables(kind: &str, numbers: &[u8]) -> Vec<u8> {
        let header = format!(
            r#"{{"embeddings":{{"dtype":"{kind}","shape":[4,2],"data_offsets":[0,{}]}}}}"#,
            numbers.len()
        );
        let length = header.len() as u64;
        [&length.to_le_bytes(), header.as_bytes(), numbers].concat()
    }

    fn f32s() -> Vec<u8> {
        let rows = [9.0_f32, 9.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
        tables("F32", &rows.map(f32::to_le_bytes).concat())
    }

    /// The same in half precision: 0x3c00 is 1.0, 0x4880 is 9.0.
    fn f16s() -> Vec<u8> {
        let rows = [0x4880_u16, 0x4880, 0x3c00, 0, 0, 0x3c00, 0x3c00, 0x3c00];
        tables("F16", &rows.map(u16::to_le_bytes).concat())
    }

    fn i8s() -> Vec<u8> {
        tables("I8", &[9, 9, 1, 0, 0, 1, 1, 1])
    }

    fn embed(tokenizer: &str, tables: &[u8], text: &str) -> Vec<f32> {
        let config = br#"{"normalize": false}"#;
        let model = Static::from_bytes("test", tokenizer.as_bytes(), tables, config);
        model.unwrap().embed(text)
    }

    #[test]
    fn every_kind_of_tokenizer_and_table_is_read() {
        for tokenizer in [WORD_PIECE, UNIGRAM] {
            for tables in [f32s(), f16s(), i8s()] {
                assert_eq!(embed(tokenizer, &tables, "Cat"), [1.0, 0.0]);
                assert_eq!(embed(tokenizer, &tables, "cat dog"), [0.5, 0.5]);
                assert_eq!(embed(tokenizer, &tables, "dogs"), [0.5, 1.0]);
            }
        }
    }

    #[test]
    fn unknown_tokens_take_no_part() {
        for tokenizer in [WORD_PIECE, UNIGRAM] {
            assert_eq!(embed(tokenizer, &f32s(), "cat 鱼"), [1.0, 0.0]);
            assert_eq!(embed(tokenizer, &f32s(), "鱼"), Vec::<f32>::new());
        }
    }

    #[test]
    fn broken_files_are_an_error_that_says_what_is_wrong() {
        let config = br#"{"normalize": false}"#;
        for (tokenizer, tables) in [
            (WORD_PIECE.as_bytes(), &b"no tensors"[..]),
            (b"{}", &f32s()),
            (WORD_PIECE.as_bytes(), &tables("F32", &[0; 8])),
        ] {
            assert!(Static::from_bytes("test", tokenizer, tables, config).is_err());
        }
    }

    #[tokio::test]
    async fn a_folder_without_a_model_says_how_to_get_one() {
        let folder = tempfile::tempdir().unwrap();
        let error = Folder::new("owner/name", folder.path()).model().await;
        assert!(
            error
                .unwrap_err()
                .to_string()
                .contains("keepsake model download owner/name")
        );
    }
}
