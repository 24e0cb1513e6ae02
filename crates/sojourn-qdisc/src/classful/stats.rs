//! The counters of a class.

use crate::Backlog;

/// The counters of one class, as `tc -s class` shows them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassStats {
    /// Its handle, such as `1:11`.
    pub id: String,
    /// Packets that departed from it.
    pub sent_packets: u64,
    /// Bytes that departed from it.
    pub sent_bytes: u64,
    /// Packets that its discipline dropped.
    pub dropped: u64,
    /// `htb`: how often it reached its ceiling; else 0.
    pub overlimits: u64,
    /// What its discipline holds. A packet that was dequeued ahead of time for a shaper above is not among it.
    pub backlog: Backlog,
    /// The counters of this kind of class by the names of `tc`: `lended`, `borrowed`, `giants`, `tokens` and `ctokens`
    /// of `htb`, the last two in ticks of 64 ns; `deficit` of `drr`, in bytes.
    pub extra: Vec<(&'static str, f64)>,
}
