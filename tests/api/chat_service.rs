//! A real HTTP service that chats as that of `OpenAI` does, well-behaved or not.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use keepsake::chat::Endpoint;
use keepsake::secret::Secret;
use serde_json::{Value, json};

/// How a service behaves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Manner {
    /// Joins the notes.
    Good,
    /// Joins the notes, with one text replaced by another.
    Replacing(&'static str, &'static str),
    /// Says this, whatever it is asked.
    Saying(&'static str),
    /// Never answers in time.
    Slow,
    /// Hangs up in the middle of an answer.
    HangsUp,
    /// Not JSON at all.
    Garbage,
    /// Stops before the end and says so.
    CutOff,
    /// Refuses for good.
    Refuses,
    /// Too many requests: so many refusals, each asking to wait a second, then good.
    Busy(usize),
    /// Fails so many times, then good.
    Fails(usize),
}

struct Inner {
    manner: Mutex<Manner>,
    asked: Mutex<Vec<(String, Value)>>,
}

/// The service, on a free port until it is dropped.
pub(crate) struct ChatService {
    url: String,
    inner: Arc<Inner>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl ChatService {
    pub(crate) fn start(manner: Manner) -> ChatService {
        let inner = Arc::new(Inner {
            manner: Mutex::new(manner),
            asked: Mutex::default(),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let routes = Router::new()
            .route("/v1/chat/completions", post(chat))
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
        ChatService {
            url,
            inner,
            stop: Some(stop),
        }
    }

    pub(crate) fn become_(&self, manner: Manner) {
        *self.inner.manner.lock().unwrap() = manner;
    }

    /// What came in since this was last asked: the key, and the question.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.inner.asked.lock().unwrap())
    }

    /// The setting that asks this service.
    pub(crate) fn endpoint(&self) -> Endpoint {
        Endpoint {
            base_url: self.url.clone(),
            model: "merger".to_owned(),
            api_key: Secret::new("secret-key"),
            timeout: Duration::from_secs(2),
        }
    }
}

impl Drop for ChatService {
    fn drop(&mut self) {
        // A service that has ended already needs no word.
        let _ = self.stop.take().unwrap().send(());
    }
}

async fn chat(
    State(inner): State<Arc<Inner>>,
    headers: HeaderMap,
    Json(question): Json<Value>,
) -> Response {
    let key = headers.get("authorization");
    let key = key.map_or("", |key| key.to_str().unwrap()).to_owned();
    inner.asked.lock().unwrap().push((key, question.clone()));
    let notes: Value = serde_json::from_str(question["messages"][1]["content"].as_str().unwrap())
        .expect("the notes are JSON");
    let notes: Vec<&str> = notes["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| note.as_str().unwrap())
        .collect();
    let joined = notes.join("; ");
    let manner = inner.manner.lock().unwrap().clone();
    let said = match manner {
        Manner::Slow => {
            tokio::time::sleep(Duration::from_secs(600)).await;
            String::new()
        }
        Manner::HangsUp => {
            let chunks = futures_util::stream::iter([
                Ok("{\"choices\": [".to_owned()),
                Err(std::io::Error::other("hung up")),
            ]);
            return Response::new(axum::body::Body::from_stream(chunks));
        }
        Manner::Garbage => return "<html>not what you wanted</html>".into_response(),
        Manner::Refuses => return StatusCode::UNAUTHORIZED.into_response(),
        Manner::Busy(times) if times > 0 => {
            *inner.manner.lock().unwrap() = Manner::Busy(times - 1);
            return (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "1")]).into_response();
        }
        Manner::Fails(times) if times > 0 => {
            *inner.manner.lock().unwrap() = Manner::Fails(times - 1);
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        Manner::Saying(text) => text.to_owned(),
        Manner::Replacing(from, to) => joined.replace(from, to),
        _ => joined,
    };
    let reason = match manner {
        Manner::CutOff => "length",
        _ => "stop",
    };
    let message = json!({"role": "assistant", "content": said});
    Json(json!({"choices": [{"index": 0, "message": message, "finish_reason": reason}]}))
        .into_response()
}
