//! The Model Context Protocol, with the client library that hosts are built on.

use serde_json::json;

use super::script;
use crate::cli::Home;
use crate::support::TestServer;

#[test]
fn every_tool_works_over_standard_streams_and_over_http() {
    let (home, server) = (Home::new(), TestServer::start());
    let folder = home.path().join("data");
    script(
        &["mcp==2.3.0"],
        "mcp_tools.py",
        &[
            env!("CARGO_BIN_EXE_keepsake"),
            folder.to_str().unwrap(),
            server.url(),
        ],
    );
}

/// A page of another site that a browser on this machine shows must not reach the tools.
#[test]
fn pages_of_other_sites_are_refused() {
    let server = TestServer::start();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    for (origin, status) in [
        ("http://evil.example", 403),
        ("null", 403),
        ("http://localhost:5173", 200),
    ] {
        let answer = server.post_from(origin, "/mcp", &call);
        assert_eq!(answer.status, status, "{origin}: {:#}", answer.body);
    }
    // There is no stream of messages that the service begins.
    assert_eq!(server.get("/mcp").status, 405);
}
