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
        self.asked_mut().user_timeout = timeout;
    }

    pub(crate) fn user_timeout(&self) -> Option<Duration> {
        self.asked.as_ref()?.user_timeout
    }

    /// Whether the connection is to be given up.
    #[inline]
    pub(crate) fn has_expired(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.expired)
    }

    fn expire(&mut self) -> bool {
        self.timers.armed = None;
        self.asked_mut().expired = true;
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
        let Some(asked) = &mut self.asked else {
            return false;
        };
        let since = *asked.probing_since.get_or_insert(now);
        asked.user_timeout.is_some_and(|timeout| now.since(since) >= timeout) && self.expire()
    }

    /// The next wait of the probe timer, if it would be `wait` without a user timeout.
    pub(super) fn clamp_probe(&self, wait: Duration, now: Time) -> Duration {
        let asked = self.asked.as_ref();
        match asked.and_then(|asked| Some((asked.user_timeout?, asked.probing_since?))) {
            Some((timeout, since)) => wait.min(timeout.saturating_sub(now.since(since)).max(SHORTEST_PROBE)),
            None => wait,
        }
    }

    /// What the probes waited for has come.
    #[inline]
    pub(super) fn end_probing(&mut self) {
        if let Some(asked) = &mut self.asked {
            asked.probing_since = None;
        }
    }
}
