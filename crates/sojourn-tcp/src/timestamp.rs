//! The clock of TCP's timestamps.

use sojourn_units::Time;

/// Whole milliseconds, never zero, because an echo of zero means none.
pub(crate) fn now_ms(now: Time) -> u32 {
    (now.as_nanos() / 1_000_000) as u32 + 1
}
