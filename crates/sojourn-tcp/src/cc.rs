//! Congestion control: one file an algorithm, and the one list of them.

mod bbr;
mod bbr2_3;
mod cubic;
mod dctcp;
#[cfg(test)]
mod fixed;
mod ledbat;
mod own;
mod prague;
mod reno;
mod sample;
mod slow_start;
mod state;
mod vegas;
mod window;

pub use bbr::{Bbr, BbrParams};
pub use bbr2_3::{Bbr2, Bbr2L4s, Bbr3, LaterBbrParams};
pub use cubic::{Cubic, CubicParams};
pub use dctcp::Dctcp;
#[cfg(test)]
pub use fixed::{Fixed, FixedParams};
pub use ledbat::LedbatPlusPlus;
pub use own::{CloneControl, Own, OwnControl, register};
pub use prague::{Prague, PragueParams, PragueVersion, RttControl};
pub use reno::Reno;
pub use sample::{LostSegment, RateSample, SenderView};
pub use slow_start::SlowStart;
pub use state::CaState;
pub use vegas::{Vegas, VegasParams};
pub use window::{Threshold, Window};

use crate::variant::Variant;
use sojourn_units::{Duration, Time, text};
use std::fmt;
use std::str::FromStr;

/// What of the delivered was marked, by an acknowledgement.
///
/// With classic ECN (RFC 3168) an echo counts for all that its acknowledgement delivers (Linux `tcp_newly_delivered`),
/// which is exact where the receiver echoes each mark once (RFC 8257).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// Packets. AccECN counts pure acknowledgements too.
    pub packets: u32,
    /// Bytes of payload: as the AccECN option counts them, else full segments.
    pub bytes: u64,
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
    /// Bytes of a full segment.
    pub mss: u16,
    /// It tells of congestion: an echo (ECE), or marks that AccECN counts.
    pub ece: bool,
    /// What it says was marked.
    pub marked: Marked,
    /// In slow start the rate at which Linux would pace, bytes/s: twice the window a smoothed RTT.
    pub pacing_rate: Option<u64>,
}

/// A connection when its handshake is over.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The time.
    pub now: Time,
    /// How long the handshake took.
    pub rtt: Duration,
    /// Bytes of a full segment.
    pub mss: u16,
    /// The initial window.
    pub window: Window,
}

/// A connection that sends while nothing of it is in flight.
#[derive(Clone, Copy, Debug)]
pub struct Restart {
    /// The time.
    pub now: Time,
    /// When something was delivered last, of a control that [`Needs`] samples; else now.
    pub delivered_at: Time,
    /// The application, not the network, has limited the rate; known of a control that [`Needs`] samples.
    pub app_limited: bool,
    /// Next byte to send.
    pub nxt: u64,
}

/// A congestion control algorithm. It hears of acknowledgements and congestion and steers a [`Window`]; recovery
/// itself (SACK, RACK, PRR, time-outs) is the sender's.
pub trait CongestionControl: fmt::Debug {
    /// The handshake is over.
    fn begin(&mut self, _start: &Start) {}
    /// An RTT sample, before [`CongestionControl::grow`] for the same acknowledgement and also during recovery.
    fn on_rtt(&mut self, _ack: &Ack, _window: &mut Window) {}
    /// The window may grow: an acknowledgement outside recovery, while the window was the limit.
    fn grow(&mut self, ack: &Ack, window: &mut Window);
    /// Congestion: answers the new slow-start threshold. That of a control that steers is left as it is.
    fn reduce(&mut self, window: &Window) -> u32;
    /// As [`CongestionControl::reduce`], when an ECN echo told of the congestion, and the sender is to reduce by less
    /// (ABE, RFC 8511) or the control steers. A control that has no answer of its own reduces as for a loss.
    fn reduce_by_echo(&mut self, window: &Window) -> u32 {
        self.reduce(window)
    }
    /// Something is lost: recovery begins, or a time-out has passed, after [`CongestionControl::reduce`] for it.
    fn on_lost(&mut self, _window: &mut Window) {}
    /// A retransmission time-out, after [`CongestionControl::reduce`].
    fn on_timeout(&mut self, _now: Time, _nxt: u64) {}
    /// The first transmission, now, after `idle` without one and with nothing in flight.
    fn on_restart(&mut self, _idle: Duration, _now: Time) {}
    /// The congestion state is another one; `nxt` is the next byte to send.
    fn on_state(&mut self, _state: CaState, _nxt: u64) {}
    /// A retransmission time-out, of a control that [`Needs`] samples: what is counted, and nothing newly delivered.
    fn on_loss(&mut self, _sample: &RateSample) {}
    /// A segment was judged lost, before [`CongestionControl::on_sample`] for the acknowledgement that told, if it
    /// [`Needs`] losses.
    fn on_segment_lost(&mut self, _lost: &LostSegment, _window: &Window) {}
    /// A reduction was taken back: nothing was lost.
    fn on_undone(&mut self) {}
    /// A transmission, while nothing is in flight, of a control that steers or [`Needs`] starts. Source: Linux
    /// `CA_EVENT_TX_START`.
    fn on_sends_again(&mut self, _restart: &Restart, _window: &mut Window) {}
    /// How fast the path delivers: at the end of each acknowledgement, if it [`Needs`] samples.
    fn on_sample(&mut self, _ack: &Ack, _sample: &RateSample, _window: &mut Window) {}
    /// The rate at which segments are to leave, bytes/s, if it has one of its own.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }
    /// Whether what is sent now does not show the path's rate, as if the application limited it.
    fn is_app_limited(&self) -> bool {
        false
    }
    /// Segments of `mss` bytes of the longest train at `rate` bytes/s, where a train of as many as `usual` would take
    /// 1 ms; two at least. Source: Linux `tcp_min_tso_segs`.
    fn longest_train(&self, usual: u32, _rate: u64, _mss: u16) -> u32 {
        usual.max(2)
    }
}

/// What a control needs of its sender beyond acknowledgements and losses. None of it costs those that do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent needs")]
pub struct Needs {
    /// Samples of the delivery rate.
    pub samples: bool,
    /// It sets the window with each sample: neither recovery nor idleness change it (Linux's `cong_control`).
    pub steers: bool,
    /// To hear of each segment that is judged lost, if it needs samples.
    pub losses: bool,
    /// To hear of transmissions while nothing is in flight.
    pub starts: bool,
    /// To hear whether the window limits what is sent, if it needs samples.
    pub limits: bool,
    /// Segments that leave at its rate, or at Linux's.
    pub pacing: bool,
    /// ECN, with a receiver that echoes each mark once (RFC 8257 section 3.2). Source: Linux `TCP_CONG_NEEDS_ECN`.
    pub ecn: bool,
    /// The same of the receiver, if ECN is negotiated and `tcp.ecn_low` says that the path marks at a shallow threshold.
    pub shallow_ecn: bool,
}

impl Needs {
    /// Nothing of all these.
    pub const NONE: Self = Self {
        samples: false,
        steers: false,
        losses: false,
        starts: false,
        limits: false,
        pacing: false,
        ecn: false,
        shallow_ecn: false,
    };
}

/// Which Linux kernels have a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Linus Torvalds' tree.
    All,
    /// Others' trees, such as L4STeam's.
    Some,
    /// None, or under the name of another one.
    None,
}

/// An algorithm that the list can name.
pub trait Listed: CongestionControl + Sized {
    /// Its name, as Linux's `net.ipv4.tcp_congestion_control` has it if Linux has it.
    const NAME: &'static str;
    /// Which kernels have it, so that hosts with a kernel's TCP can use it.
    const KERNELS: Kernels = Kernels::All;
    /// Its answer to marks is scalable (RFC 9331 section 4.3): AccECN is negotiated whatever `tcp.ecn` says, and all that
    /// is sent has ECT(1). If the other end has no AccECN, the connection has no ECN.
    const SCALABLE: bool = false;
    /// A scalable control without AccECN gives way to Reno; else it goes on, and nothing is marked.
    const GIVES_WAY: bool = true;
    /// What it needs; CUBIC and Reno nothing.
    const NEEDS: Needs = Needs::NONE;
    /// How many windows a send buffer has room for. Source: Linux `tcp_sndbuf_expand`.
    const BUFFERED_WINDOWS: u32 = 2;
    /// The largest window, segments, that it begins with, whatever `tcp.initial_window` says.
    const LARGEST_START: u32 = u32::MAX;
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
            /// One from outside, by [`register`].
            Own(&'static OwnControl),
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
            /// [`Algorithm::Own`].
            Own(Own),
        }

        impl Algorithm {
            /// All, in the order of listing.
            pub const ALL: &'static [Self] = &[$($(#[cfg($when)])? Self::$Name,)+];

            /// The name, as Linux's `net.ipv4.tcp_congestion_control` has it if Linux has it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::NAME,)+
                    Self::Own(own) => own.name,
                }
            }

            /// What it needs.
            #[must_use]
            pub const fn needs(self) -> Needs {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::NEEDS,)+
                    Self::Own(own) => own.needs,
                }
            }

            /// Whether its answer to marks is scalable, so that it has AccECN and ECT(1).
            #[must_use]
            pub const fn is_scalable(self) -> bool {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::SCALABLE,)+
                    Self::Own(own) => own.scalable,
                }
            }

            /// How many windows a send buffer has room for.
            #[must_use]
            pub const fn buffered_windows(self) -> u32 {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::BUFFERED_WINDOWS,)+
                    Self::Own(_) => 2,
                }
            }

            /// Which kernels have it.
            #[must_use]
            pub const fn kernels(self) -> Kernels {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::KERNELS,)+
                    Self::Own(_) => Kernels::None,
                }
            }

            /// The largest window that it begins with, segments.
            #[must_use]
            pub const fn largest_start(self) -> u32 {
                match self {
                    $($(#[cfg($when)])? Self::$Name => <$Name as Listed>::LARGEST_START,)+
                    Self::Own(_) => u32::MAX,
                }
            }

            /// A fresh controller, as `variant` of Linux has it.
            #[must_use]
            pub fn build(self, params: &Params, variant: Variant) -> Controller {
                match self {
                    $($(#[cfg($when)])? Self::$Name => Controller::$Name(<$Name as Listed>::new(&params.$name, variant)),)+
                    Self::Own(own) => Controller::Own(Own::new(own)),
                }
            }
        }

        impl Controller {
            /// Whether Reno takes its place if there is no AccECN.
            pub(crate) fn gives_way(&self) -> bool {
                match self {
                    $($(#[cfg($when)])? Self::$Name(_) => <$Name as Listed>::SCALABLE && <$Name as Listed>::GIVES_WAY,)+
                    Self::Own(own) => own.gives_way(),
                }
            }
        }

        impl CongestionControl for Controller {
            fn begin(&mut self, start: &Start) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.begin(start),)+ Self::Own(own) => own.control.begin(start) }
            }
            fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_rtt(ack, window),)+ Self::Own(own) => own.control.on_rtt(ack, window) }
            }
            fn grow(&mut self, ack: &Ack, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.grow(ack, window),)+ Self::Own(own) => own.control.grow(ack, window) }
            }
            fn reduce(&mut self, window: &Window) -> u32 {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.reduce(window),)+ Self::Own(own) => own.control.reduce(window) }
            }
            fn reduce_by_echo(&mut self, window: &Window) -> u32 {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.reduce_by_echo(window),)+ Self::Own(own) => own.control.reduce_by_echo(window) }
            }
            fn on_lost(&mut self, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_lost(window),)+ Self::Own(own) => own.control.on_lost(window) }
            }
            fn on_timeout(&mut self, now: Time, nxt: u64) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_timeout(now, nxt),)+ Self::Own(own) => own.control.on_timeout(now, nxt) }
            }
            fn on_restart(&mut self, idle: Duration, now: Time) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_restart(idle, now),)+ Self::Own(own) => own.control.on_restart(idle, now) }
            }
            fn on_state(&mut self, state: CaState, nxt: u64) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_state(state, nxt),)+ Self::Own(own) => own.control.on_state(state, nxt) }
            }
            fn on_sample(&mut self, ack: &Ack, sample: &RateSample, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_sample(ack, sample, window),)+ Self::Own(own) => own.control.on_sample(ack, sample, window) }
            }
            fn on_loss(&mut self, sample: &RateSample) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_loss(sample),)+ Self::Own(own) => own.control.on_loss(sample) }
            }
            fn on_segment_lost(&mut self, lost: &LostSegment, window: &Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_segment_lost(lost, window),)+ Self::Own(own) => own.control.on_segment_lost(lost, window) }
            }
            fn on_undone(&mut self) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_undone(),)+ Self::Own(own) => own.control.on_undone() }
            }
            fn on_sends_again(&mut self, restart: &Restart, window: &mut Window) {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.on_sends_again(restart, window),)+ Self::Own(own) => own.control.on_sends_again(restart, window) }
            }
            fn is_app_limited(&self) -> bool {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.is_app_limited(),)+ Self::Own(own) => own.control.is_app_limited() }
            }
            fn pacing_rate(&self) -> Option<u64> {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.pacing_rate(),)+ Self::Own(own) => own.control.pacing_rate() }
            }
            fn longest_train(&self, usual: u32, rate: u64, mss: u16) -> u32 {
                match self { $($(#[cfg($when)])? Self::$Name(c) => c.longest_train(usual, rate, mss),)+ Self::Own(own) => own.control.longest_train(usual, rate, mss) }
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
    /// [`Bbr`]: version 1, as Linux has it.
    Bbr: bbr,
    /// [`Dctcp`]: RFC 8257.
    Dctcp: dctcp,
    /// [`LedbatPlusPlus`]: draft-irtf-iccrg-ledbat-plus-plus.
    LedbatPlusPlus: ledbat_plus_plus,
    /// [`Bbr2`]: version 2, as google's Linux had it.
    Bbr2: bbr2,
    /// [`Bbr2L4s`]: version 2 as L4STeam's Linux has it, with ECT(1).
    Bbr2L4s: bbr2_l4s,
    /// [`Bbr3`]: draft-ietf-ccwg-bbr, and ECN as google's Linux has it.
    Bbr3: bbr3,
    /// [`Prague`]: RFC 9331 section 4, as L4STeam's Linux has it.
    Prague: prague,
    /// [`Vegas`]: as Linux has it.
    Vegas: vegas,
    /// [`Fixed`].
    Fixed: fixed in test,
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Algorithm {
    /// The algorithm of this name. The error is what follows a field's name in the sentence.
    fn named(name: &str) -> Result<Self, String> {
        let own = own::registered();
        let mut all = Self::ALL.iter().copied().chain(own.iter().copied().map(Self::Own));
        all.find(|a| a.name() == name).ok_or_else(|| {
            let own = own.iter().map(|own| own.name);
            let names: Vec<&str> = Self::ALL.iter().map(|a| a.name()).chain(own).collect();
            format!("is {name:?}, but must be one of: {}", names.join(", "))
        })
    }
}

text!(Algorithm, Algorithm::named);

impl FromStr for Algorithm {
    type Err = String;
    fn from_str(s: &str) -> Result<Self, String> {
        Self::named(s).map_err(|rest| format!("congestion_control {rest}"))
    }
}
