//! Congestion control: one small file an algorithm.

mod cubic;
mod hystart;
mod reno;

pub use cubic::Cubic;
pub use reno::Reno;

use sojourn_units::{Duration, Time};
use std::fmt;
use std::str::FromStr;

/// The window that a controller steers, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u32,
    /// Slow-start threshold; `u32::MAX` before the first congestion.
    pub ssthresh: u32,
    /// Segments acknowledged towards the next increase in congestion avoidance.
    pub credit: u32,
}

impl Window {
    /// Whether slow start applies (RFC 5681 section 3.1).
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// One segment for each acknowledged, up to the threshold; answers how many acknowledged are left over.
    pub(crate) fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        left
    }

    /// One segment for every `per_segment` acknowledged.
    pub(crate) fn additive_increase(&mut self, per_segment: u32, acked: u32) {
        if self.credit >= per_segment {
            self.credit = 0;
            self.cwnd += 1;
        }
        self.credit += acked;
        if self.credit >= per_segment {
            let n = self.credit / per_segment;
            self.credit -= n * per_segment;
            self.cwnd += n;
        }
    }
}

/// What an acknowledgement tells a controller.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it came.
    pub now: Time,
    /// Segments newly delivered, cumulatively or by SACK.
    pub acked: u32,
    /// First unacknowledged byte, after it.
    pub una: u64,
    /// Next byte to send.
    pub nxt: u64,
    /// RTT of the most recently sent segment that it delivers, if unambiguous.
    pub rtt: Option<Duration>,
    /// Rate at which the sender would pace, bytes/s: twice the window a smoothed RTT in slow start.
    pub pacing_rate: u64,
}

/// A congestion control algorithm. It is told of acknowledgements and congestion and steers a [`Window`]; recovery
/// itself (SACK, RACK, PRR, time-outs) is the sender's.
pub trait CongestionControl: fmt::Debug {
    /// An RTT sample, before [`CongestionControl::grow`] for the same acknowledgement and also during recovery.
    fn on_rtt(&mut self, _ack: &Ack, _window: &mut Window) {}
    /// The window may grow: an acknowledgement outside recovery, while the window was the limit.
    fn grow(&mut self, ack: &Ack, window: &mut Window);
    /// Congestion: answers the new slow-start threshold.
    fn reduce(&mut self, window: &Window) -> u32;
    /// A retransmission time-out, after [`CongestionControl::reduce`].
    fn on_timeout(&mut self, _now: Time, _nxt: u64) {}
    /// The first transmission, now, after `idle` without one and with nothing in flight.
    fn on_restart(&mut self, _idle: Duration, _now: Time) {}
}

/// The names of the algorithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// [`Cubic`].
    #[default]
    Cubic,
    /// [`Reno`].
    Reno,
}

impl Algorithm {
    /// All, in the order of listing.
    pub const ALL: [Self; 2] = [Self::Cubic, Self::Reno];

    /// The name, as Linux's `net.ipv4.tcp_congestion_control` has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cubic => "cubic",
            Self::Reno => "reno",
        }
    }

    /// A fresh controller.
    #[must_use]
    pub fn build(self, hystart: bool, variant: crate::Variant) -> Controller {
        match self {
            Self::Cubic => Controller::Cubic(Cubic::new(hystart, variant)),
            Self::Reno => Controller::Reno(Reno::new(variant)),
        }
    }
}
impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
impl FromStr for Algorithm {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|a| a.name() == s).ok_or_else(|| {
            format!(
                "congestion_control is {s:?}, but must be one of: {}",
                Self::ALL.map(Self::name).join(", ")
            )
        })
    }
}

/// A controller of any kind, without a box: the call is a branch.
#[derive(Clone, Debug)]
pub enum Controller {
    /// RFC 5681 and 6582.
    Reno(Reno),
    /// RFC 9438.
    Cubic(Cubic),
}

macro_rules! each {
    ($self:ident, $c:ident => $e:expr) => {
        match $self {
            Controller::Reno($c) => $e,
            Controller::Cubic($c) => $e,
        }
    };
}

impl CongestionControl for Controller {
    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        each!(self, c => c.on_rtt(ack, window));
    }
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        each!(self, c => c.grow(ack, window));
    }
    fn reduce(&mut self, window: &Window) -> u32 {
        each!(self, c => c.reduce(window))
    }
    fn on_timeout(&mut self, now: Time, nxt: u64) {
        each!(self, c => c.on_timeout(now, nxt));
    }
    fn on_restart(&mut self, idle: Duration, now: Time) {
        each!(self, c => c.on_restart(idle, now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_a_wrong_one_lists_them() {
        for a in Algorithm::ALL {
            assert_eq!(a.name().parse(), Ok(a));
        }
        assert_eq!(
            "bbr".parse::<Algorithm>().unwrap_err(),
            "congestion_control is \"bbr\", but must be one of: cubic, reno"
        );
    }
}
