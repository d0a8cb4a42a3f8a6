//! Settings that a client gave when its session began.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions that are remembered; the one unused for longest is forgotten first.
const MOST_SESSIONS: usize = 4_096;

/// What a session sets; what is absent is as if there were no session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionSettings {
    pub agent_id: Option<String>,
    pub is_primary: Option<bool>,
    pub tag_filter: Option<Vec<String>>,
    pub top_k: Option<usize>,
}

/// The sessions of this process, by namespace and id. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Sessions(Arc<Mutex<Remembered>>);

#[derive(Debug, Default)]
struct Remembered {
    sessions: HashMap<(String, String), Session>,
    /// Grows with every use.
    uses: u64,
}

#[derive(Debug)]
struct Session {
    settings: SessionSettings,
    last_use: u64,
}

impl Sessions {
    /// Remembers the settings of a session, over earlier ones.
    pub fn start(&self, namespace: &str, id: &str, settings: SessionSettings) {
        let mut remembered = self.remembered();
        let key = (namespace.to_owned(), id.to_owned());
        if remembered.sessions.len() >= MOST_SESSIONS && !remembered.sessions.contains_key(&key) {
            let idle = remembered
                .sessions
                .iter()
                .min_by_key(|(_, session)| session.last_use)
                .map(|(key, _)| key.clone());
            if let Some(idle) = idle {
                remembered.sessions.remove(&idle);
            }
        }
        remembered.uses += 1;
        let last_use = remembered.uses;
        let session = Session { settings, last_use };
        remembered.sessions.insert(key, session);
    }

    /// The settings of a session; none if it is not remembered.
    pub fn settings(&self, namespace: &str, id: &str) -> SessionSettings {
        let mut remembered = self.remembered();
        remembered.uses += 1;
        let last_use = remembered.uses;
        let key = (namespace.to_owned(), id.to_owned());
        remembered
            .sessions
            .get_mut(&key)
            .map(|session| {
                session.last_use = last_use;
                session.settings.clone()
            })
            .unwrap_or_default()
    }

    fn remembered(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn top_k(number: usize) -> SessionSettings {
        SessionSettings {
            top_k: Some(number),
            ..SessionSettings::default()
        }
    }

    #[test]
    fn a_session_belongs_to_its_namespace_and_is_replaced_as_a_whole() {
        let sessions = Sessions::default();
        sessions.start("a", "s", top_k(3));
        assert_eq!(sessions.settings("a", "s"), top_k(3));
        assert_eq!(sessions.settings("b", "s"), SessionSettings::default());
        sessions.start("a", "s", SessionSettings::default());
        assert_eq!(sessions.settings("a", "s"), SessionSettings::default());
    }

    #[test]
    fn the_session_unused_for_longest_is_forgotten_first() {
        let sessions = Sessions::default();
        for number in 0..MOST_SESSIONS {
            sessions.start("a", &number.to_string(), top_k(number + 1));
        }
        sessions.settings("a", "0");
        sessions.start("a", "one more", top_k(1));
        assert_eq!(sessions.settings("a", "0"), top_k(1));
        assert_eq!(sessions.settings("a", "1"), SessionSettings::default());
        assert_eq!(sessions.0.lock().unwrap().sessions.len(), MOST_SESSIONS);
    }
}
