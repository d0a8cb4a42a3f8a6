//! Files whose entries are lines: NDJSON, and text with one memory a line.

use std::io::{self, BufRead, Read};

use serde_json::{Map, Value, json};

use super::entry::{Entry, Kept, Place, adopt};

/// Longest line that is read, in bytes: the longest body of a request.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// Reads lines one by one, in bounded memory.
pub(super) struct LineReader<R> {
    reader: R,
    number: Place,
}

/// A line or why it cannot be read, with its number and its length in bytes.
pub(super) type Line = (Place, Result<String, String>, u64);

impl<R: BufRead> LineReader<R> {
    pub(super) fn new(reader: R) -> LineReader<R> {
        LineReader { reader, number: 0 }
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let limit = LONGEST_LINE + 1;
        let mut length = self
            .reader
            .by_ref()
            .take(limit)
            .read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        if length == limit && !line.ends_with(b"\n") {
            length += skip_line(&mut self.reader)?;
            let reason = format!("is longer than {LONGEST_LINE} bytes");
            return Ok(Some((self.number, Err(reason), length)));
        }
        let text = match String::from_utf8(line) {
            Ok(text) => Ok(text.trim_start_matches('\u{feff}').trim().to_owned()),
            Err(_) => Err("is not valid UTF-8".to_owned()),
        };
        Ok(Some((self.number, text, length)))
    }
}

/// Reads over the rest of a line; its length.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let end = buffer
            .iter()
            .position(|byte| *byte == b'\n')
            .map(|at| at + 1);
        let used = end.unwrap_or(buffer.len());
        reader.consume(used);
        skipped += used as u64;
        if end.is_some() || used == 0 {
            return Ok(skipped);
        }
    }
}

/// The memory of a line of NDJSON; nothing for a blank one.
pub(super) fn ndjson(place: Place, line: Result<String, String>, kept: &mut Kept) -> Option<Entry> {
    if line.as_ref().is_ok_and(String::is_empty) {
        return None;
    }
    let memory = line.and_then(|line| {
        let value: Value =
            serde_json::from_str(&line).map_err(|error| format!("is not valid JSON: {error}"))?;
        match value {
            Value::Object(object) if is_counter(&object) => Ok(object),
            Value::Object(object) => Ok(adopt(object, kept)),
            _ => Err("is not a JSON object".to_owned()),
        }
    });
    Some(Entry { place, memory })
}

/// Whether a line is one of an export's counters, which are put back as they are.
pub(super) fn is_counter(line: &Map<String, Value>) -> bool {
    line.contains_key("kind") && !line.contains_key("content")
}

/// The memory that a line of text is; nothing for a blank one.
pub(super) fn text(place: Place, line: Result<String, String>) -> Option<Entry> {
    if line.as_ref().is_ok_and(String::is_empty) {
        return None;
    }
    let memory = line.map(|line| Map::from_iter([("content".to_owned(), json!(line))]));
    Some(Entry { place, memory })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(Place, Result<String, String>)> {
        let mut reader = LineReader::new(bytes);
        std::iter::from_fn(|| reader.next().unwrap())
            .map(|(place, line, _)| (place, line))
            .collect()
    }

    #[test]
    fn lines_are_numbered_trimmed_and_bounded() {
        let long = vec![b'x'; LONGEST_LINE as usize + 7];
        let bytes = [b"\xef\xbb\xbfone\r\n\n \xff\n", long.as_slice(), b"\nlast"].concat();
        let found = lines(&bytes);
        assert_eq!(found[0], (1, Ok("one".to_owned())));
        assert_eq!(found[1], (2, Ok(String::new())));
        assert_eq!(found[2], (3, Err("is not valid UTF-8".to_owned())));
        assert!(
            found[3]
                .1
                .as_ref()
                .is_err_and(|reason| reason.starts_with("is longer"))
        );
        assert_eq!(found[4], (5, Ok("last".to_owned())));
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn a_line_that_is_no_object_says_so() {
        let mut kept = Kept::new();
        for (line, reason) in [("[1]", "is not a JSON object"), ("{", "is not valid JSON")] {
            let entry = ndjson(1, Ok(line.to_owned()), &mut kept).unwrap();
            let found = entry.memory.unwrap_err();
            assert!(found.starts_with(reason), "{found}");
        }
        assert!(ndjson(1, Ok(String::new()), &mut kept).is_none());
        assert!(text(1, Ok(String::new())).is_none());
    }
}
