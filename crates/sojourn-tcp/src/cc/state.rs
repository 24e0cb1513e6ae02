//! Congestion states.

/// Congestion state, by Linux's names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing unusual.
    #[default]
    Open,
    /// SACKs or duplicates, but nothing judged lost.
    Disorder,
    /// Reducing the window after an ECN echo or a tail loss probe.
    Cwr,
    /// Fast recovery (RFC 6675, 6937, 8985).
    Recovery,
    /// After a retransmission time-out.
    Loss,
}
