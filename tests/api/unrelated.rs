//! A dozen everyday memories that have nothing to do with what a test asks.
//! They share no word with the queries of the tests but stop words.

use serde_json::json;

use crate::answers::list;
use crate::support::TestServer;

pub(crate) const UNRELATED: [&str; 12] = [
    "Plum dumplings need semolina and melted butter",
    "The gym closes early on public holidays",
    "Oliver borrowed the blue bicycle pump",
    "Curtains in the bedroom shrink when washed hot",
    "Piano lessons moved to the community hall",
    "The landlord replaced the kitchen faucet",
    "Tomato seedlings go outside after the frost",
    "Margaret prefers window seats on long flights",
    "The library card expires in autumn",
    "Winter tyres are stored at the garage",
    "The choir rehearses in a cold chapel",
    "Vitamin drops sit beside the toaster",
];

/// Stores `contents` among the unrelated ones, in a namespace of their own, so
/// that many examples can share one server without disturbing each other.
pub(crate) fn store_among_unrelated(server: &TestServer, namespace: &str, contents: &[&str]) {
    let items: Vec<_> = UNRELATED
        .iter()
        .chain(contents)
        .map(|content| json!({"content": content, "namespace": namespace, "is_primary": true}))
        .collect();
    let answer = server.post("/v1/memories/batch", json!(items));
    assert_eq!(answer.status, 200, "batch: {:#}", answer.body);
    for result in list(&answer.body["results"]) {
        assert_eq!(result["status"], 201, "batch item: {result:#}");
    }
}
