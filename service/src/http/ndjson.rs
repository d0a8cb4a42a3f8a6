//! Bodies of one JSON value a line, in and out, as they come and with bounded memory.

use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, StreamExt};
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
    /// How long it is.
    pub bytes: usize,
    pub value: Result<Value, Problem>,
}

/// Splits a body into lines as it arrives. A chunk of the body may hold many lines or a part of one.
pub(super) struct Lines {
    body: BodyDataStream,
    /// What has arrived; lines up to `taken` were given out, none ends between there and `searched`.
    arrived: Vec<u8>,
    taken: usize,
    searched: usize,
    number: usize,
    ended: bool,
}

impl Lines {
    pub(super) fn new(body: Body) -> Lines {
        Lines {
            body: body.into_data_stream(),
            arrived: Vec::new(),
            taken: 0,
            searched: 0,
            number: 0,
            ended: false,
        }
    }

    /// The next lines that have arrived, at least one; `None` at the end. Blank ones are passed over.
    pub(super) async fn next(&mut self) -> Option<Vec<Line>> {
        loop {
            let lines = self.split();
            if !lines.is_empty() {
                return Some(lines);
            }
            if self.ended {
                return None;
            }
            // Only the beginning of a line is left.
            self.arrived.drain(..self.taken);
            self.searched -= self.taken;
            self.taken = 0;
            if self.arrived.len() > MAX_LINE {
                return Some(self.give_up(Problem::too_large("a line is longer than 16 MiB")));
            }
            match self.body.next().await {
                Some(Ok(chunk)) => self.arrived.extend_from_slice(&chunk),
                Some(Err(_)) => {
                    return Some(self.give_up(Problem::malformed("the body was cut off")));
                }
                None => {
                    self.ended = true;
                    self.arrived.push(b'\n');
                }
            }
        }
    }

    /// Whole lines among what has arrived.
    fn split(&mut self) -> Vec<Line> {
        let mut lines = Vec::new();
        while lines.len() < MOST_TOGETHER {
            let unsearched = &self.arrived[self.searched..];
            let Some(end) = unsearched.iter().position(|byte| *byte == b'\n') else {
                self.searched = self.arrived.len();
                break;
            };
            let end = self.searched + end;
            self.number += 1;
            let text = self.arrived[self.taken..end].trim_ascii();
            if !text.is_empty() {
                lines.push(Line {
                    number: self.number,
                    bytes: text.len(),
                    value: parse_json(text),
                });
            }
            self.taken = end + 1;
            self.searched = self.taken;
        }
        lines
    }

    /// Reports why no more lines can be read.
    fn give_up(&mut self, problem: Problem) -> Vec<Line> {
        self.ended = true;
        self.arrived.clear();
        (self.taken, self.searched) = (0, 0);
        vec![Line {
            number: self.number + 1,
            bytes: 0,
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

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    async fn read(chunks: Vec<Vec<u8>>) -> Vec<(usize, bool)> {
        let chunks = chunks
            .into_iter()
            .map(|chunk| Ok::<_, std::convert::Infallible>(Bytes::from(chunk)));
        let mut lines = Lines::new(Body::from_stream(stream::iter(chunks)));
        let mut found = Vec::new();
        while let Some(more) = lines.next().await {
            found.extend(
                more.into_iter()
                    .map(|line| (line.number, line.value.is_ok())),
            );
        }
        found
    }

    #[tokio::test]
    async fn lines_are_found_however_the_body_is_cut() {
        let body = b"{\"a\":1}\n\n  \nnonsense\n[2]".to_vec();
        let expected = [(1, true), (4, false), (5, true)];
        for size in 1..=body.len() {
            assert_eq!(
                read(body.chunks(size).map(<[u8]>::to_vec).collect()).await,
                expected
            );
        }
    }

    #[tokio::test]
    async fn many_lines_in_one_large_chunk_are_no_long_line() {
        let line = format!("\"{}\"\n", "x".repeat(60_000));
        let found = read(vec![line.repeat(2 * MAX_LINE / line.len()).into_bytes()]).await;
        assert!(found.len() > 500 && found.iter().all(|(_, sound)| *sound));
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_ends_the_reading_with_a_word() {
        let piece = vec![b'x'; MAX_LINE / 4];
        let mut chunks = vec![b"1\n".to_vec()];
        chunks.extend(std::iter::repeat_n(piece, 6));
        assert_eq!(read(chunks).await, [(1, true), (2, false)]);
    }
}
