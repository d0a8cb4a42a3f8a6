//! Who may see what, as the specification says it: the expectation that the
//! isolation test holds every endpoint to.

use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const AGENTS: [&str; 3] = ["main-brain", "research", "research-2"];
const NAMESPACES: [&str; 2] = ["left", "right"];

/// Who writes, and for whom.
#[derive(Clone, Debug)]
pub(crate) struct Write {
    pub(crate) agent: Option<&'static str>,
    pub(crate) namespace: &'static str,
    pub(crate) shared: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader {
    pub(crate) agent: Option<&'static str>,
    pub(crate) namespace: &'static str,
    pub(crate) primary: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sight {
    Visible,
    Hidden,
}

impl Reader {
    pub(crate) fn sight(&self, write: &Write) -> Sight {
        if self.namespace != write.namespace {
            Sight::Hidden
        } else if self.primary || write.shared || self.agent == write.agent {
            Sight::Visible
        } else {
            Sight::Hidden
        }
    }
}

pub(crate) fn write() -> impl Strategy<Value = Write> {
    let agent = option::weighted(0.8, select(AGENTS.to_vec()));
    (agent, select(NAMESPACES.to_vec()), any::<bool>()).prop_map(|(agent, namespace, shared)| {
        Write {
            agent,
            namespace,
            shared,
        }
    })
}

/// Every agent, nobody, and a primary agent, in both namespaces.
pub(crate) fn readers() -> impl Iterator<Item = Reader> {
    NAMESPACES.into_iter().flat_map(|namespace| {
        let agents = AGENTS.map(|agent| Reader {
            agent: Some(agent),
            namespace,
            primary: false,
        });
        let others = [
            Reader {
                agent: None,
                namespace,
                primary: false,
            },
            Reader {
                agent: Some(AGENTS[0]),
                namespace,
                primary: true,
            },
        ];
        agents.into_iter().chain(others)
    })
}
