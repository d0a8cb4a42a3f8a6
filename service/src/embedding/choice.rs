//! Which embedder the settings ask for.

use super::remote::Endpoint;
use crate::secret::Secret;

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

/// What is written about the embedder; an empty text is as if unset. The key is not among it: it asks
/// for nothing.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    pub provider: String,
    pub base_url: String,
    pub model: String,
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

/// Which setting is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    Provider,
    BaseUrl,
}

/// A wish that cannot be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused {
    pub at: At,
    pub problem: &'static str,
    pub hint: &'static str,
}

impl Wish {
    /// The choice that this comes to: remote only if someone named a provider, an address or a model. A
    /// service still needs its key.
    ///
    /// # Errors
    /// When the provider is unknown or the address is none.
    pub fn choice(self) -> Result<Choice, Refused> {
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
            "builtin" => {
                return Err(Refused {
                    at: At::Provider,
                    problem: "which this build does not have",
                    hint: "build with the feature `builtin-model`, or name another provider",
                });
            }
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
                return Err(Refused {
                    at: At::Provider,
                    problem: "which needs `embedder.base_url`",
                    hint: "allowed is auto, builtin, model2vec, openai, dashscope, ollama, none, or any name with an address",
                });
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
            return Err(Refused {
                at: At::BaseUrl,
                problem: "which is no address",
                hint: "it begins with http:// or https://",
            });
        }
        Ok(Choice::Remote(Endpoint {
            base_url: base_url.trim_end_matches('/').to_owned(),
            model: or(self.model, model),
            provider: provider.to_owned(),
            api_key: Secret::default(),
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
}
