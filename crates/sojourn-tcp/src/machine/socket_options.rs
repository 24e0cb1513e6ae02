//! What an application has asked of a sender by options of its socket, and what the host's device says.

use super::nagle::Nagle;
use super::{CaState, LossRecovery, Machine};
use sojourn_units::{Duration, Time};

/// What was asked. A sender of which nothing was asked has none of this.
#[derive(Clone, Debug, Default)]
pub(crate) struct SocketOptions {
    /// How long the peer may acknowledge nothing. Source: Linux `icsk_user_timeout`.
    pub(super) user_timeout: Option<Duration>,
    /// When the first probe went out of those that wait for the window. Source: Linux `icsk_probes_tstamp`.
    pub(super) probing_since: Option<Time>,
    /// The user timeout has passed.
    pub(super) expired: bool,
    pub(super) nagle: Nagle,
    /// The device drops whatever it is given, and says so.
    device_full: bool,
}

impl<R: LossRecovery> Machine<R> {
    pub(super) fn options_mut(&mut self) -> &mut SocketOptions {
        self.options.get_or_insert_default()
    }

    /// The host's device drops all that it is given from now on, or takes it again.
    pub(crate) fn set_device_full(&mut self, full: bool) {
        self.options_mut().device_full = full;
    }

    /// Whether the device drops what it is given.
    #[inline]
    pub(super) fn device_drops(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.device_full)
    }

    /// Whether the device drops the segment that would go out now. That is a sign of congestion. Source: Linux
    /// `__tcp_transmit_skb`, which calls `tcp_enter_cwr`.
    #[inline]
    pub(super) fn device_refuses(&mut self) -> bool {
        let refuses = self.device_drops();
        if refuses && self.episode.state < CaState::Cwr {
            self.reduce_for_device();
        }
        refuses
    }

    /// Whether the next segment, of `len` bytes, waits for something other than windows: for more of the application,
    /// or for the device.
    #[inline]
    pub(super) fn is_withheld(&self, len: u16) -> bool {
        self.options.is_some() && len > 0 && (self.device_drops() || self.holds_small(len))
    }
}
