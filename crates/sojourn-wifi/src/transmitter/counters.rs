//! What is counted for each peer.

use sojourn_units::{Bytes, Duration};

/// What a node counts for each peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerStats {
    /// Airtime of what was sent to it, as the caller reported it at completion.
    pub airtime_tx: Duration,
    /// Airtime of what was received from it.
    pub airtime_rx: Duration,
    /// Aggregates (and single frames) sent to it.
    pub aggregates: u64,
    /// Frames in them: transmissions of MPDUs.
    pub transmissions: u64,
    /// Their packets' sizes.
    pub bytes: Bytes,
    /// Transmissions of frames that had been sent before.
    pub retries: u64,
    /// Frames given up at the limit of transmissions.
    pub given_up: u64,
    /// Voice frames that rode in aggregates of another category.
    pub voice_in_aggregates: u64,
}
