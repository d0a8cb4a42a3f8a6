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
    Examine,
}

const PRELUDE: &str = include_str!("prelude.lua");
const APPLY: &str = include_str!("apply.lua");
const RETRIEVE: &str = include_str!("retrieve.lua");
const EXAMINE: &str = include_str!("examine.lua");

/// Ends the names of library and functions, so that two versions of Keepsake can share a server.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let whole = [PRELUDE, APPLY, RETRIEVE, EXAMINE].concat();
    HEXLOWER.encode(&Sha256::digest(whole.as_bytes()))[..12].to_owned()
});

impl Name {
    /// The name of the function.
    pub(super) fn function(self) -> String {
        let name = match self {
            Name::Apply => "apply",
            Name::Retrieve => "retrieve",
            Name::Examine => "examine",
        };
        format!("keepsake_{name}_{}", *VERSION)
    }

    /// The script to send where functions are not allowed.
    pub(super) fn script(self) -> String {
        [PRELUDE, self.body()].concat()
    }

    fn body(self) -> &'static str {
        match self {
            Name::Apply => APPLY,
            Name::Retrieve => RETRIEVE,
            Name::Examine => EXAMINE,
        }
    }
}

/// The source of the library. Only reading may run while the memory is full.
pub(super) fn library() -> String {
    let mut source = format!("#!lua name=keepsake_{}\n{PRELUDE}", *VERSION);
    for (name, flags) in [
        (Name::Apply, ""),
        (Name::Retrieve, "'no-writes'"),
        (Name::Examine, "'no-writes'"),
    ] {
        source.push_str(&format!(
            "\nredis.register_function{{function_name='{}', flags={{{flags}}}, callback=function(KEYS, ARGV)\n{}\nend}}\n",
            name.function(),
            name.body()
        ));
    }
    source
}
