//! Bank clients as they are published, against the bank API.

use super::script;
use crate::support::TestServer;

#[test]
fn the_newest_hindsight_client_works() {
    let server = TestServer::start();
    script(
        &["hindsight-client==1.1.0"],
        "hindsight.py",
        &[server.url()],
    );
}

#[test]
fn the_hindsight_client_that_hermes_pins_works() {
    let server = TestServer::start();
    script(
        &["hindsight-client==0.6.1"],
        "hindsight.py",
        &[server.url()],
    );
}

#[test]
fn the_hindsight_provider_of_hermes_remembers_its_turns() {
    let server = TestServer::start();
    let packages = ["hermes-agent==0.19.0", "hindsight-client==0.6.1"];
    script(&packages, "hermes_hindsight.py", &[server.url()]);
}

#[test]
fn a_locked_store_is_told_to_a_client_and_reads_go_on() {
    let server = TestServer::start();
    let folder = server.folder().to_str().unwrap();
    let arguments = [server.url(), folder];
    script(
        &["hindsight-client==1.1.0"],
        "hindsight_locked.py",
        &arguments,
    );
}
