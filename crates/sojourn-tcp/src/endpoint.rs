//! One end of a connection: handshake, sender and receiver.

use crate::receiver::Receiver;
use crate::rtt::RTO_INITIAL;
use crate::segment::{Flags, Segment};
use crate::sender::{Outgoing, Sender, now_ms};
use crate::{ParamError, TcpParams, WINDOW_UNIT};
use sojourn_units::{Duration, Time};

/// Where the handshake stands (RFC 9293 section 3.3.2, without closing).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Listen,
    /// The SYN or SYN-ACK went out at `sent`, the `tries`-th time, and is repeated at `due`.
    SynSent {
        sent: Time,
        tries: u32,
        due: Time,
    },
    SynReceived {
        sent: Time,
        tries: u32,
        due: Time,
    },
    Established,
}

/// One end of a TCP connection.
///
/// The order of use is that of any sans-IO protocol: hand in what arrived ([`Endpoint::on_segment`]) or that time has
/// passed ([`Endpoint::on_timeout`]), then take what it wants to send ([`Endpoint::poll_transmit`]) until it answers
/// `None`, then ask when to come back ([`Endpoint::timeout`]).
///
/// Deviation: connections are not closed with FIN; the end of a run or of the data is the end.
#[derive(Clone, Debug)]
pub struct Endpoint {
    sender: Sender,
    receiver: Receiver,
    state: State,
    /// A handshake segment is to be sent.
    handshake_due: bool,
    /// A segment that a timer sends whatever the window says.
    forced: Option<Outgoing>,
}

impl Endpoint {
    fn new(params: &TcpParams, state: State) -> Result<Self, ParamError> {
        params.validate()?;
        Ok(Self {
            sender: Sender::new(params),
            receiver: Receiver::new(params),
            state,
            handshake_due: false,
            forced: None,
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
    /// Whether data can flow.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// Starts the handshake; does nothing unless this is a client that has not started it.
    pub fn connect(&mut self, now: Time) {
        if self.state == State::Closed {
            self.state = State::SynSent {
                sent: now,
                tries: 1,
                due: now + RTO_INITIAL,
            };
            self.handshake_due = true;
        }
    }

    /// The application writes `bytes` more; they are sent once the connection and the windows allow.
    pub fn write(&mut self, bytes: u64) {
        self.sender.written = self.sender.written.saturating_add(bytes).min(1 << 62);
    }

    /// Takes a segment from the network.
    #[inline]
    pub fn on_segment(&mut self, segment: &Segment, now: Time) {
        if self.state != State::Established || segment.flags.has(Flags::SYN) {
            self.on_handshake(segment, now);
            if self.state != State::Established {
                return;
            }
        }
        self.receiver.on_timestamp(segment);
        if segment.flags.has(Flags::ACK) {
            self.sender.on_ack(segment, now);
        }
        if segment.len > 0 {
            self.receiver.on_data(segment, now);
        }
    }

    fn on_handshake(&mut self, segment: &Segment, now: Time) {
        let syn = segment.flags.has(Flags::SYN);
        let window_end = segment
            .ack
            .max(1)
            .saturating_add(u64::from(segment.window) * WINDOW_UNIT);
        match self.state {
            State::Listen if syn => {
                self.receiver.set_ts_recent(segment.ts_val);
                self.state = State::SynReceived {
                    sent: now,
                    tries: 1,
                    due: now + RTO_INITIAL,
                };
                self.handshake_due = true;
            }
            State::SynReceived { .. } if syn => self.handshake_due = true,
            State::SynSent { sent, tries, .. } if syn => {
                self.receiver.set_ts_recent(segment.ts_val);
                let rtt = if tries == 1 {
                    now.since(sent)
                } else {
                    // Karn's rule forbids the difference; the echoed timestamp says which SYN this answers (RFC 7323 4.1).
                    Duration::from_millis(u64::from(now_ms(now).wrapping_sub(segment.ts_ecr)).max(1))
                };
                self.establish(Some(rtt), window_end, now);
                // RFC 5681 section 3.1 asks for one segment after any lost SYN; Linux forgives one (RFC 6298 section 5.7).
                if tries > 2 {
                    self.sender.window.cwnd = 1;
                }
                self.receiver.acknowledge_now();
            }
            State::SynReceived { sent, tries, .. } if segment.flags.has(Flags::ACK) => {
                self.establish((tries == 1).then(|| now.since(sent)), window_end, now);
            }
            // The peer has not seen our acknowledgement of its SYN-ACK.
            State::Established if syn => self.receiver.acknowledge_now(),
            _ => {}
        }
    }

    fn establish(&mut self, rtt: Option<Duration>, window_end: u64, now: Time) {
        self.state = State::Established;
        self.handshake_due = false;
        self.sender.established(rtt, window_end, now);
        self.receiver.established(rtt, self.sender.rto(), now);
    }

    /// The next segment to send now; `None` when there is no more until something arrives or a timer goes off.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.state != State::Established {
            return self.poll_handshake(now);
        }
        // An end that has nothing to send is asked as often as one that has: let it answer quickly.
        if !self.sender.is_idle()
            && let Some(out) = self.forced.take().or_else(|| self.sender.poll(now))
        {
            let mut segment = Segment {
                seq: out.seq,
                len: out.len,
                flags: out.flags,
                ts_val: now_ms(now),
                ..Segment::default()
            };
            self.receiver.write_ack(&mut segment);
            return Some(segment);
        }
        if self.receiver.wants_ack() {
            let mut segment = Segment {
                seq: self.sender.nxt,
                ts_val: now_ms(now),
                ..Segment::default()
            };
            self.receiver.write_ack(&mut segment);
            return Some(segment);
        }
        None
    }

    fn poll_handshake(&mut self, now: Time) -> Option<Segment> {
        if !std::mem::take(&mut self.handshake_due) {
            return None;
        }
        let mut segment = Segment {
            flags: Flags::SYN,
            ts_val: now_ms(now),
            ..Segment::default()
        };
        segment.window = self.receiver.window_units();
        if matches!(self.state, State::SynReceived { .. }) {
            self.receiver.write_ack(&mut segment);
        }
        Some(segment)
    }

    /// When [`Endpoint::on_timeout`] wants to be called; `None` if only a segment or the application can change anything.
    #[inline]
    #[must_use]
    pub fn timeout(&self) -> Option<Time> {
        match self.state {
            State::Established => match (self.sender.timeout(), self.receiver.timeout()) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            State::SynSent { due, .. } | State::SynReceived { due, .. } => Some(due),
            State::Closed | State::Listen => None,
        }
    }

    /// Time has passed. Harmless if called too early.
    pub fn on_timeout(&mut self, now: Time) {
        match &mut self.state {
            State::Established => {
                self.receiver.on_timeout(now);
                if let Some(out) = self.sender.on_timeout(now) {
                    self.forced = Some(out);
                }
            }
            State::SynSent { tries, due, .. } | State::SynReceived { tries, due, .. } if *due <= now => {
                // RFC 6298 section 5.5: the time-out doubles. Source of the limit: Linux `tcp_syn_retries`, then it gives up.
                *due = if *tries > 6 {
                    Time::MAX
                } else {
                    now + RTO_INITIAL * (1 << *tries)
                };
                self.handshake_due = *tries <= 6;
                *tries += 1;
            }
            _ => {}
        }
    }
}
