//! Bodies of one JSON value a line, in and out, as they come and with bounded memory.

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::Value;

use super::extract::parse_json;
use super::problem::Problem;

pub(super) const CONTENT_TYPE: &str = "application/x-ndjson";
/// Longest line, in bytes.
const MAX_LINE: usize = 16 * 1024 * 1024;
/// Most lines that are handed on together, so that they share a transaction.
const MOST_TOGETHER: usize = 256;

/// A line of a body: what it holds, or why it cannot be read, with its number from 1.
pub(super) struct Line {
    pub number: usize,
    pub value: Result<Value, Problem>,
}

/// Splits a body into lines as it arrives.
pub(super) struct Lines {
    body: BodyDataStream,
    rest: Vec<u8>,
    number: usize,
    ended: bool,
}

impl Lines {
    pub(super) fn new(body: Body) -> Lines {
        Lines {
            body: body.into_data_stream(),
            rest: Vec::new(),
            number: 0,
            ended: false,
        }
    }

    /// The next lines that have arrived, at least one; `None` at the end. Blank ones are passed over.
    pub(super) async fn next(&mut self) -> Option<Vec<Line>> {
        loop {
            let mut lines = Vec::new();
            while lines.len() < MOST_TOGETHER {
                let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') else {
                    break;
                };
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                self.push(&line, &mut lines);
            }
            if !lines.is_empty() {
                return Some(lines);
            }
            if self.ended {
                return None;
            }
            match self.body.next().await {
                Some(Ok(chunk)) if self.rest.len() + chunk.len() <= MAX_LINE => {
                    self.rest.extend_from_slice(&chunk)
                }
                Some(Ok(_)) => {
                    return Some(self.give_up(Problem::too_large("a line is longer than 16 MiB")));
                }
                Some(Err(_)) => {
                    return Some(self.give_up(Problem::malformed("the body was cut off")));
                }
                None => {
                    self.ended = true;
                    self.rest.push(b'\n');
                }
            }
        }
    }

    fn push(&mut self, line: &[u8], lines: &mut Vec<Line>) {
        self.number += 1;
        let text = line.trim_ascii();
        if !text.is_empty() {
            lines.push(Line {
                number: self.number,
                value: parse_json(text),
            });
        }
    }

    /// Reports why no more lines can be read.
    fn give_up(&mut self, problem: Problem) -> Vec<Line> {
        self.ended = true;
        self.rest.clear();
        vec![Line {
            number: self.number + 1,
            value: Err(problem),
        }]
    }
}

/// An answer of lines, sent as they are made.
pub(super) fn answer(lines: impl Stream<Item = Vec<Value>> + Send + 'static) -> Response {
    let chunk = |values: Vec<Value>| {
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        Ok::<_, std::convert::Infallible>(Bytes::from(text))
    };
    (
        [(header::CONTENT_TYPE, CONTENT_TYPE)],
        Body::from_stream(lines.map(chunk)),
    )
        .into_response()
}

/// A stream that calls `step` until it gives nothing more.
pub(super) fn repeat<S: Send + 'static, F>(
    state: S,
    step: impl FnMut(S) -> F + Send + 'static,
) -> impl Stream<Item = Vec<Value>> + Send + 'static
where
    F: Future<Output = Option<(Vec<Value>, S)>> + Send + 'static,
{
    stream::unfold(state, step)
}
