//! The scripts that run inside Redis: as functions of a library, or sent with `EVAL` where the
//! user may not load functions.

use std::sync::LazyLock;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

/// A script that runs as one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Name {
    Apply,
    Retrieve,
}

const PRELUDE: &str = include_str!("prelude.lua");
const APPLY: &str = include_str!("apply.lua");
const RETRIEVE: &str = include_str!("retrieve.lua");

/// Ends the names of library and functions, so that two versions of Keepsake can share a server.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let whole = [PRELUDE, APPLY, RETRIEVE].concat();
    HEXLOWER.encode(&Sha256::digest(whole.as_bytes()))[..12].to_owned()
});

impl Name {
    /// The name of the function.
    pub(super) fn function(self) -> String {
        let name = match self {
            Name::Apply => "apply",
            Name::Retrieve => "retrieve",
        };
        format!("keepsake_{name}_{}", *VERSION)
    }

    /// The script to send where functions are not allowed.
    pub(super) fn script(self) -> String {
        let body = match self {
            Name::Apply => APPLY,
            Name::Retrieve => RETRIEVE,
        };
        [PRELUDE, body].concat()
    }
}

/// The source of the library. Only reading may run while the memory is full.
pub(super) fn library() -> String {
    format!(
        "#!lua name=keepsake_{version}\n{PRELUDE}\n\
         redis.register_function('{apply}', function(KEYS, ARGV)\n{APPLY}\nend)\n\
         redis.register_function{{function_name='{retrieve}', flags={{'no-writes'}}, callback=function(KEYS, ARGV)\n{RETRIEVE}\nend}}\n",
        version = *VERSION,
        apply = Name::Apply.function(),
        retrieve = Name::Retrieve.function(),
    )
}
