//! Congestion control: one file an algorithm, and the one list of them.

mod cubic;
#[cfg(test)]
mod fixed;
mod hystart;
mod reno;
mod window;

pub use cubic::{Cubic, CubicParams};
#[cfg(test)]
pub use fixed::{Fixed, FixedParams};
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
    /// Bytes of a full segment.
    pub mss: u16,
    /// In slow start the rate at which Linux would pace, bytes/s: twice the window a smoothed RTT.
    pub pacing_rate: Option<u64>,
}

/// What an acknowledgement says of the rate of delivery. Counts are of segments.
///
/// Source: draft-cheng-iccrg-delivery-rate-estimation-02, and Linux's `struct rate_sample`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Delivered when the newest that this acknowledgement delivers was sent, last.
    pub prior_delivered: u64,
    /// Delivered since then.
    pub delivered: u64,
    /// Of them, those that came with an ECN echo.
    pub delivered_ce: u64,
    /// Over what time; `None` if nothing was delivered, or if it is too short to be true.
    pub interval: Option<Duration>,
    /// The application, not the network, limited the rate.
    pub app_limited: bool,
    /// The newest had been sent again.
    pub retransmitted: bool,
    /// Delivered since the connection began.
    pub delivered_in_all: u64,
    /// Newly delivered by this acknowledgement.
    pub newly_delivered: u32,
    /// Newly judged lost with it.
    pub losses: u32,
    /// In flight before it.
    pub flight_before: u32,
    /// In flight after it.
    pub flight: u32,
    /// It echoes congestion (ECE).
    pub ece: bool,
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
    /// As [`CongestionControl::reduce`], when an ECN echo told of the congestion and the sender is to reduce by less
    /// (ABE, RFC 8511). A control that has no answer of its own reduces as for a loss.
    fn reduce_by_echo(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// A retransmission time-out, after [`CongestionControl::reduce`].
    fn on_timeout(&mut self, _now: Time, _nxt: u64) {}
    /// The first transmission, now, after `idle` without one and with nothing in flight.
    fn on_restart(&mut self, _idle: Duration, _now: Time) {}
    /// How fast the path delivers: at the end of each acknowledgement, if it [`Needs`] samples.
    fn on_sample(&mut self, _ack: &Ack, _sample: &RateSample, _window: &mut Window) {}
    /// The rate at which segments are to leave, bytes/s, if it has one of its own.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
}

/// What a control needs of its sender beyond acknowledgements and losses. None of it costs those that do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Samples of the delivery rate.
    pub samples: bool,
    /// It sets the window with each sample: neither recovery nor idleness change it (Linux's `cong_control`).
    pub steers: bool,
    /// Segments that leave at its rate, or at Linux's.
    pub pacing: bool,
}

/// An algorithm that the list can name.
pub trait Listed: CongestionControl + Sized {
    /// Its name, as Linux's `net.ipv4.tcp_congestion_control` has it.
    const NAME: &'static str;
    /// What it needs; CUBIC and Reno nothing.
    const NEEDS: Needs = Needs {
        samples: false,
        steers: false,
        pacing: false,
    };
    /// What may be set on it.
    type Params: Clone + fmt::Debug + Default + PartialEq + Eq;
    /// A fresh controller, as `variant` of Linux has it.
    fn new(params: &Self::Params, variant: Variant) -> Self;
}

macro_rules! controls {
    ($($(#[$about:meta])* $Name:ident: $name:ident $(in $when:meta)?),+ $(,)?) => {
        /// The names of the algorithms.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum Algorithm {
            $($(#[$about])* $(#[cfg($when)])? $Name,)+
        }

        /// What may be set on each algorithm.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Params {
            $(
                #[doc = concat!("Of [`", stringify!($Name), "`].")]
                $(#[cfg($when)])?
                pub $name: <$Name as Listed>::Params,
            )+
        }

        /// A controller of any kind, without a box: the call is a branch.
        #[derive(Clone, Debug)]
        pub enum Controller {
            $(
                #[doc = concat!("[`Algorithm::", stringify!($Name), "`].")]
                $(#[cfg($when)])?
                $Name($Name),
            )+
        }

        impl Algorithm {
            /// All, in the order of listing.
            pub const ALL: &'static [Self] = &[$($(#[cfg($when)])? Self::$Name,)+];

            /// The name, as Linux's `net.ipv4.tcp_congestion_control` has it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::NAME,)+
                }
            }

            /// What it needs.
            #[must_use]
            pub const fn needs(self) -> Needs {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::NEEDS,)+
                }
            }

            /// A fresh controller, as `variant` of Linux has it.
            #[must_use]
            pub fn build(self, params: &Params, variant: Variant) -> Controller {
                match self {
                    $($(#[cfg($when)])? Self::$Name => Controller::$Name(<$Name as Listed>::new(&params.$name, variant)),)+
                }
            }
        }

        impl CongestionControl for Controller {
            fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_rtt(ack, window),)+ }
            }
            fn grow(&mut self, ack: &Ack, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.grow(ack, window),)+ }
            }
            fn reduce(&mut self, window: &Window) -> u32 {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.reduce(window),)+ }
            }
            fn reduce_by_echo(&mut self, window: &Window) -> u32 {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.reduce_by_echo(window),)+ }
            }
            fn on_timeout(&mut self, now: Time, nxt: u64) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_timeout(now, nxt),)+ }
            }
            fn on_restart(&mut self, idle: Duration, now: Time) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_restart(idle, now),)+ }
            }
            fn on_sample(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_sample(ack, sample, window),)+ }
            }
            fn pacing_rate(&self) -> Option<u64> {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.pacing_rate(),)+ }
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
    /// [`Fixed`].
    Fixed: fixed in test,
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
