//! Which embedder the settings ask for.

use super::remote::{Endpoint, Secret};

/// Which embedder is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Search by words alone.
    None,
    #[cfg(feature = "builtin-model")]
    Builtin,
    /// A folder, or the name of a model that was downloaded.
    Model2Vec(String),
    Remote(Endpoint),
}

impl Default for Choice {
    fn default() -> Choice {
        #[cfg(feature = "builtin-model")]
        return Choice::Builtin;
        #[cfg(not(feature = "builtin-model"))]
        Choice::None
    }
}

/// What is written about the embedder; an empty text is as if unset.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    pub provider: String,
    pub base_url: String,
    pub model: String,
    pub api_key: String,
    /// Keys that may be meant for something else: used by their provider, and never a reason to
    /// send a text anywhere.
    pub openai_api_key: String,
    pub dashscope_api_key: String,
}

/// What a known service is like: address, model, most texts of a request, most characters of a text.
type Known = (&'static str, &'static str, usize, usize);

const OPENAI: Known = (
    "https://api.openai.com/v1",
    "text-embedding-3-small",
    64,
    6_000,
);
const DASHSCOPE: Known = (
    "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "text-embedding-v2",
    10,
    2_000,
);
const OLLAMA: Known = ("http://127.0.0.1:11434/v1", "nomic-embed-text", 64, 6_000);
const MODEL2VEC: &str = "minishlab/potion-multilingual-128M";

impl Wish {
    /// The choice that this comes to: remote only if someone named a provider, an address or a model.
    ///
    /// # Errors
    /// What is allowed instead.
    pub fn choice(self) -> Result<Choice, &'static str> {
        let provider = match self.provider.as_str() {
            "" | "auto" if self.base_url.is_empty() && self.model.is_empty() => {
                return Ok(Choice::default());
            }
            "" | "auto" if self.base_url.is_empty() => "openai",
            "" | "auto" => "openai-compatible",
            "none" => return Ok(Choice::None),
            #[cfg(feature = "builtin-model")]
            "builtin" => return Ok(Choice::Builtin),
            #[cfg(not(feature = "builtin-model"))]
            "builtin" => return Err("another one: this build has no built-in model"),
            "model2vec" => {
                let model = Some(self.model).filter(|model| !model.is_empty());
                return Ok(Choice::Model2Vec(
                    model.unwrap_or_else(|| MODEL2VEC.to_owned()),
                ));
            }
            provider => provider,
        };
        let (base_url, model, batch, chars) = match provider {
            "openai" => OPENAI,
            "dashscope" => DASHSCOPE,
            "ollama" => OLLAMA,
            _ if self.base_url.is_empty() => {
                return Err(
                    "auto, builtin, model2vec, openai, dashscope, ollama, none, or any name with `embedder.base_url`",
                );
            }
            _ => ("", "", OPENAI.2, OPENAI.3),
        };
        let or = |text: String, default: &str| {
            if text.is_empty() {
                default.to_owned()
            } else {
                text
            }
        };
        let base_url = or(self.base_url, base_url);
        if !base_url.starts_with("http://") && !base_url.starts_with("https://") {
            return Err("an embedder with an address that begins with http:// or https://");
        }
        let api_key = match provider {
            "dashscope" => or(self.api_key, &self.dashscope_api_key),
            "openai" => or(self.api_key, &self.openai_api_key),
            _ => self.api_key,
        };
        Ok(Choice::Remote(Endpoint {
            base_url: base_url.trim_end_matches('/').to_owned(),
            model: or(self.model, model),
            provider: provider.to_owned(),
            api_key: Secret::new(api_key),
            batch,
            chars,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(provider: &str, base_url: &str, model: &str) -> Wish {
        Wish {
            provider: provider.to_owned(),
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            openai_api_key: "sk-of-something-else".to_owned(),
            ..Wish::default()
        }
    }

    fn endpoint(wish: Wish) -> Endpoint {
        match wish.choice() {
            Ok(Choice::Remote(endpoint)) => endpoint,
            other => panic!("not remote: {other:?}"),
        }
    }

    #[test]
    fn a_key_alone_sends_no_text_anywhere() {
        assert_eq!(wish("", "", "").choice(), Ok(Choice::default()));
        assert_eq!(wish("auto", "", "").choice(), Ok(Choice::default()));
        assert_eq!(wish("none", "", "").choice(), Ok(Choice::None));
    }

    #[test]
    fn a_provider_an_address_or_a_model_is_a_reason() {
        assert_eq!(
            endpoint(wish("openai", "", "")).model,
            "text-embedding-3-small"
        );
        assert_eq!(
            endpoint(wish("", "", "text-embedding-3-large")).base_url,
            OPENAI.0
        );
        assert_eq!(endpoint(wish("dashscope", "", "")).base_url, DASHSCOPE.0);
        let own = endpoint(wish("auto", "http://10.0.0.1:8080/v1/", "bge-m3"));
        assert_eq!(
            (own.base_url.as_str(), own.model.as_str()),
            ("http://10.0.0.1:8080/v1", "bge-m3")
        );
        assert_eq!(
            own.api_key,
            Secret::default(),
            "a key of OpenAI goes to nobody else"
        );
    }

    #[test]
    fn an_unknown_provider_needs_an_address() {
        assert!(wish("acme", "", "").choice().is_err());
        assert_eq!(
            endpoint(wish("acme", "https://acme.example/v1", "m")).provider,
            "acme"
        );
        assert!(wish("acme", "acme.example", "m").choice().is_err());
    }

    #[test]
    fn no_debug_output_shows_a_key() {
        let openai = endpoint(wish("openai", "", ""));
        assert_eq!(openai.api_key, Secret::new("sk-of-something-else"));
        assert!(!format!("{openai:?}").contains("something-else"));
    }
}
