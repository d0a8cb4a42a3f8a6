//! Whatever bytes a file holds, an importer makes entries of them or says why not, and ends.

use proptest::prelude::*;

use super::entry::Kept;
use super::lines::{LineReader, ndjson, text};
use super::{hermes, retinue, source};

/// Bytes of any kind, and lines that look like what importers read.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        2 => proptest::collection::vec(any::<u8>(), 0..20),
        2 => any::<String>().prop_map(String::into_bytes),
        1 => proptest::sample::select(vec![
            "\n", "\r\n", "\u{a7}", "\n\u{a7}\n", "\u{feff}", "{", "}", "[", "\"content\"", ":",
            "{\"content\": \"a\"}", "{\"content\": 3}", "{\"kind\": \"topic\"}", "null", "\\u0000",
            "{\"content\":\"a\",\"created\":\"2026-13-45\"}", "{\"content\":\"a\",\"time\":1e999}",
        ]).prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_file_is_read_to_its_end(bytes in file()) {
        let mut reader = LineReader::new(bytes.as_slice());
        let (mut kept, mut read, mut last) = (Kept::new(), 0, 0);
        while let Some((place, line, length)) = reader.next().unwrap() {
            prop_assert_eq!(place, last + 1);
            last = place;
            read += length;
            for entry in [ndjson(place, line.clone(), &mut kept), text(place, line)] {
                prop_assert!(entry.is_none_or(|entry| entry.place == place));
            }
        }
        prop_assert_eq!(read, bytes.len() as u64);
        let whole = String::from_utf8_lossy(&bytes);
        for entry in hermes::entries(&whole, "memory") {
            let memory = entry.memory.unwrap();
            prop_assert!(!memory["content"].as_str().unwrap().trim().is_empty());
        }
        let _ = source::guess(std::path::Path::new("notes"), &bytes);
    }

    /// A database of which any bytes were changed is read or refused.
    #[test]
    fn a_damaged_database_is_read_or_refused(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40), cut in any::<prop::sample::Index>(), is_cut in any::<bool>()) {
        let mut bytes = include_bytes!("../../../../tests/data/retinue.db").to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("retinue.db");
        std::fs::write(&path, bytes).unwrap();
        let mut kept = Kept::new();
        if let Ok(entries) = retinue::entries(&path, &mut kept) {
            prop_assert!(entries.len() < 100_000);
        }
    }
}
