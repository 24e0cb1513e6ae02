//! The handshake of one end: when its SYN or SYN-ACK goes out again, and what its answer tells.

use crate::rtt::{RTO_INITIAL, RTO_MAX};
use crate::rules::Rules;
use crate::segment::Segment;
use crate::timestamp::now_ms;
use sojourn_units::ticks;
use sojourn_units::{Duration, Time};

/// How often a SYN is sent again. Source: Linux `tcp_syn_retries`.
const SYN_RETRIES: u32 = 6;
/// How often a SYN-ACK is sent again because a time-out passed. Source: Linux `tcp_synack_retries`.
const SYN_ACK_RETRIES: u32 = 5;

/// What is left of a user timeout that has passed: one tick.
const AT_ONCE: Duration = Duration::from_millis(1);

/// What a time-out of the handshake asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    /// The segment again.
    Repeat,
    /// Nothing more: the handshake has failed.
    GiveUp,
}

/// A SYN or SYN-ACK that waits for its answer.
///
/// Source: RFC 6298 section 5.5, where a time-out doubles; Linux 6.1 `tcp_retransmit_timer`, `reqsk_timer_handler`,
/// `tcp_check_req`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handshake {
    /// When the segment went out first.
    sent: Time,
    due: Time,
    /// When a repeated SYN or SYN-ACK was answered last.
    answered: Option<Time>,
    /// Time-outs so far.
    timeouts: u32,
    /// Times that the segment went out again.
    repeats: u32,
    /// It is a SYN-ACK.
    passive: bool,
    /// So many time-outs are as long as the first.
    linear: u32,
    /// The largest time-out.
    max_rto: Duration,
    /// After so long without an answer the end that connects gives up (Linux `TCP_USER_TIMEOUT`).
    user_timeout: Option<Duration>,
    rules: &'static Rules,
}

impl Handshake {
    /// A SYN goes out at `now`; `linear` time-outs are as long as the first.
    pub(crate) fn syn(rules: &'static Rules, linear: u32, now: Time) -> Self {
        Self {
            sent: now,
            due: goes_off(rules, RTO_INITIAL, now),
            answered: None,
            timeouts: 0,
            repeats: 0,
            passive: false,
            linear,
            max_rto: RTO_MAX,
            user_timeout: None,
            rules,
        }
    }

    /// A SYN-ACK goes out at `now`.
    pub(crate) fn syn_ack(rules: &'static Rules, now: Time) -> Self {
        Self {
            passive: true,
            ..Self::syn(rules, 0, now)
        }
    }

    /// The same with another largest time-out, and for the end that connects with a user timeout.
    pub(crate) fn with_limits(self, max_rto: Duration, user_timeout: Option<Duration>) -> Self {
        Self {
            max_rto,
            user_timeout: user_timeout.filter(|_| !self.passive),
            ..self
        }
    }

    /// When a time-out is due.
    pub(crate) const fn due(&self) -> Time {
        self.due
    }

    /// The time-out has passed.
    pub(crate) fn on_timeout(&mut self, now: Time) -> Expiry {
        let most = if self.passive { SYN_ACK_RETRIES } else { SYN_RETRIES };
        if self.timeouts >= most || self.timeouts > 0 && self.left(now) == Some(Duration::ZERO) {
            self.due = Time::MAX;
            return Expiry::GiveUp;
        }
        self.timeouts += 1;
        self.repeats += 1;
        self.arm(now);
        Expiry::Repeat
    }

    /// The peer's SYN has come again. Answers whether the SYN-ACK goes out again; then its time-out begins anew.
    pub(crate) fn on_repeated_syn(&mut self, interval: Duration, now: Time) -> bool {
        let answers = self.may_answer(interval, now);
        if answers {
            self.repeats += 1;
            self.arm(now);
        }
        answers
    }

    /// Whether a SYN or SYN-ACK that has come again is answered, or another bad segment: one in each `interval`. Linux
    /// 3.14 answers all.
    pub(crate) fn may_answer(&mut self, interval: Duration, now: Time) -> bool {
        if self.rules.limits_answers && self.answered.is_some_and(|at| now.since(at) < interval) {
            return false;
        }
        self.answered = Some(now);
        true
    }

    /// What is left of the user timeout. Source: Linux `retransmits_timed_out`.
    fn left(&self, now: Time) -> Option<Duration> {
        Some(self.user_timeout?.saturating_sub(now.since(self.sent)))
    }

    /// Whether it has failed because the user timeout has passed.
    pub(crate) fn has_expired(&self, now: Time) -> bool {
        self.left(now) == Some(Duration::ZERO)
    }

    fn arm(&mut self, now: Time) {
        // Source: Linux `tcp_retransmit_timer`.
        let doublings = self.timeouts.saturating_sub(self.linear);
        let wait = (RTO_INITIAL * (1 << doublings)).min(self.max_rto);
        // Source: Linux `tcp_clamp_rto_to_user_timeout`.
        let wait = self.left(now).map_or(wait, |left| wait.min(left.max(AT_ONCE)));
        self.due = goes_off(self.rules, wait, now);
    }

    /// The round trip that the answer tells. A segment sent more than once has none (Karn's rule), but the echoed
    /// timestamp says which of them this answers (RFC 7323 section 4.1).
    pub(crate) fn rtt(&self, answer: &Segment, now: Time) -> Duration {
        if self.repeats == 0 {
            now.since(self.sent)
        } else {
            Duration::from_millis(u64::from(now_ms(now).wrapping_sub(answer.ts_ecr)).max(1))
        }
    }

    /// Whether the connection begins with a window of one segment.
    ///
    /// RFC 5681 section 3.1 asks for that after any lost SYN or SYN-ACK. Linux forgives one (RFC 6298 section 5.7), a
    /// SYN-ACK that only repeated SYNs asked for, and an answer that echoes the timestamp of the first, which then was
    /// not lost. Source: Linux 6.1 `tcp_init_transfer`, `tcp_create_openreq_child`, `tcp_try_undo_spurious_syn`; Linux
    /// 3.14 does not look at the echo.
    pub(crate) fn starts_small(&self, answer: &Segment) -> bool {
        if self.repeats < 2 {
            return false;
        }
        !self.rules.undoes_syn || self.timeouts > 0 && answer.ts_ecr != now_ms(self.sent)
    }
}

/// When a time-out set at `now` goes off.
fn goes_off(rules: &'static Rules, wait: Duration, now: Time) -> Time {
    if rules.ticks {
        ticks::after(wait, now)
    } else {
        now + wait
    }
}
