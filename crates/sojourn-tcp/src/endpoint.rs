//! One end of a connection: handshake, sender, receiver and close.

mod ecn;
mod options;
mod timers;

use crate::accecn::{self, AccEcn, AccEcnParams, EcnMode};
use crate::handshake::Handshake;
use crate::machine::Outgoing;
use crate::metrics::Metrics;
use crate::params::TcpParams;
use crate::receiver::Receiver;
use crate::rules::Rules;
use crate::segment::{Flags, Segment};
use crate::sender::Sender;
use crate::small_queue::Device;
use crate::timestamp::now_ms;
use crate::variant::ParamError;
use sojourn_units::{Duration, Time};

/// The states of RFC 9293 section 3.3.2, by its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectionState {
    /// No connection, not yet or no longer.
    Closed,
    /// Waits for a SYN.
    Listen,
    /// Waits for a SYN-ACK.
    SynSent,
    /// Waits for the acknowledgement of its SYN-ACK.
    SynReceived,
    /// Data can flow both ways.
    Established,
    /// Has closed; its FIN is not acknowledged.
    FinWait1,
    /// Has closed, and the peer knows; the peer may still send.
    FinWait2,
    /// The peer has closed; this end may still send.
    CloseWait,
    /// Both have closed at once; its FIN is not acknowledged.
    Closing,
    /// Has closed after the peer; its FIN is not acknowledged.
    LastAck,
    /// Both have closed, this end first: it stays to acknowledge a repeated FIN.
    TimeWait,
}

/// Where the connection stands; what the two directions know of closing is not repeated here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    /// The FIN that answered the peer's FIN is acknowledged.
    Done,
}

/// One end of a TCP connection.
///
/// The order of use is that of any sans-IO protocol: hand in what arrived ([`Endpoint::on_segment`]) or that time has
/// passed ([`Endpoint::on_timeout`]), then take what it wants to send ([`Endpoint::poll_transmit`]) until it answers
/// `None`, then ask when to come back ([`Endpoint::timeout`]).
///
/// Deviation: without [`TcpParams::resets`] it sends no resets. A segment that no state expects is ignored, and a
/// connection whose last FIN is acknowledged says no more. TIME-WAIT has no end: its driver forgets the endpoint when
/// it likes.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    pub(crate) state: State,
    /// A handshake segment is to be sent.
    pub(crate) handshake_due: bool,
    /// The peer had closed when this end did.
    closed_second: bool,
    /// The application is gone, and so nobody reads.
    released: bool,
    /// The user timeout has passed.
    gave_up: bool,
    /// An answer to a segment of no connection, or to a reset: it goes before all others.
    pub(crate) answer: Option<Box<Segment>>,
    /// Whether segments of no connection are answered.
    pub(crate) resets: bool,
    /// A segment that goes before all others, whatever the window says: a timer's, or the bare acknowledgement of a
    /// SYN-ACK.
    pub(crate) forced: Option<Box<Outgoing>>,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) handshake: Handshake,
    rules: &'static Rules,
    /// Of bad segments that arrive within so long, one is answered.
    pub(crate) answer_interval: Duration,
    syn_retransmissions: u32,
    linear_syn_timeouts: u32,
    /// Which ECN it wants.
    wants_ecn: EcnMode,
    /// Which ECN both ends have, as far as the handshake has told.
    agreed_ecn: EcnMode,
    /// What AccECN knows, if that is it.
    pub(crate) accecn: Option<Box<AccEcn>>,
    accecn_params: AccEcnParams,
    /// Its control is scalable: it has AccECN and ECT(1), or nothing of both.
    scalable: bool,
    timestamps: bool,
    /// What earlier connections to this destination left, until the handshake is over.
    metrics: Option<Box<Metrics>>,
}

impl Endpoint {
    fn new(params: &TcpParams, state: State) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            sender: Sender::new(params),
            receiver: Receiver::new(params),
            state,
            handshake_due: false,
            answer: None,
            resets: params.resets,
            forced: None,
            closed_second: false,
            released: false,
            gave_up: false,
            handshake: Handshake::syn(params.variant.rules(), params.linear_syn_timeouts, Time::ZERO),
            linear_syn_timeouts: params.linear_syn_timeouts,
            rules: params.variant.rules(),
            answer_interval: params.answer_interval,
            syn_retransmissions: 0,
            wants_ecn: if params.congestion_control.is_scalable() {
                EcnMode::Accurate
            } else {
                params.ecn.max(params.congestion_control.needs().ecn.into())
            },
            agreed_ecn: EcnMode::Off,
            accecn: None,
            accecn_params: params.accecn,
            scalable: params.congestion_control.is_scalable(),
            timestamps: params.timestamps,
            metrics: None,
        })
    }

    /// The end that opens the connection, with [`Endpoint::connect`].
    ///
    /// # Errors
    /// [`ParamError`] if a parameter breaks its rule.
    pub fn client(params: &TcpParams) -> Result<Self, ParamError> {
        Self::new(params, State::Closed)
    }

    /// The end that waits for a connection.
    ///
    /// # Errors
    /// [`ParamError`] if a parameter breaks its rule.
    pub fn server(params: &TcpParams) -> Result<Self, ParamError> {
        Self::new(params, State::Listen)
    }

    /// The sending half.
    #[must_use]
    pub fn sender(&self) -> &Sender {
        &self.sender
    }
    /// The receiving half.
    #[must_use]
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }
    /// Whether the handshake is over and the connection is not.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }
    /// How often its SYN or SYN-ACK was sent again because a time-out passed (RFC 6298 section 5).
    #[must_use]
    pub fn syn_retransmissions(&self) -> u32 {
        self.syn_retransmissions
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> ConnectionState {
        use ConnectionState as S;
        match self.state {
            State::Closed | State::Done => S::Closed,
            State::Listen => S::Listen,
            State::SynSent => S::SynSent,
            State::SynReceived => S::SynReceived,
            State::Established => match (self.is_closing(), self.sender.fin_acked(), self.receiver.is_finished()) {
                (false, _, false) => S::Established,
                (false, _, true) => S::CloseWait,
                (true, false, false) => S::FinWait1,
                (true, true, false) => S::FinWait2,
                (true, false, true) if self.closed_second => S::LastAck,
                (true, false, true) => S::Closing,
                (true, true, true) => S::TimeWait,
            },
        }
    }

    /// Whether the application has closed.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.sender.is_closing()
    }

    /// Starts the handshake; does nothing unless this is a client that has not started it.
    pub fn connect(&mut self, now: Time) {
        if self.state == State::Closed {
            self.state = State::SynSent;
            let handshake = Handshake::syn(self.rules, self.linear_syn_timeouts, now);
            self.handshake = self.with_limits(handshake);
            self.handshake_due = true;
        }
    }

    /// The connection, which is not established yet, is to a destination that others have been to: it begins with
    /// what they left.
    pub fn set_metrics(&mut self, metrics: Metrics) {
        self.metrics = Some(Box::new(metrics));
    }

    /// The application writes `bytes` more; they are sent once the connection and the windows allow.
    ///
    /// # Panics
    /// After [`Endpoint::close`].
    pub fn write(&mut self, bytes: u64) {
        assert!(!self.is_closing(), "nothing can be written to a closed connection");
        self.sender.say_more(false);
        self.sender.write(bytes);
    }

    /// What the application has written so far ends a record: the segment of its last byte has none of what follows
    /// (`MSG_EOR`).
    pub fn end_record(&mut self) {
        self.sender.end_record();
    }

    /// The application will write no more: a FIN follows the last byte (RFC 9293 section 3.6). What the peer sends is
    /// still received. Closing twice does nothing.
    ///
    /// Deviation: a close before the handshake is over is queued, in SYN-SENT too, where RFC 9293 section 3.10.4
    /// gives the connection up. So an application that has little to send can write it and close at once.
    pub fn close(&mut self) {
        if !self.is_closing() {
            self.closed_second = self.receiver.is_finished();
            self.receiver.on_close();
            self.sender.close();
        }
    }

    /// The application gives the connection up (RFC 9293 section 3.10.5): nothing is sent any more, what was not sent
    /// and what was not acknowledged neither, and what still arrives is ignored.
    ///
    /// Deviation: without [`TcpParams::resets`] the peer is sent no reset. It receives what is under way and waits for
    /// more.
    pub fn abort(&mut self) {
        if self.resets && self.state == State::Established {
            self.say_reset();
        }
        self.end();
    }

    /// Takes a segment from the network.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub fn on_segment(&mut self, segment: &Segment, now: Time) {
        let mut opens = false;
        if self.state != State::Established {
            self.on_handshake(segment, now);
            if self.state != State::Established {
                return;
            }
            opens = true;
        } else if segment.flags.any(Flags::SYN | Flags::RST) {
            self.on_unexpected(segment, now);
            return;
        }
        // RFC 9293 section 3.10.7.4: without an acknowledgement it is dropped.
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        if self.accecn.is_none() && self.sender.knows_all_of(segment) {
            self.receiver.on_timestamp(segment);
        } else {
            if self.sender.disbelieves(segment.ack) {
                self.challenge(now);
                return;
            }
            let newer = self.receiver.on_timestamp(segment);
            // What ends the handshake was counted there.
            if self.accecn.is_some() && !opens {
                self.count_marks(segment, newer);
            }
            self.sender.on_ack(segment, self.accecn.as_deref_mut(), now);
        }
        if self.closed_second && self.sender.fin_acked() {
            self.state = State::Done;
            return;
        }
        if segment.span() > 0 && !(self.released && self.refuses_data(segment)) {
            self.receiver.on_data(segment, now);
        }
    }

    #[cold]
    #[inline(never)]
    fn on_handshake(&mut self, segment: &Segment, now: Time) {
        if self.settles(segment, now) {
            return;
        }
        let syn = segment.flags.has(Flags::SYN);
        match self.state {
            State::Listen if syn => {
                self.agree(accecn::of_syn(self.wants_ecn, segment.flags), AccEcn::server, segment);
                self.receiver.set_ts_recent(segment.ts_val);
                self.state = State::SynReceived;
                self.handshake = self.with_limits(Handshake::syn_ack(self.rules, now));
                self.handshake_due = true;
            }
            // The SYN-ACK echoes the first SYN's timestamp even then, so the client's round trip counts from that. Source:
            // Linux `tcp_check_req`.
            State::SynReceived if syn => {
                let answers = self.handshake.on_repeated_syn(self.answer_interval, now);
                self.handshake_due |= answers;
                if let Some(accecn) = self.accecn.as_mut().filter(|_| answers) {
                    accecn.on_syn_again(segment);
                }
            }
            State::SynSent if syn => {
                self.agree(
                    accecn::of_syn_ack(self.wants_ecn, segment.flags),
                    AccEcn::client,
                    segment,
                );
                self.receiver.set_ts_recent(segment.ts_val);
                self.establish(segment, now);
                self.acknowledge_apart();
            }
            State::SynReceived if segment.flags.has(Flags::ACK) => {
                if let Some(accecn) = &mut self.accecn {
                    accecn.on_third_ack(segment);
                }
                self.establish(segment, now);
            }
            _ => {}
        }
    }

    /// A SYN or SYN-ACK has come again: perhaps the peer has not seen the acknowledgement of its SYN-ACK. Or a
    /// segment acknowledges what no honest peer would. It is answered (RFC 5961 sections 4.2 and 5.2) unless
    /// another was just before, and nothing is taken from it. Answers whether it is. Source: Linux
    /// `tcp_validate_incoming`, `tcp_ack`.
    #[cold]
    pub(crate) fn challenge(&mut self, now: Time) -> bool {
        let answers = self.handshake.may_answer(self.answer_interval, now);
        if answers {
            self.acknowledge_apart();
        }
        answers
    }

    /// A SYN-ACK is answered by a segment of its own, even where data is ready to go. Source: Linux
    /// `tcp_rcv_synsent_state_process`, which calls `tcp_send_ack` before the application knows of the connection.
    fn acknowledge_apart(&mut self) {
        self.receiver.acknowledge_now();
        self.forced = Some(Box::new(Outgoing::new(self.sender.nxt(), 0, Flags::NONE)));
    }

    /// `answer` ends the handshake.
    fn establish(&mut self, answer: &Segment, now: Time) {
        let rtt = self.handshake.rtt(answer, now);
        let window_end = answer.ack.max(1).saturating_add(answer.window_bytes());
        self.state = State::Established;
        self.handshake_due = false;
        let marked = self.accecn.as_ref().map_or(0, |accecn| accecn.delivered_ce());
        self.sender.set_ecn(self.agreed_ecn, marked);
        self.receiver.set_ecn(self.agreed_ecn);
        self.sender.established(rtt, window_end, now);
        if let Some(metrics) = self.metrics.take() {
            metrics.recall(&mut self.sender);
        }
        if self.handshake.starts_small(answer) {
            self.sender.start_small();
        }
        self.receiver.established(rtt, self.sender.rto(), now);
    }

    /// The host sends by a device that queues. TCP lets it hold so much of this connection only (small queues), for
    /// which it is told of [`Endpoint::on_device_took`] and [`Endpoint::on_device_released`]. Without those it
    /// holds nothing.
    pub fn set_device(&mut self, device: Device) {
        self.sender.set_device(device);
    }

    /// That device took a segment with data that this end had sent. One that tells its segments apart says at which
    /// sequence number it begins: as long as it holds it, it is not sent again.
    pub fn on_device_took(&mut self, seq: Option<u64>) {
        self.sender.on_device_took(seq);
    }

    /// The device is done with such a segment: it is sent, or dropped. Answers whether something waited for that.
    pub fn on_device_released(&mut self, seq: Option<u64>) -> bool {
        self.sender.on_device_released(seq)
    }

    /// Whether [`Endpoint::poll_transmit`] held something back until the device is done with a segment.
    #[inline]
    #[must_use]
    pub fn waits_for_device(&self) -> bool {
        self.sender.waits_for_device()
    }

    /// Whether [`Endpoint::poll_transmit`] would answer `None` and change nothing, as far as a look at little tells.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.state == State::Established && self.sender.is_idle() && !self.receiver.wants_ack()
    }

    /// After a data segment has left: whether the next has to wait for its time or for the window, so that
    /// [`Endpoint::poll_transmit`] would answer `None` and change nothing. If not, it may still answer `None`.
    #[inline]
    pub fn rests(&mut self, now: Time) -> bool {
        self.state == State::Established
            && self.forced.is_none()
            && !self.receiver.wants_ack()
            && self.sender.rests(now)
    }

    /// The next segment to send now; `None` when there is no more until something arrives or a timer goes off.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_into(&mut segment, now).then_some(segment)
    }

    /// [`Endpoint::poll_transmit`] into a place that the caller has. Answers whether there is a segment in it.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub fn poll_into(&mut self, segment: &mut Segment, now: Time) -> bool {
        if self.state != State::Established {
            return self.poll_handshake(now).is_some_and(|handshake| {
                *segment = handshake;
                true
            });
        }
        if self.receiver.owes()
            && let Some(mut overdue) = self.receiver.take_overdue(self.sender.nxt(), now_ms(now))
        {
            self.tell_marks(&mut overdue, now);
            *segment = overdue;
            return true;
        }
        if self.accecn.is_some() {
            self.leave_room(now);
        }
        // An end that has nothing to send is asked as often as one that has: let it answer quickly.
        let out = if self.sender.is_idle() {
            None
        } else if self.forced.is_some() {
            self.forced.take().map(|out| *out)
        } else {
            self.sender.poll(now)
        };
        if let Some(out) = out {
            if out.len > 0 {
                self.receiver.on_data_sent(now);
            }
            *segment = Segment {
                seq: out.seq,
                len: out.len,
                flags: out.flags,
                ts_val: now_ms(now),
                ..Segment::default()
            };
        } else if self.receiver.wants_ack() {
            self.forced = None;
            *segment = Segment {
                seq: self.sender.nxt(),
                ts_val: now_ms(now),
                ..Segment::default()
            };
        } else {
            return false;
        }
        self.receiver.write_ack(segment);
        self.tell_marks(segment, now);
        true
    }

    #[cold]
    #[inline(never)]
    fn poll_handshake(&mut self, now: Time) -> Option<Segment> {
        if let Some(answer) = self.answer.take() {
            return Some(Segment {
                ts_val: now_ms(now),
                ..*answer
            });
        }
        if !std::mem::take(&mut self.handshake_due) {
            return None;
        }
        let mut segment = Segment {
            flags: Flags::SYN,
            ts_val: now_ms(now),
            ..Segment::default()
        };
        self.receiver.write_window(&mut segment);
        segment.flags |= self.ecn_of_handshake();
        if matches!(self.state, State::SynReceived) {
            self.receiver.write_ack(&mut segment);
        }
        match &mut self.accecn {
            Some(accecn) => accecn.write_syn_ack(&mut segment),
            None => segment.flags |= self.ecn_of_syn(),
        }
        Some(segment)
    }
}
