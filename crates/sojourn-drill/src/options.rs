//! Options of sockets that change what our TCP does.

use sojourn_tcp::{Endpoint, ReceiveMemory};
use sojourn_units::Duration;

/// What an application has set on a socket. A connection has at first what the listening socket has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SocketOptions {
    nodelay: bool,
    corked: bool,
    /// Milliseconds; 0 is never.
    user_timeout: i64,
    /// Milliseconds.
    max_rto: Option<i64>,
    /// Bytes, as they were set.
    receive_buffer: Option<i64>,
}

/// The largest receive buffer that an application may set, bytes. Source: Linux 7.3 `net.core.rmem_max`.
pub(crate) const LARGEST_BUFFER: i64 = 4 << 20;

/// The smallest and the largest value of `TCP_RTO_MAX_MS`.
const MAX_RTO: std::ops::RangeInclusive<i64> = 1000..=120_000;

impl SocketOptions {
    /// Sets an option, if it is one of these. Answers whether its value is one that Linux takes.
    pub(crate) fn set(&mut self, name: &str, value: i64) -> bool {
        match name {
            "TCP_NODELAY" => self.nodelay = value != 0,
            "TCP_CORK" => self.corked = value != 0,
            "TCP_USER_TIMEOUT" if !(0..=i64::from(i32::MAX)).contains(&value) => return false,
            "TCP_USER_TIMEOUT" => self.user_timeout = value,
            "TCP_RTO_MAX_MS" if !MAX_RTO.contains(&value) => return false,
            "TCP_RTO_MAX_MS" => self.max_rto = Some(value),
            "SO_RCVBUF" => self.receive_buffer = Some(value),
            _ => {}
        }
        true
    }

    /// The value of one of these.
    pub(crate) fn get(&self, name: &str) -> Option<i64> {
        match name {
            "TCP_NODELAY" => Some(self.nodelay.into()),
            "TCP_CORK" => Some(self.corked.into()),
            "TCP_USER_TIMEOUT" => Some(self.user_timeout),
            "TCP_RTO_MAX_MS" => self.max_rto,
            "SO_RCVBUF" => self.receive_memory()?.try_into().ok(),
            _ => None,
        }
    }

    /// The endpoint has an option from now on.
    pub(crate) fn apply(&self, name: &str, endpoint: &mut Endpoint) {
        match name {
            "TCP_NODELAY" => endpoint.set_nagle(!self.nodelay),
            "TCP_CORK" => endpoint.set_cork(self.corked),
            "TCP_USER_TIMEOUT" => endpoint.set_user_timeout(millis(self.user_timeout)),
            "TCP_RTO_MAX_MS" => {
                if let Some(most) = self.max_rto.and_then(millis) {
                    endpoint.set_max_rto(most);
                }
            }
            "SO_RCVBUF" => {
                if let Some(size) = self.receive_memory() {
                    endpoint.set_receive_memory(size);
                }
            }
            _ => {}
        }
    }

    /// The size of the receive buffer, if the application has set it, bytes of memory.
    pub(crate) fn receive_memory(&self) -> Option<u64> {
        let set = self.receive_buffer?.clamp(0, LARGEST_BUFFER);
        Some(ReceiveMemory::doubled(set.cast_unsigned()))
    }

    /// The endpoint has all of them from now on.
    pub(crate) fn apply_all(&self, endpoint: &mut Endpoint) {
        for name in ["TCP_NODELAY", "TCP_CORK", "TCP_USER_TIMEOUT", "TCP_RTO_MAX_MS"] {
            self.apply(name, endpoint);
        }
    }
}

/// A duration of so many milliseconds; `None` for 0.
fn millis(ms: i64) -> Option<Duration> {
    u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}
