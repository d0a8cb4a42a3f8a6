//! Whatever agents and namespaces write, in whatever order: no reader learns
//! through any endpoint of a memory that is not its own, shared, or (for a
//! primary reader) of its namespace.
//!
//! Each memory holds a word that no other memory holds. A reader may learn
//! that word only if it may see the memory.

use std::cell::Cell;

use keepsake::keys::{ApiKey, KeyHash, Reach};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::answers::{column, contents, ids, sorted, text};
use crate::support::{TestServer, encode};
use crate::visibility::{Reader, Sight, Write, readers, write};

/// Words by which the memories of one case are told apart.
const WORDS: [&str; 8] = [
    "brindle", "cobalt", "dahlia", "ermine", "fennel", "garnet", "hazel", "indigo",
];

/// What was written: the write, its id and its word.
struct Written {
    write: Write,
    id: String,
    word: &'static str,
}

/// Most cases, with those of shrinking.
const CASES: u32 = 12;
const MOST_CASES: u32 = CASES + 50;

#[test]
fn no_reader_sees_more_than_its_own() {
    check(&TestServer::start(), false);
}

/// With keys it is not the request that says who reads: requests lie, and get no more for it.
#[test]
fn no_key_opens_more_than_its_own() {
    let server = TestServer::start_with(|settings| {
        let cases = 1..=MOST_CASES;
        let keys = cases.flat_map(|case| readers().map(move |reader| key(case, reader)));
        settings.api_keys = keys.collect();
    });
    check(&server, true);
}

/// The key that is bound to what a reader is. It opens with its own name.
fn key(case: u32, reader: Reader) -> ApiKey {
    let name = key_name(case, reader);
    ApiKey {
        hash: KeyHash::of(&name),
        reach: Reach {
            agent: reader.agent.map(str::to_owned),
            namespace: Some(namespace(case, reader.namespace)),
            primary: Some(reader.primary),
        },
        admin: false,
        read_only: false,
        name,
    }
}

fn key_name(case: u32, reader: Reader) -> String {
    let (agent, primary) = (reader.agent.unwrap_or("nobody"), reader.primary);
    format!("{}-{agent}-{primary}", namespace(case, reader.namespace))
}

fn namespace(case: u32, name: &str) -> String {
    format!("case{case}-{name}")
}

fn check(server: &TestServer, keyed: bool) {
    let case = Cell::new(0);
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        max_shrink_iters: MOST_CASES - CASES,
        ..ProptestConfig::default()
    };
    proptest!(config, |(writes in vec(write(), 1..=WORDS.len()))| {
        case.set(case.get() + 1);
        // Namespaces of its own let each case start from an empty store.
        let world = World { server, case: case.get(), keyed };
        let written = world.store(writes);
        for reader in readers() {
            world.check_lists(reader, &written)?;
            world.check_ids(reader, &written)?;
            world.check_counters(reader, &written)?;
            world.check_export(reader, &written)?;
            world.check_tools(reader, &written)?;
            world.check_bank(reader, &written)?;
        }
    });
}

struct World<'a> {
    server: &'a TestServer,
    case: u32,
    /// Whether keys say who reads.
    keyed: bool,
}

impl World<'_> {
    fn namespace(&self, name: &str) -> String {
        namespace(self.case, name)
    }

    fn store(&self, writes: Vec<Write>) -> Vec<Written> {
        let store = |(write, word): (Write, &'static str)| {
            let writer = Reader {
                agent: write.agent,
                namespace: write.namespace,
                primary: false,
            };
            let fields = json!({"content": content(word), "tags": [word], "shared": write.shared});
            let answer = self
                .server
                .post("/v1/memories", self.with_scope(writer, fields));
            assert_eq!(answer.status, 201, "{:#}", answer.body);
            Written {
                write,
                id: text(&answer.body["id"]),
                word,
            }
        };
        writes.into_iter().zip(WORDS).map(store).collect()
    }

    /// Search in both ways, prefetch and the list show the visible memories and no other.
    fn check_lists(&self, reader: Reader, written: &[Written]) -> Result<(), TestCaseError> {
        let query = json!({"query": "harbour meeting", "top_k": 100, "min_score": 0});
        check_shown(
            reader,
            written,
            &contents(&self.post(reader, "/v1/search", query)),
            true,
        )?;
        let path = "/v1/search?q=harbour%20meeting&top_k=100&min_score=0";
        check_shown(reader, written, &contents(&self.get(reader, path)), true)?;
        check_shown(
            reader,
            written,
            &column(
                &self.get(reader, "/v1/memories?limit=100")["items"],
                "content",
            ),
            true,
        )?;
        let session = json!({"session_id": "s", "top_k": 50});
        self.post(reader, "/v1/sessions", session);
        for one in written {
            let message = format!("who met {}?", tool(one.word));
            let message = json!({"query": message, "session_id": "s"});
            let prefetch = self.post(reader, "/v1/prefetch", message);
            check_shown(reader, written, &contents(&prefetch), false)?;
            check_words(reader, written, &prefetch)?;
            let tagged = json!({"query": "harbour", "tag_filter": [one.word], "min_score": 0});
            let expected = usize::from(reader.sight(&one.write) == Sight::Visible);
            let tagged = ids(&self.post(reader, "/v1/search", tagged));
            prop_assert_eq!(tagged.len(), expected, "{:?} by tag {}", reader, one.word);
        }
        Ok(())
    }

    /// A full id, a key, a prefix and an explanation answer for the visible memories only.
    fn check_ids(&self, reader: Reader, written: &[Written]) -> Result<(), TestCaseError> {
        for one in written {
            let status = match reader.sight(&one.write) {
                Sight::Visible => 200,
                Sight::Hidden => 404,
            };
            for name in [
                one.id.clone(),
                format!("memory:frag:{}", one.id),
                one.id[..10].to_owned(),
            ] {
                let answer = self
                    .server
                    .get(&self.scoped(reader, &format!("/v1/memories/{name}")));
                prop_assert_eq!(
                    answer.status,
                    status,
                    "{:?} reads {} of {:?}",
                    reader,
                    name,
                    one.write
                );
            }
            if status == 404 {
                for fields in [
                    json!({"id": one.id, "useful": false}),
                    json!({"id": one.id[..10], "useful": false}),
                ] {
                    let answer = self
                        .server
                        .post("/v1/feedback", self.with_scope(reader, fields));
                    prop_assert_eq!(answer.status, 404, "{:?} rates {:?}", reader, one.write);
                }
                self.check_untouchable(reader, one)?;
                let explain = json!({"query": one.word, "explain": one.id});
                let explanation = &self.post(reader, "/v1/search", explain)["explanation"];
                prop_assert_eq!(
                    &explanation["reason"],
                    "not_found",
                    "{:?} of {:?}",
                    reader,
                    one.write
                );
            }
        }
        Ok(())
    }

    /// No way of writing reaches a hidden memory.
    fn check_untouchable(&self, reader: Reader, one: &Written) -> Result<(), TestCaseError> {
        let path = format!("/v1/memories/{}", one.id);
        let supersede = json!({"content": format!("over {}", one.id), "supersedes": one.id});
        for answer in [
            self.server.patch(
                &path,
                self.with_scope(reader, json!({"content": "taken over"})),
            ),
            self.server.delete(&self.scoped(reader, &path)),
            self.server
                .delete(&self.scoped(reader, &format!("{path}?purge=true"))),
            self.server.post(
                &format!("{path}/restore"),
                self.with_scope(reader, json!({})),
            ),
            self.server
                .delete(&self.scoped(reader, &format!("/v1/corrections/{}", one.id))),
            self.server
                .post("/v1/memories", self.with_scope(reader, supersede)),
        ] {
            prop_assert_eq!(answer.status, 404, "{:?} changes {:?}", reader, one.write);
        }
        // A number of one's own, so that no reader is answered from the memory of another's.
        for (op, old_text) in [("remove", one.word), ("replace", one.word)] {
            let op_id = format!("{reader:?} {op} {}", one.word);
            let operation =
                json!({"op_id": op_id, "op": op, "old_text": old_text, "content": "taken over"});
            let operation = json!([self.with_scope(reader, operation)]);
            let answer = self.server.post("/v1/memories/operations", operation);
            prop_assert_eq!(
                &answer.body["results"][0]["status"],
                "no_match",
                "{:?} {}s {:?}",
                reader,
                op,
                one.write
            );
        }
        let operation = json!({"op_id": format!("{reader:?} {}", one.id), "op": "add", "content": "over it", "supersedes": one.id});
        let operation = json!([self.with_scope(reader, operation)]);
        let answer = self.server.post("/v1/memories/operations", operation);
        prop_assert_eq!(
            &answer.body["results"][0]["status"],
            "invalid",
            "{:?} supersedes {:?}",
            reader,
            one.write
        );
        let bulk = self.scoped(
            reader,
            &format!("/v1/memories?tag={}&confirm=0&purge=true", one.word),
        );
        let answer = self.server.delete(&bulk);
        if self.keyed {
            prop_assert_eq!(answer.status, 403);
        } else {
            let told = &answer.body;
            prop_assert_eq!(
                told,
                &json!({"purged": 0}),
                "{:?} deletes {:?}",
                reader,
                one.write
            );
        }
        let corrected = self.post(reader, "/v1/corrections", json!({"ids": [one.id]}));
        prop_assert_eq!(&corrected, &json!({"corrected": 0, "unknown": [one.id]}));
        Ok(())
    }

    /// An export holds the visible memories and no other, and the numbers count those alone.
    fn check_export(&self, reader: Reader, written: &[Written]) -> Result<(), TestCaseError> {
        if self.keyed {
            let refused = self.server.get(&self.scoped(reader, "/v1/export"));
            prop_assert_eq!(refused.status, 403);
            return Ok(());
        }
        let export = self.get(reader, "/v1/export");
        let export = export
            .as_str()
            .map_or_else(|| export.to_string(), str::to_owned);
        // Counters are those of the reader's own agent, or for a primary reader of its namespace.
        check_words(reader, written, &json!(export))?;
        let stats = self.get(reader, "/v1/stats");
        let visible = |one: &&Written| reader.sight(&one.write) == Sight::Visible;
        for one in written {
            let expected = visible(&one);
            prop_assert_eq!(
                export.contains(&content(one.word)),
                expected,
                "{:?} exports {:?}",
                reader,
                one.write
            );
        }
        prop_assert_eq!(
            &stats["memories"]["total"],
            &json!(written.iter().filter(visible).count())
        );
        Ok(())
    }

    /// The tools for models speak for their caller.
    fn check_tools(&self, reader: Reader, written: &[Written]) -> Result<(), TestCaseError> {
        let call = |tool: &str, arguments: Value| {
            let params = json!({"name": tool, "arguments": arguments});
            let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
            let answer = self.server.post(&self.scoped(reader, "/mcp"), call);
            assert_eq!(answer.status, 200, "{reader:?} {tool}: {:#}", answer.body);
            answer.body["result"].clone()
        };
        let found = call("search", json!({"query": "harbour meeting", "top_k": 100}));
        check_words(reader, written, &found)?;
        check_words(reader, written, &call("topics", json!({"limit": 100})))?;
        for one in written {
            if reader.sight(&one.write) == Sight::Hidden {
                for (tool, arguments) in [
                    ("forget", json!({"id": one.id})),
                    ("feedback", json!({"id": one.id, "useful": false})),
                    ("add", json!({"content": "over it", "supersedes": one.id})),
                ] {
                    let refused = &call(tool, arguments)["isError"];
                    prop_assert_eq!(refused, true, "{:?} {}s {:?}", reader, tool, one.write);
                }
            }
        }
        Ok(())
    }

    /// A bank shows all of its namespace and nothing of another. Whoever uses it is primary, unless a
    /// key says otherwise.
    fn check_bank(&self, reader: Reader, written: &[Written]) -> Result<(), TestCaseError> {
        if !reader.primary && !self.keyed {
            return Ok(());
        }
        self.present(reader);
        let bank = format!("/v1/default/banks/{}", self.namespace(reader.namespace));
        let post =
            |end: &str, fields: Value| self.server.post(&format!("{bank}{end}"), fields).body;
        let recall = json!({"query": "harbour meeting", "budget": "high", "max_tokens": 100_000, "min_scores": {"final": 0}, "include": {"entities": {}, "chunks": {}, "source_facts": {}}});
        let recalled = post("/memories/recall", recall);
        check_shown(reader, written, &column(&recalled["results"], "text"), true)?;
        check_words(reader, written, &recalled)?;
        check_words(
            reader,
            written,
            &post(
                "/reflect",
                json!({"query": "harbour meeting", "include": {"facts": {}}}),
            ),
        )?;
        for end in [
            "/memories/list?limit=1000",
            "/tags",
            "/entities",
            "/stats",
            "/documents",
            "/mental-models",
            "/operations",
        ] {
            check_words(
                reader,
                written,
                &self.server.get(&format!("{bank}{end}")).body,
            )?;
        }
        for one in written {
            let path = format!("{bank}/memories/{}", one.id);
            let expected = match reader.sight(&one.write) {
                Sight::Visible => 200,
                Sight::Hidden => 404,
            };
            prop_assert_eq!(
                self.server.get(&path).status,
                expected,
                "{:?} reads {:?}",
                reader,
                one.write
            );
            if expected == 404 {
                let taken = self.server.patch(&path, json!({"text": "taken over"}));
                prop_assert_eq!(taken.status, 404, "{:?} edits {:?}", reader, one.write);
            }
        }
        Ok(())
    }

    /// Topics, attention, timelines and related entities tell no word of a hidden memory.
    fn check_counters(&self, reader: Reader, written: &[Written]) -> Result<(), TestCaseError> {
        check_words(reader, written, &self.get(reader, "/v1/topics?limit=100"))?;
        check_words(
            reader,
            written,
            &self.get(reader, "/v1/attention?limit=100"),
        )?;
        for one in written {
            let name = encode(&tool(one.word));
            let timeline = self.get(reader, &format!("/v1/entities/{name}/timeline"));
            let shown = column(&timeline["items"], "id");
            let related = self.get(reader, &format!("/v1/entities/{name}/related"));
            let sight = reader.sight(&one.write);
            // Whether a shared memory counts for another agent is left open.
            if sight == Sight::Visible && (reader.primary || reader.agent == one.write.agent) {
                prop_assert_eq!(shown, [one.id.as_str()], "{:?} on {}", reader, one.word);
            } else if sight == Sight::Hidden {
                prop_assert_eq!(
                    shown,
                    [""; 0],
                    "{:?} on {} of {:?}",
                    reader,
                    one.word,
                    one.write
                );
                prop_assert_eq!(
                    &related["items"],
                    &json!([]),
                    "{:?} on {} of {:?}",
                    reader,
                    one.word,
                    one.write
                );
            }
        }
        Ok(())
    }

    fn get(&self, reader: Reader, path: &str) -> Value {
        let answer = self.server.get(&self.scoped(reader, path));
        assert_eq!(answer.status, 200, "{reader:?} {path}: {:#}", answer.body);
        answer.body
    }

    fn post(&self, reader: Reader, path: &str, fields: Value) -> Value {
        let answer = self.server.post(path, self.with_scope(reader, fields));
        assert_eq!(answer.status, 200, "{reader:?} {path}: {:#}", answer.body);
        answer.body
    }

    /// Has the next requests present the reader's key, if there are keys.
    fn present(&self, reader: Reader) {
        if self.keyed {
            self.server.use_key(Some(&key_name(self.case, reader)));
        }
    }

    fn scoped(&self, reader: Reader, path: &str) -> String {
        let joint = if path.contains('?') { '&' } else { '?' };
        if self.keyed {
            self.present(reader);
            return format!("{path}{joint}is_primary=true");
        }
        let agent = reader
            .agent
            .map(|agent| format!("&agent_id={agent}"))
            .unwrap_or_default();
        let namespace = self.namespace(reader.namespace);
        format!(
            "{path}{joint}namespace={namespace}&is_primary={}{agent}",
            reader.primary
        )
    }

    fn with_scope(&self, reader: Reader, mut fields: Value) -> Value {
        if self.keyed {
            self.present(reader);
            fields["is_primary"] = json!(true);
            return fields;
        }
        if let Some(agent) = reader.agent {
            fields["agent_id"] = json!(agent);
        }
        fields["namespace"] = json!(self.namespace(reader.namespace));
        fields["is_primary"] = json!(reader.primary);
        fields
    }
}

/// All visible memories (if `all`), and no hidden one, are among the contents.
fn check_shown(
    reader: Reader,
    written: &[Written],
    shown: &[String],
    all: bool,
) -> Result<(), TestCaseError> {
    for one in written {
        let shows = shown.contains(&content(one.word));
        match reader.sight(&one.write) {
            Sight::Visible => prop_assert!(shows || !all, "{:?} misses {:?}", reader, one.write),
            Sight::Hidden => prop_assert!(!shows, "{:?} sees {:?}", reader, one.write),
        }
    }
    let mut unique = sorted(shown.to_vec());
    unique.dedup();
    prop_assert_eq!(
        unique.len(),
        shown.len(),
        "{:?} sees something twice",
        reader
    );
    Ok(())
}

/// No word of a hidden memory is anywhere in the answer.
fn check_words(reader: Reader, written: &[Written], body: &Value) -> Result<(), TestCaseError> {
    let body = body.to_string().to_lowercase();
    for one in written
        .iter()
        .filter(|one| reader.sight(&one.write) == Sight::Hidden)
    {
        prop_assert!(
            !body.contains(one.word),
            "{:?} learns {} of {:?}: {}",
            reader,
            one.word,
            one.write,
            body
        );
    }
    Ok(())
}

/// Two entities, a topic and an everyday word; no two are near-identical.
fn content(word: &str) -> String {
    format!(
        "harbour meeting: {word} {word} {word} met {} and {word}.example",
        tool(word)
    )
}

fn tool(word: &str) -> String {
    format!("{word}_tool")
}
