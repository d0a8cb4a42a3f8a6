//! A real HTTP service that embeds as that of `OpenAI` does, well-behaved or not.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use keepsake::embedding::Choice;
use keepsake::embedding::choice::Wish;
use keepsake::secret::Secret;
use serde_json::{Value, json};

/// How a service behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Manner {
    Good,
    /// Never answers in time.
    Slow,
    /// Vectors of another size.
    Dimension(usize),
    /// `null` where numbers belong.
    NotNumbers,
    Zero,
    Empty,
    /// One vector too few.
    Short,
    /// Not JSON at all.
    Garbage,
    /// Refuses for good.
    Refuses,
    /// Too many requests: so many refusals, each asking to wait a second, then good.
    Busy(usize),
    /// Fails so many times, then good.
    Fails(usize),
}

/// What came in.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) batches: Vec<usize>,
    pub(crate) texts: Vec<String>,
    pub(crate) keys: Vec<String>,
}

struct Inner {
    manner: Mutex<Manner>,
    seen: Mutex<Seen>,
}

/// The service, on a free port until it is dropped.
pub(crate) struct VectorService {
    url: String,
    inner: Arc<Inner>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl VectorService {
    pub(crate) fn start(manner: Manner) -> VectorService {
        let inner = Arc::new(Inner {
            manner: Mutex::new(manner),
            seen: Mutex::default(),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let routes = Router::new()
            .route("/v1/embeddings", post(embed))
            .with_state(inner.clone());
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    _ = axum::serve(listener, routes) => {},
                    _ = stopped => {},
                }
            });
        });
        VectorService {
            url,
            inner,
            stop: Some(stop),
        }
    }

    pub(crate) fn become_(&self, manner: Manner) {
        *self.inner.manner.lock().unwrap() = manner;
    }

    /// What came in since this was last asked.
    pub(crate) fn seen(&self) -> Seen {
        std::mem::take(&mut self.inner.seen.lock().unwrap())
    }

    /// The setting that sends texts here.
    pub(crate) fn choice(&self, model: &str) -> Choice {
        let wish = Wish {
            base_url: self.url.clone(),
            model: model.to_owned(),
            ..Wish::default()
        };
        let Choice::Remote(mut endpoint) = wish.choice().unwrap() else {
            panic!("an address is a reason to ask a service");
        };
        endpoint.api_key = Secret::new("secret-key");
        Choice::Remote(endpoint)
    }
}

impl Drop for VectorService {
    fn drop(&mut self) {
        // A service that has ended already needs no word.
        let _ = self.stop.take().unwrap().send(());
    }
}

async fn embed(
    State(inner): State<Arc<Inner>>,
    headers: HeaderMap,
    Json(question): Json<Value>,
) -> Response {
    let model = question["model"].as_str().unwrap().to_owned();
    let texts: Vec<String> = serde_json::from_value(question["input"].clone()).unwrap();
    {
        let mut seen = inner.seen.lock().unwrap();
        seen.batches.push(texts.len());
        seen.texts.extend(texts.clone());
        let key = headers
            .get("authorization")
            .map(|key| key.to_str().unwrap());
        seen.keys.extend(key.map(str::to_owned));
    }
    let manner = *inner.manner.lock().unwrap();
    let mut dimension = 256;
    match manner {
        Manner::Slow => tokio::time::sleep(Duration::from_secs(600)).await,
        Manner::Dimension(other) => dimension = other,
        Manner::Garbage => return "<html>not what you wanted</html>".into_response(),
        Manner::Refuses => return StatusCode::UNAUTHORIZED.into_response(),
        Manner::Busy(times) | Manner::Fails(times) if times > 0 => {
            let busy = matches!(manner, Manner::Busy(_));
            let (status, next) = if busy {
                (StatusCode::TOO_MANY_REQUESTS, Manner::Busy(times - 1))
            } else {
                (StatusCode::INTERNAL_SERVER_ERROR, Manner::Fails(times - 1))
            };
            *inner.manner.lock().unwrap() = next;
            return (status, [("retry-after", "1")]).into_response();
        }
        _ => {}
    }
    let mut data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            let vector = match manner {
                Manner::NotNumbers => json!([null, null]),
                Manner::Zero => json!(vec![0.0; dimension]),
                Manner::Empty => json!([]),
                _ => json!(vector(&model, text, dimension)),
            };
            json!({"index": index, "embedding": vector})
        })
        .collect();
    // The order of an answer means nothing: the index does.
    data.reverse();
    if manner == Manner::Short {
        data.pop();
    }
    Json(json!({"data": data, "model": model})).into_response()
}

/// A vector by the words of a text: texts with a word in common are near, and `automobile` means `car`.
fn vector(model: &str, text: &str, dimension: usize) -> Vec<f32> {
    let mut vector = vec![0.01; dimension];
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    for word in words.filter(|word| word.len() > 2) {
        let word = if word == "automobile" { "car" } else { word };
        let mut hasher = DefaultHasher::new();
        (model, word).hash(&mut hasher);
        vector[hasher.finish() as usize % dimension] += 1.0;
    }
    vector
}
