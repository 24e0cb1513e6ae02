//! What can be wrong with a simulation that is set up.

use crate::network::NetworkError;
use sojourn_tcp::ParamError;
use thiserror::Error;

/// A simulation that cannot be set up.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimError {
    /// The network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// A TCP parameter.
    #[error(transparent)]
    Tcp(#[from] ParamError),
    /// A discipline that only a kernel has.
    #[error("{0}")]
    NotModelled(String),
    /// A topology.
    #[error(transparent)]
    Topology(#[from] crate::topology::TopologyError),
    /// A token bucket.
    #[error(transparent)]
    Qdisc(#[from] sojourn_qdisc::ParamError),
    /// A cell.
    #[error(transparent)]
    Wifi(#[from] sojourn_wifi::WifiError),
    /// A flusher.
    #[error(transparent)]
    Flusher(#[from] sojourn_flusher::ParamError),
}
