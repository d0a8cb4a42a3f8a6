//! Skills of a host, found on demand: collections of their own, put as a whole.

use keepsake::embedding::Choice;
use serde_json::{Value, json};

use crate::answers::{assert_problem, assert_rejects_field, column};
use crate::support::TestServer;

const SKILLS: &str = "/v1/skills";
const SEARCH: &str = "/v1/skills/search";

/// A skill with its front matter; the hash is the text itself.
fn skill(path: &str, front_matter: &str) -> Value {
    json!({"path": path, "front_matter": front_matter, "hash": front_matter})
}

fn described(name: &str, description: &str) -> Value {
    let text = format!("name: {name}\ndescription: {description}");
    skill(&format!("{name}/SKILL.md"), &text)
}

fn put(server: &TestServer, skills: &[Value]) -> Value {
    let answer = server.put(SKILLS, json!({"skills": skills}));
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    answer.body
}

/// Names of the skills that fit, best first.
fn fitting(server: &TestServer, query: &str) -> Vec<String> {
    let answer = server.post(SEARCH, json!({"query": query}));
    assert_eq!(answer.status, 200, "{:#}", answer.body);
    column(&answer.body["results"], "name")
}

/// A hundred skills of as many kinds of work, one of them for Kubernetes.
fn hundred() -> Vec<Value> {
    let things = [
        "invoice", "poster", "recipe", "garden", "guitar", "budget", "resume", "novel", "map",
        "chess",
    ];
    let works = [
        "Draft",
        "Translate",
        "Summarise",
        "Illustrate",
        "Proofread",
        "Index",
        "Schedule",
        "Compare",
        "Archive",
    ];
    let mut skills: Vec<Value> = things
        .iter()
        .flat_map(|thing| {
            works.iter().map(move |work| {
                let name = format!("{}-{thing}", work.to_lowercase());
                described(&name, &format!("{work} a {thing} for the user"))
            })
        })
        .collect();
    skills.extend((0..9).map(|n| described(&format!("misc-{n}"), &format!("Chore number {n}"))));
    skills.push(described(
        "k8s-deploy",
        "Deploy applications to a Kubernetes cluster with kubectl and helm",
    ));
    assert_eq!(skills.len(), 100);
    skills
}

#[test]
fn a_request_finds_its_skill_among_a_hundred_and_small_talk_none() {
    for server in [TestServer::start(), TestServer::start_lexical()] {
        put(&server, &hundred());
        for query in [
            "deploy to k8s",
            "deploy this to kubernetes please",
            "kubectl",
        ] {
            let found = fitting(&server, query);
            assert!(
                found.iter().take(3).any(|name| name == "k8s-deploy"),
                "{query}: {found:?}"
            );
        }
        for query in ["hi", "ok", "  ", "???", "好的", "👍", "zzqx vvwk"] {
            assert_eq!(fitting(&server, query), Vec::<String>::new(), "{query}");
        }
    }
}

#[test]
fn a_chinese_request_finds_an_english_skill_by_its_meaning() {
    let server = TestServer::start();
    let mut skills = hundred();
    skills.push(described(
        "pdf-editor",
        "Edit PDF documents: fix text, merge and split pages",
    ));
    skills.push(described("weather", "Tell the weather forecast of a city"));
    put(&server, &skills);
    assert_eq!(fitting(&server, "帮我修改PDF文档里的文字")[0], "pdf-editor");
    assert!(
        fitting(&server, "明天的天气预报怎么样？")
            .iter()
            .take(3)
            .any(|name| name == "weather")
    );
}

#[test]
fn the_set_is_put_as_a_whole_and_what_changed_is_counted() {
    let server = TestServer::start();
    let [a, b, c] = ["alpha", "beta", "gamma"].map(|name| described(name, "Does a thing"));
    let answer = put(&server, &[a.clone(), b.clone()]);
    assert_eq!(answer, json!({"count": 2, "changed": 2, "refused": []}));
    assert_eq!(put(&server, &[b.clone(), a.clone()])["changed"], 0);
    let edited = described("beta", "Counts zebras");
    assert_eq!(put(&server, &[edited, c])["changed"], 3);
    let listed = server.get(SKILLS).body;
    assert_eq!(column(&listed["skills"], "name"), ["beta", "gamma"]);
    assert_eq!(
        listed["skills"][0],
        json!({
            "path": "beta/SKILL.md", "name": "beta", "description": "Counts zebras",
            "hash": "name: beta\ndescription: Counts zebras",
        })
    );
    // Seen by the very next search, as what is gone is not.
    assert_eq!(fitting(&server, "count the zebras"), ["beta"]);
    assert!(fitting(&server, "alpha").is_empty());
    assert_eq!(put(&server, &[])["count"], 0);
    assert!(fitting(&server, "count the zebras").is_empty());
}

#[test]
fn collections_and_namespaces_are_apart_and_outlive_a_restart() {
    let server = TestServer::start();
    for (scope, name) in [
        (json!({}), "one"),
        (json!({"collection": "work profile"}), "two"),
        (json!({"namespace": "other"}), "three"),
    ] {
        let mut body = json!({"skills": [described(name, "Counts zebras")]});
        body.as_object_mut()
            .unwrap()
            .extend(scope.as_object().unwrap().clone());
        assert_eq!(server.put(SKILLS, body).status, 200);
    }
    let server = server.restart();
    let found = |mut body: Value| {
        body["query"] = json!("count the zebras");
        column(&server.post(SEARCH, body).body["results"], "name")
    };
    assert_eq!(found(json!({})), ["one"]);
    assert_eq!(found(json!({"collection": "work profile"})), ["two"]);
    assert_eq!(found(json!({"namespace": "other"})), ["three"]);
    assert!(found(json!({"collection": "nobody's"})).is_empty());
    let listed = server.get("/v1/skills?collection=work+profile").body;
    assert_eq!(column(&listed["skills"], "name"), ["two"]);
}

#[test]
fn one_bad_skill_spoils_no_other() {
    let server = TestServer::start();
    let answer = put(
        &server,
        &[
            described("zebras", "Counts zebras"),
            skill("list/SKILL.md", "- just\n- a list"),
            skill("empty/SKILL.md", ""),
            skill(
                "colon/SKILL.md",
                "name: colon\ndescription: Use when: the user counts lions",
            ),
            skill("zebras/SKILL.md", "name: again"),
            skill(" ", "name: nowhere"),
        ],
    );
    assert_eq!(answer["count"], 2);
    let refused = column(&answer["refused"], "path");
    assert_eq!(
        refused,
        ["list/SKILL.md", "empty/SKILL.md", "zebras/SKILL.md", " "]
    );
    assert_eq!(fitting(&server, "count the lions")[0], "colon");
}

#[test]
fn what_cannot_be_a_request_is_refused() {
    let server = TestServer::start();
    assert_rejects_field(
        &server.post(SEARCH, json!({"query": "x", "top_k": 1001})),
        "top_k",
    );
    assert_rejects_field(
        &server.post(SEARCH, json!({"query": "x".repeat(32_769)})),
        "query",
    );
    assert_rejects_field(
        &server.post(SEARCH, json!({"query": "x", "collection": " "})),
        "collection",
    );
    assert_rejects_field(
        &server.put(SKILLS, json!({"skills": [{"path": "a"}]})),
        "skills[0].front_matter",
    );
    let many: Vec<Value> = (0..5_001).map(|n| described(&n.to_string(), "d")).collect();
    assert_problem(&server.put(SKILLS, json!({"skills": many})), 413);
}

#[test]
fn any_text_can_be_asked() {
    let server = TestServer::start();
    put(
        &server,
        &[
            described("tickets", "Looks up OC-41252 and other tickets"),
            described("hosts", "Knows lxc-103, pve-01 and gpt-4o"),
        ],
    );
    assert_eq!(fitting(&server, "OC-41252")[0], "tickets");
    assert_eq!(fitting(&server, "lxc-103")[0], "hosts");
    for query in [
        "don't",
        "a:b",
        "OR AND NOT",
        "\"--flag\"",
        "((",
        "50%",
        "\u{0}\u{202e}",
        "-*~",
    ] {
        assert_eq!(
            server.post(SEARCH, json!({"query": query})).status,
            200,
            "{query}"
        );
    }
}

#[test]
fn a_skill_has_no_day_and_no_mood() {
    let server = TestServer::start_with(|settings| settings.embedder = Choice::None);
    put(
        &server,
        &[
            described("plain", "Writes a report about rivers"),
            described(
                "happy",
                "Writes a wonderful amazing fantastic report about rivers!!!",
            ),
        ],
    );
    assert_eq!(
        fitting(&server, "a report about rivers"),
        ["plain", "happy"]
    );
    assert!(fitting(&server, "1970-01-01").is_empty());
}
