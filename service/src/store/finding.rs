//! What a close look finds, and how to mend it.

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    Fine,
    /// It works, and may not for long or not as meant.
    Warning,
    /// It does not work.
    Fault,
}

impl Grade {
    pub fn as_str(self) -> &'static str {
        match self {
            Grade::Fine => "fine",
            Grade::Warning => "warning",
            Grade::Fault => "fault",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in a word.
    pub check: &'static str,
    pub grade: Grade,
    pub found: String,
    /// What to do; nothing if it is fine.
    pub mend: Option<String>,
}

impl Finding {
    pub fn fine(check: &'static str, found: impl Into<String>) -> Finding {
        Finding {
            check,
            grade: Grade::Fine,
            found: found.into(),
            mend: None,
        }
    }

    pub fn warning(
        check: &'static str,
        found: impl Into<String>,
        mend: impl Into<String>,
    ) -> Finding {
        Finding {
            check,
            grade: Grade::Warning,
            found: found.into(),
            mend: Some(mend.into()),
        }
    }

    pub fn fault(
        check: &'static str,
        found: impl Into<String>,
        mend: impl Into<String>,
    ) -> Finding {
        Finding {
            grade: Grade::Fault,
            ..Finding::warning(check, found, mend)
        }
    }
}
