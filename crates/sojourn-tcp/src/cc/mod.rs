//! Congestion control: one file an algorithm, and the one list of them.

mod cubic;
mod hystart;
mod reno;
mod window;

pub use cubic::{Cubic, CubicParams};
pub use reno::Reno;
pub use window::{Threshold, Window};

use crate::variant::Variant;
use sojourn_units::{Duration, Time};
use std::fmt;
use std::str::FromStr;

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
    pub pacing_rate: Option<u64>,
}

/// A congestion control algorithm. It hears of acknowledgements and congestion and steers a [`Window`]; recovery
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

/// An algorithm that the list can name.
pub trait Listed: CongestionControl + Sized {
    /// Its name, as Linux's `net.ipv4.tcp_congestion_control` has it.
    const NAME: &'static str;
    /// What may be set on it.
    type Params: Clone + fmt::Debug + Default + PartialEq + Eq;
    /// A fresh controller, as `variant` of Linux has it.
    fn new(params: &Self::Params, variant: Variant) -> Self;
}

macro_rules! controls {
    ($($(#[$about:meta])* $Name:ident: $name:ident),+ $(,)?) => {
        /// The names of the algorithms.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Algorithm {
            $($(#[$about])* $Name,)+
        }

        /// What may be set on each algorithm.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Params {
            $(
                #[doc = concat!("Of [`", stringify!($Name), "`].")]
                pub $name: <$Name as Listed>::Params,
            )+
        }

        /// A controller of any kind, without a box: the call is a branch.
        #[derive(Clone, Debug)]
        pub enum Controller {
            $(#[doc = concat!("[`Algorithm::", stringify!($Name), "`].")] $Name($Name),)+
        }

        impl Algorithm {
            /// All, in the order of listing.
            pub const ALL: &'static [Self] = &[$(Self::$Name,)+];

            /// The name, as Linux's `net.ipv4.tcp_congestion_control` has it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Name => <$Name as Listed>::NAME,)+
                }
            }

            /// A fresh controller, as `variant` of Linux has it.
            #[must_use]
            pub fn build(self, params: &Params, variant: Variant) -> Controller {
                match self {
                    $(Self::$Name => Controller::$Name(<$Name as Listed>::new(&params.$name, variant)),)+
                }
            }
        }

        impl CongestionControl for Controller {
            fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
                match self { $(Self::$Name(c) => c.on_rtt(ack, window),)+ }
            }
            fn grow(&mut self, ack: &Ack, window: &mut Window) {
                match self { $(Self::$Name(c) => c.grow(ack, window),)+ }
            }
            fn reduce(&mut self, window: &Window) -> u32 {
                match self { $(Self::$Name(c) => c.reduce(window),)+ }
            }
            fn on_timeout(&mut self, now: Time, nxt: u64) {
                match self { $(Self::$Name(c) => c.on_timeout(now, nxt),)+ }
            }
            fn on_restart(&mut self, idle: Duration, now: Time) {
                match self { $(Self::$Name(c) => c.on_restart(idle, now),)+ }
            }
        }
    };
}

controls! {
    /// [`Cubic`]: RFC 9438.
    #[default]
    Cubic: cubic,
    /// [`Reno`]: RFC 5681 and 6582.
    Reno: reno,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
impl FromStr for Algorithm {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|a| a.name() == s).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|a| a.name()).collect();
            format!("congestion_control is {s:?}, but must be one of: {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_and_a_wrong_one_lists_them() {
        for a in Algorithm::ALL {
            assert_eq!(a.name().parse(), Ok(*a));
        }
        assert_eq!(
            "bbr".parse::<Algorithm>().unwrap_err(),
            "congestion_control is \"bbr\", but must be one of: cubic, reno"
        );
    }
}
