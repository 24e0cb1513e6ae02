//! The sender's state machine: what may be sent, and what an acknowledgement means, whoever judges what is lost.

mod ack;
mod nagle;
mod newreno;
mod rates;
mod reduction;
mod send;
mod socket_options;
mod state;
mod timers;
mod train;
mod user_timeout;
mod window_probe;

pub use state::SenderStats;
pub(crate) use state::{News, Outgoing, Resend, TimerKind, Times};

use crate::accecn::EcnMode;
pub use crate::cc::CaState;
use crate::cc::{CongestionControl, Controller, Listed, Reno, Start, Threshold, Window};
use crate::params::TcpParams;
use crate::rtt::{MinRtt, RttEstimator};
use crate::scoreboard::{Scoreboard, Sent};
use crate::send_buffer::SendBuffer;
use crate::small_queue::SmallQueue;
use rates::Rates;
use socket_options::SocketOptions;
use sojourn_units::{Duration, Time};
use state::{Burst, Episode, Prr, Timers, Undo};
use std::collections::VecDeque;
use std::fmt;
use train::Train;

/// Loss recovery of some kernel: how losses are found, and what else of that kernel's sender differs.
pub(crate) trait LossRecovery: Clone + fmt::Debug + Default {
    /// Timers are set and go off in ticks (Linux `usecs_to_jiffies`, `sk_reset_timer`).
    ///
    /// Deviation: exact in the variant of Linux 3.14, whose timers had other wheels.
    const TICKS: bool;
    /// What a time-out that is due already waits.
    const SHORTEST_WAIT: Duration;
    /// Pacing rate after slow start, percent of a window a round trip (`tcp_update_pacing_rate`).
    const AVOIDANCE_PACING: u64;
    /// In PRR's slow start one more segment goes out even where progress brought a loss.
    const PRR_ALWAYS_ADDS: bool;
    /// What the host's own device still holds is not sent again (`skb_still_in_host_queue`).
    const HEEDS_DEVICE: bool;
    /// The last segment of a train has PSH.
    const PUSHES_TRAINS: bool;
    /// The clock of the first retransmission stops once none is out, and without it all is only late. Source: Linux
    /// 6.1 `tcp_retrans_stamp_cleanup`, `tcp_any_retrans_done`, `tcp_packet_delayed`.
    const REPAIR_CLOCK: bool;
    /// Duplicates that a D-SACK reports are delivered segments, and only the probe's own D-SACK ends a probe without a
    /// reduction. Source: Linux 6.1 `tcp_dsack_seen`, `tcp_process_tlp_ack`.
    const COUNTS_DUPLICATES: bool;
    /// When the probe timer goes off does not depend on the time-out that it replaces.
    const PROBE_REPLACES: bool;
    /// A window at its threshold is in congestion avoidance.
    const AVOIDS_AT_THRESHOLD: bool;

    /// An acknowledgement came, of which nothing is known yet.
    fn on_ack(_: &mut Machine<Self>, _now: Time) {}
    /// A segment was delivered.
    fn on_delivered(&mut self, _: &Sent, _now: Time, _min_rtt: Option<Duration>) {}
    /// The path reorders.
    fn on_reordering(&mut self);
    /// An earlier connection to the destination was reordered.
    fn on_remembered_reordering(&mut self) {}
    /// All that an acknowledgement covers is known. `dsack`: it reports a duplicate that is not the probe's.
    fn on_covered(&mut self, _una: u64, _nxt: u64, _dsack: bool) {}
    /// Judges an acknowledgement: losses, the congestion state, undoing. Sets what is sent again, and the timer.
    fn judge(machine: &mut Machine<Self>, prior_una: u64, news: &mut News, times: &Times, now: Time);
    /// Whether the window limited what was sent. `flight` is what was in flight before the acknowledgement.
    fn was_limited(machine: &Machine<Self>, flight: u32) -> bool;
    /// An acknowledgement is worked off.
    fn on_acked(_: &mut Machine<Self>, _now: Time) {}
    /// Segment `index` was sent again.
    fn on_retransmit(_: &mut Machine<Self>, _index: u64, _now: Time) {}
    /// A reduction was taken back.
    fn on_undone(&mut self) {}
    /// A recovery ended without a sign of false retransmissions.
    fn on_recovered(&mut self) {}
    /// A time-out: marks what is lost.
    fn mark_after_timeout(machine: &mut Machine<Self>, now: Time);
    /// Arms the probe timer, if something is out and nothing amiss; else answers no. With `fresh` the time-out counts
    /// from now.
    fn arm_probe(machine: &mut Machine<Self>, now: Time, fresh: bool) -> bool;
    /// A probe was sent: new data, or the last segment again.
    fn on_probe(machine: &mut Machine<Self>, new: bool, now: Time);
    /// Its own timer has gone off.
    fn on_timer(machine: &mut Machine<Self>, now: Time);
}

/// The sender's state machine with the loss recovery `R`.
///
/// Windows are counted in segments, as Linux counts them. Sources are named at each step; where they differ, Linux
/// 6.1 is followed, because the measurements that the model is judged by are of Linux.
///
/// Fields lie in the order of how often they are touched, so that a connection takes as few cache lines as it can:
/// what each segment of either direction needs, then what an acknowledgement needs, then what losses and the end
/// need.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Machine<R> {
    /// First unacknowledged byte.
    pub(crate) una: u64,
    /// Next byte to send.
    pub(crate) nxt: u64,
    /// One past the last byte that the application has written, or past the FIN.
    pub(crate) written: u64,
    /// One past the last byte that the receiver's window admits.
    pub(crate) window_end: u64,
    pub(crate) timers: Timers,
    rates: Option<Box<Rates>>,
    pub(crate) window: Window,
    pub(crate) episode: Episode,
    burst: Burst,
    /// Where TCP hands down several segments at once.
    train: Option<Train>,
    pub(crate) mss: u16,
    /// Both ends have agreed on classic ECN: data is ECN-capable, and echoes count.
    ecn: bool,
    /// Both ends have agreed on AccECN, which is outside.
    accurate: bool,
    /// Bytes of payload in a full segment: `mss`, or less where segments have an option.
    payload: u16,
    /// Whether an ECN echo reduces the window by less than a loss (RFC 8511).
    abe: bool,
    restart_after_idle: bool,
    /// The peer sends SACK blocks.
    pub(crate) sack: bool,
    pub(crate) recovery: R,
    pub(crate) board: Scoreboard,
    pub(crate) rtt: RttEstimator,
    pub(crate) min_rtt: MinRtt,
    buffer: SendBuffer,
    /// Sequence number of the FIN, once the application has closed.
    pub(crate) fin: Option<u64>,
    /// Ends of records that are not sent: no segment has bytes of two.
    records: VecDeque<u64>,
    pub(crate) small_queue: SmallQueue,
    pub(crate) cc: Controller,
    pub(crate) stats: SenderStats,
    pub(crate) undo: Undo,
    prr: Prr,
    initial_window: u32,
    /// `nxt` when the tail loss probe was sent, and whether it was a retransmission.
    pub(crate) probe: Option<(u64, bool)>,
    /// What the application has asked of this sender.
    options: Option<Box<SocketOptions>>,
}

impl<R: LossRecovery> Machine<R> {
    pub(crate) fn new(p: &TcpParams) -> Self {
        let buffer = SendBuffer::new(p.variant.rules(), p.heads)
            .with_windows(p.congestion_control.buffered_windows())
            .with_at_least(p.send_buffer);
        let initial_window = p.initial_window.min(p.congestion_control.largest_start());
        Self {
            una: 1,
            nxt: 1,
            written: 1,
            fin: None,
            window_end: 1,
            window: Window {
                cwnd: initial_window,
                ssthresh: Threshold::Unbounded,
                credit: 0,
            },
            mss: p.mss,
            ecn: false,
            accurate: false,
            payload: p.mss.max(1),
            abe: p.abe,
            restart_after_idle: p.restart_after_idle,
            sack: p.sack,
            initial_window,
            episode: Episode {
                state: CaState::Open,
                resend: Resend::Nothing,
                frto: false,
                send_cwr: false,
                reordering: 3,
                high_seq: 1,
                echo_ms: 0,
            },
            undo: Undo::default(),
            prr: Prr::default(),
            probe: None,
            options: None,
            recovery: R::default(),
            timers: Timers::default(),
            burst: Burst {
                limited: false,
                max_out: 0,
                until: 1,
                sent: 0,
                last_send: None,
            },
            train: p.gso.then(|| Train::new(p.variant.rules())),
            board: Scoreboard::new(p.mss).with_losses(p.congestion_control.needs().losses),
            rtt: RttEstimator::new(p.min_rto, p.max_rto),
            min_rtt: MinRtt::default(),
            cc: p.congestion_control.build(&p.controls(), p.variant),
            records: VecDeque::new(),
            small_queue: SmallQueue::new(p.variant.rules().small_queue, buffer.segment()),
            buffer,
            stats: SenderStats::default(),
            rates: Rates::new(p.congestion_control.needs(), p.pacing, p.ecn_low),
        }
    }

    /// The handshake took `rtt`, and the peer's window ends at `window_end`.
    pub(crate) fn established(&mut self, rtt: Duration, window_end: u64, now: Time) {
        self.window_end = window_end;
        self.min_rtt.sample(rtt, now);
        self.rtt.sample(rtt, self.una, self.nxt);
        self.cc.begin(&Start {
            now,
            rtt,
            mss: self.mss,
            window: self.window,
        });
        if self.rates.is_some() {
            self.set_pace(false);
        }
    }

    /// Whether both ends have agreed on ECN of either kind.
    pub(crate) const fn ecn(&self) -> bool {
        self.ecn || self.accurate
    }

    /// The handshake has told on what they have. So many packets of it were marked.
    pub(crate) fn set_ecn(&mut self, agreed: EcnMode, marked: u32) {
        self.ecn = agreed == EcnMode::Classic;
        self.accurate = agreed == EcnMode::Accurate;
        self.stats.delivered_ce += u64::from(marked);
        if self.cc.gives_way() && !self.accurate {
            // A scalable answer to classic feedback would be none (RFC 9331 section 4.2). Source: L4STeam's
            // `prague_init`, which changes to Reno.
            self.cc = Controller::Reno(Reno::new(&(), crate::variant::Variant::Linux61));
            self.rates = self.rates.take().and_then(|rates| rates.without_needs());
        }
    }

    /// From now on segments leave so much room for an option.
    pub(crate) fn set_room(&mut self, room: u16) {
        let payload = self.mss.saturating_sub(room).max(1);
        if self.payload != payload {
            self.payload = payload;
            self.board.set_segment(payload);
        }
    }

    /// Bytes of payload in a full segment that is sent now.
    #[inline]
    pub(crate) fn payload(&self) -> u16 {
        self.payload
    }

    /// Whether the peer has acknowledged the FIN, and so everything.
    pub(crate) fn fin_acked(&self) -> bool {
        self.fin.is_some_and(|fin| self.una > fin)
    }

    /// The application writes `bytes` more.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.written = self.written.saturating_add(bytes).min(1 << 62);
    }

    /// What the application has written ends a record. Source: Linux `MSG_EOR`, `TCP_SKB_CB(skb)->eor`.
    pub(crate) fn end_record(&mut self) {
        self.records.push_back(self.written);
    }

    /// The application has written everything: a FIN follows the last byte.
    pub(crate) fn close(&mut self) {
        if self.fin.is_none() {
            self.fin = Some(self.written);
            self.written += 1;
        }
    }

    /// Whether fast recovery or the reduction after an ECN echo steers the window.
    fn in_reduction(&self) -> bool {
        matches!(self.episode.state, CaState::Cwr | CaState::Recovery)
    }

    /// Linux's pacing rate, bytes/s, which small queues and CUBIC's `HyStart` read: 2 windows a round trip in slow
    /// start, 1.2 after; in Linux 3.14 always 2. `None` before the first measurement.
    ///
    /// Source: `tcp_update_pacing_rate`.
    fn pacing_rate(&self) -> Option<u64> {
        let srtt = self.rtt.srtt()?;
        let starts = self
            .window
            .ssthresh
            .segments()
            .is_none_or(|segments| self.window.cwnd < segments / 2);
        let percent = if starts { 200 } else { R::AVOIDANCE_PACING };
        let bytes = u64::from(self.mss) * u64::from(self.window.cwnd.max(self.board.packets_out()));
        Some((bytes * percent / 100).saturating_mul(1_000_000_000) / srtt.as_nanos().max(1))
    }
}
