//! Who may see what.
//!
//! A [`Scope`] is the first argument of every store method. Only the request's extractor and the
//! command line make one.

/// The namespace of whoever names none.
pub const DEFAULT_NAMESPACE: &str = "default";

/// The identity that a request reads and writes as.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// A hard wall: nothing crosses it.
    pub namespace: String,
    /// The agent, or `None` for whoever has no identity.
    pub agent: Option<String>,
    /// A primary agent sees every memory of its namespace.
    pub primary: bool,
}

impl Scope {
    /// The owner of a default installation: sees all of the default namespace, writes without agent.
    pub fn owner() -> Scope {
        Scope {
            namespace: DEFAULT_NAMESPACE.to_owned(),
            agent: None,
            primary: true,
        }
    }

    /// Whether a memory of this namespace is visible: to a primary agent each, to any other its own
    /// and the shared ones.
    pub fn sees(&self, namespace: &str, agent: Option<&str>, shared: bool) -> bool {
        self.namespace == namespace && (self.primary || shared || self.agent.as_deref() == agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_sees_its_own_and_the_shared_memories_of_its_namespace() {
        let alpha = Scope {
            namespace: "n".into(),
            agent: Some("alpha".into()),
            primary: false,
        };
        for (namespace, agent, shared, seen) in [
            ("n", Some("alpha"), false, true),
            ("n", Some("beta"), true, true),
            ("n", Some("beta"), false, false),
            ("n", None, false, false),
            ("m", Some("alpha"), true, false),
        ] {
            assert_eq!(
                alpha.sees(namespace, agent, shared),
                seen,
                "{namespace} {agent:?} {shared}"
            );
        }
        let primary = Scope {
            primary: true,
            ..alpha
        };
        assert!(primary.sees("n", Some("beta"), false));
        assert!(!primary.sees("m", Some("alpha"), true));
    }
}
