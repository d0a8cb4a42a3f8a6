//! The one place that reads the time and draws chance; everything else is given both.

use std::sync::{Arc, Mutex};

use chrono::{DateTime, NaiveDate, NaiveDateTime, SubsecRound, Utc};
use data_encoding::Encoding;

use crate::memory::MemoryId;

/// Where a rim (handler, command, job) reads the time, once for each request.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// A time set by hand: tests, `--now`, the evaluation.
    Fixed(Arc<Mutex<DateTime<Utc>>>),
}

impl Clock {
    pub fn fixed(now: DateTime<Utc>) -> Clock {
        Clock::Fixed(Arc::new(Mutex::new(now)))
    }

    /// The time, in whole milliseconds: what stores keep.
    pub fn now(&self) -> DateTime<Utc> {
        let now = match self {
            #[expect(
                clippy::disallowed_methods,
                reason = "the one place that reads the machine's clock"
            )]
            Clock::System => Utc::now(),
            Clock::Fixed(now) => *now.lock().expect("no holder of the fixed time can panic"),
        };
        now.trunc_subsecs(3)
    }
}

/// A time as programs write it: RFC 3339, or without a zone, or a day alone, both in UTC.
pub fn parse_time(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(zoned) = DateTime::parse_from_rfc3339(text) {
        return Some(zoned.to_utc());
    }
    let time = text
        .replacen(' ', "T", 1)
        .parse::<NaiveDateTime>()
        .ok()
        .or_else(|| text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0))?;
    Some(time.and_utc())
}

/// Lower-case base 32 (RFC 4648, no padding).
static BASE32: std::sync::LazyLock<Encoding> = std::sync::LazyLock::new(|| {
    let mut specification = data_encoding::Specification::new();
    specification
        .symbols
        .push_str("abcdefghijklmnopqrstuvwxyz234567");
    specification
        .encoding()
        .expect("the alphabet has 32 symbols")
});

/// A new random UUID (version 4), for clients whose names are such.
///
/// # Errors
/// When the operating system gives no random bytes.
pub fn new_uuid() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string())
}

/// A new random id: 80 bits, 16 characters.
///
/// # Errors
/// When the operating system gives no random bytes.
pub fn new_id() -> Result<MemoryId, getrandom::Error> {
    let mut bytes = [0; 10];
    getrandom::fill(&mut bytes)?;
    Ok(MemoryId::new(BASE32.encode(&bytes)))
}
