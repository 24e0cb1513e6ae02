//! The user timeout: a connection whose peer acknowledges nothing for so long is given up (RFC 9293 section 3.8.3, RFC
//! 5482).
//!
//! Source: Linux 7.3 `retransmits_timed_out`, `tcp_rtx_probe0_timed_out`, `tcp_probe_timer`. The time is looked at only
//! when a timer goes off, so the last wait is cut to what is left of it.

use super::{LossRecovery, Machine};
use sojourn_units::{Duration, Time};

/// What is left of a timeout that has passed. Source: Linux `tcp_clamp_rto_to_user_timeout`: one tick.
const AT_ONCE: Duration = Duration::from_millis(1);
/// The shortest wait for the next probe. Source: Linux `TCP_TIMEOUT_MIN`: two ticks.
const SHORTEST_PROBE: Duration = Duration::from_millis(2);

impl<R: LossRecovery> Machine<R> {
    /// How long the peer may acknowledge nothing; `None` for as long as it likes.
    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.options_mut().user_timeout = timeout;
    }

    pub(crate) fn user_timeout(&self) -> Option<Duration> {
        self.options.as_ref()?.user_timeout
    }

    /// Whether the connection is to be given up.
    #[inline]
    pub(crate) fn has_expired(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.expired)
    }

    fn expire(&mut self) -> bool {
        self.timers.armed = None;
        self.options_mut().expired = true;
        true
    }

    /// The retransmission timer has gone off. Answers whether the connection is given up: the first retransmission is
    /// longer ago. Behind a closed window what counts is how long nothing has got through, even if this is the first
    /// time-out.
    #[cold]
    pub(super) fn gives_up_retransmitting(&mut self, now: Time) -> bool {
        let Some(timeout) = self.user_timeout() else {
            return false;
        };
        let first = self.undo.first_retransmit;
        let gives_up = if self.window_end <= self.una {
            let since = first.or(self.board.head().map(|head| head.sent_at));
            since.is_some_and(|since| now.since(since) > timeout)
        } else {
            self.timers.timeouts > 0 && first.is_some_and(|first| now.since(first) >= timeout)
        };
        gives_up && self.expire()
    }

    /// The next wait of the retransmission timer, if it would be `wait` without a user timeout.
    #[inline]
    pub(super) fn clamp_rto(&self, wait: Duration, now: Time) -> Duration {
        match self.user_timeout() {
            Some(timeout) if self.timers.timeouts > 0 => {
                let gone = self
                    .undo
                    .first_retransmit
                    .map_or(Duration::ZERO, |first| now.since(first));
                wait.min(timeout.saturating_sub(gone).max(AT_ONCE))
            }
            _ => wait,
        }
    }

    /// The time to probe has come. Answers whether the connection is given up instead: the first probe is longer ago.
    /// Answers of the peer do not count, as long as nothing can be sent.
    pub(super) fn gives_up_probing(&mut self, now: Time) -> bool {
        let Some(options) = &mut self.options else {
            return false;
        };
        let since = *options.probing_since.get_or_insert(now);
        options.user_timeout.is_some_and(|timeout| now.since(since) >= timeout) && self.expire()
    }

    /// The next wait of the probe timer, if it would be `wait` without a user timeout.
    pub(super) fn clamp_probe(&self, wait: Duration, now: Time) -> Duration {
        let options = self.options.as_ref();
        match options.and_then(|options| Some((options.user_timeout?, options.probing_since?))) {
            Some((timeout, since)) => wait.min(timeout.saturating_sub(now.since(since)).max(SHORTEST_PROBE)),
            None => wait,
        }
    }

    /// What the probes waited for has come.
    #[inline]
    pub(super) fn end_probing(&mut self) {
        if let Some(options) = &mut self.options {
            options.probing_since = None;
        }
    }
}
