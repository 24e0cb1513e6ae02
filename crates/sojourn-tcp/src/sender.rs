//! The sending half of an endpoint, with the loss recovery of its kernel.

use crate::accecn::{AccEcn, EcnMode};
use crate::fack::Fack;
use crate::machine::{CaState, Machine, Outgoing, SenderStats};
use crate::params::TcpParams;
use crate::rack::Rack;
use crate::segment::Segment;
use crate::small_queue::Device;
use sojourn_units::{Duration, Time};

/// The segments that a sender has out. Source: the fields `tcpi_unacked`, `tcpi_sacked`, `tcpi_lost` and
/// `tcpi_retrans` of Linux's `tcp_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outstanding {
    /// Sent and not cumulatively acknowledged.
    pub packets: u32,
    /// Of these, the receiver has them out of order.
    pub sacked: u32,
    /// Of these, judged lost.
    pub lost: u32,
    /// Of these, a retransmission is under way.
    pub retransmitted: u32,
}

/// The sending half of an endpoint.
#[derive(Clone, Debug)]
pub struct Sender(pub(crate) AnyMachine);

/// The state machine with either recovery. All that an acknowledgement needs is decided by one branch.
#[derive(Clone, Debug)]
pub(crate) enum AnyMachine {
    /// Linux since 4.18.
    Rack(Machine<Rack>),
    /// Linux 3.14.
    Fack(Machine<Fack>),
}

macro_rules! each {
    ($self:ident, $m:ident => $e:expr) => {
        match &$self.0 {
            AnyMachine::Rack($m) => $e,
            AnyMachine::Fack($m) => $e,
        }
    };
    (mut $self:ident, $m:ident => $e:expr) => {
        match &mut $self.0 {
            AnyMachine::Rack($m) => $e,
            AnyMachine::Fack($m) => $e,
        }
    };
}

mod options;

impl Sender {
    pub(crate) fn new(p: &TcpParams) -> Self {
        Self(if p.variant.rules().fack {
            AnyMachine::Fack(Machine::new(p))
        } else {
            AnyMachine::Rack(Machine::new(p))
        })
    }

    /// Congestion window in segments.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        each!(self, m => m.window.cwnd)
    }
    /// Slow-start threshold in segments; `None` before the first congestion.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        each!(self, m => m.window.ssthresh.segments())
    }
    /// Congestion state.
    #[must_use]
    pub fn state(&self) -> CaState {
        each!(self, m => m.episode.state)
    }
    /// Segments in the network, by the sender's reckoning (RFC 6675's pipe).
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        each!(self, m => m.board.in_flight())
    }
    /// Segments out, by their fate.
    #[must_use]
    pub fn outstanding(&self) -> Outstanding {
        each!(self, m => Outstanding {
            packets: m.board.packets_out(),
            sacked: m.board.sacked_out(),
            lost: m.board.lost_out(),
            retransmitted: m.board.retrans_out(),
        })
    }
    /// Largest reordering seen, in segments; 3 before any was.
    #[must_use]
    pub fn reordering(&self) -> u32 {
        each!(self, m => m.episode.reordering)
    }
    /// How often the time-out has doubled since a round trip was measured (RFC 6298 section 5.5).
    #[must_use]
    pub fn backoff(&self) -> u32 {
        each!(self, m => m.timers.backoff)
    }
    /// Whether the peer's window, and not the congestion window, holds back what is ready.
    #[must_use]
    pub fn waits_for_window(&self) -> bool {
        each!(self, m => m.waits_for_window())
    }
    /// Probes of a closed window since the peer answered last. Source: Linux `tcpi_probes`.
    #[must_use]
    pub fn unanswered_window_probes(&self) -> u32 {
        each!(self, m => m.unanswered_window_probes())
    }
    /// Payload bytes acknowledged.
    #[must_use]
    pub fn bytes_acked(&self) -> u64 {
        each!(self, m => m.una - 1 - u64::from(m.fin_acked()))
    }
    /// Payload bytes written and not yet acknowledged.
    #[must_use]
    pub fn bytes_pending(&self) -> u64 {
        each!(self, m => m.written - m.una - u64::from(m.fin.is_some() && !m.fin_acked()))
    }
    /// Payload bytes written and not yet sent.
    #[must_use]
    pub fn bytes_unsent(&self) -> u64 {
        each!(self, m => m.written - m.nxt - u64::from(m.fin.is_some_and(|fin| m.nxt <= fin)))
    }
    /// Whether the peer has acknowledged the FIN, and so everything.
    #[inline]
    #[must_use]
    pub fn fin_acked(&self) -> bool {
        each!(self, m => m.fin_acked())
    }
    /// Smoothed RTT.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        each!(self, m => m.rtt.srtt())
    }
    /// Retransmission time-out, without backoff.
    #[must_use]
    pub fn rto(&self) -> Duration {
        each!(self, m => m.rtt.rto())
    }
    /// Whether both ends have agreed on ECN: classic (RFC 3168 section 6.1.1), or AccECN (RFC 9768 section 3.1).
    #[must_use]
    pub fn ecn(&self) -> bool {
        each!(self, m => m.ecn())
    }
    /// The handshake has told which ECN both ends have, and how many packets of it were marked.
    pub(crate) fn set_ecn(&mut self, agreed: EcnMode, marked: u32) {
        each!(mut self, m => m.set_ecn(agreed, marked));
    }
    /// From now on segments leave so much room for an option.
    pub(crate) fn set_room(&mut self, room: u16) {
        each!(mut self, m => m.set_room(room));
    }
    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &SenderStats {
        each!(self, m => &m.stats)
    }

    /// The last sample of the delivery rate, of the control that keeps it.
    #[cfg(test)]
    pub(crate) fn last_sample(&self) -> Option<crate::cc::RateSample> {
        each!(self, m => match &m.cc {
            crate::cc::Controller::Fixed(fixed) => fixed.last,
            _ => None,
        })
    }
    /// Whether an acknowledgement is of data never sent, or older than any window admits.
    #[inline]
    pub(crate) fn disbelieves(&self, ack: u64) -> bool {
        each!(self, m => m.disbelieves(ack))
    }
    /// Whether nothing is out or to be sent, and an acknowledgement, which has no SACK blocks, tells nothing new.
    #[inline]
    pub(crate) fn knows_all_of(&self, segment: &Segment) -> bool {
        each!(self, m => m.knows_all_of(segment))
    }
    /// Whether the application has closed.
    pub(crate) fn is_closing(&self) -> bool {
        each!(self, m => m.fin.is_some())
    }
    /// Whether everything written was sent and acknowledged, and the FIN too if there is one.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        each!(self, m => m.una == m.written)
    }
    /// The next byte to send.
    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        each!(self, m => m.nxt)
    }
    /// Whether something waits until the host's own device is done with a segment.
    #[inline]
    pub(crate) fn waits_for_device(&self) -> bool {
        each!(self, m => m.small_queue.is_throttled())
    }
    #[inline]
    pub(crate) fn timeout(&self) -> Option<Time> {
        each!(self, m => m.timeout())
    }

    /// Whether more is ready, but has to wait for its time or for the window.
    #[inline]
    pub(crate) fn rests(&mut self, now: Time) -> bool {
        each!(mut self, m => m.rests(now))
    }
    /// When its timer goes off, without pacing.
    #[inline]
    pub(crate) fn timer(&self) -> Option<Time> {
        each!(self, m => m.timer())
    }
    /// Whether it spreads its segments over time.
    pub(crate) fn is_paced(&self) -> bool {
        each!(self, m => m.is_paced())
    }
    /// When what waits for its time may leave.
    #[inline]
    pub(crate) fn departs(&self) -> Option<Time> {
        each!(self, m => m.pacing_due())
    }
    /// That time has come.
    #[inline]
    pub(crate) fn on_departure(&mut self, now: Time) {
        each!(mut self, m => m.pace_on_timeout(now));
    }

    /// The handshake took `rtt`, and the peer's window ends at `window_end`.
    pub(crate) fn established(&mut self, rtt: Duration, window_end: u64, now: Time) {
        each!(mut self, m => m.established(rtt, window_end, now));
    }
    /// The connection begins with a window of one segment.
    pub(crate) fn start_small(&mut self) {
        each!(mut self, m => m.window.cwnd = 1);
    }
    pub(crate) fn write(&mut self, bytes: u64) {
        each!(mut self, m => m.write(bytes));
    }
    pub(crate) fn end_record(&mut self) {
        each!(mut self, m => m.end_record());
    }
    pub(crate) fn close(&mut self) {
        each!(mut self, m => m.close());
    }
    /// The host sends by a device that queues.
    pub(crate) fn set_device(&mut self, device: Device) {
        each!(mut self, m => m.small_queue.set_device(device));
    }
    pub(crate) fn on_device_took(&mut self, seq: Option<u64>) {
        each!(mut self, m => m.on_device_took(seq));
    }
    pub(crate) fn on_device_released(&mut self, seq: Option<u64>) -> bool {
        each!(mut self, m => m.on_device_released(seq))
    }
    pub(crate) fn on_timeout(&mut self, now: Time) -> Option<Outgoing> {
        each!(mut self, m => m.on_timeout(now))
    }

    /// Takes the acknowledgement in `segment`, whose marks AccECN counts if both ends have it.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, segment: &Segment, accecn: Option<&mut AccEcn>, now: Time) {
        match &mut self.0 {
            AnyMachine::Rack(m) => m.on_ack(segment, accecn, now),
            AnyMachine::Fack(m) => old_ack(m, segment, now),
        }
    }

    /// The next data segment that may be sent now.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        match &mut self.0 {
            AnyMachine::Rack(m) => m.poll(now),
            AnyMachine::Fack(m) => old_poll(m, now),
        }
    }
}

/// Apart, so that the recovery of today lies in one piece.
#[cold]
#[inline(never)]
fn old_ack(m: &mut Machine<Fack>, segment: &Segment, now: Time) {
    // Its kernel is older than AccECN.
    m.on_ack(segment, None, now);
}

#[cold]
#[inline(never)]
fn old_poll(m: &mut Machine<Fack>, now: Time) -> Option<Outgoing> {
    m.poll(now)
}
