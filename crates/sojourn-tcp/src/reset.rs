//! Resets (RFC 9293 section 3.5.2, RFC 5961 section 3.2): which are believed, and which are sent.

use crate::endpoint::{Endpoint, State};
use crate::segment::{Flags, Segment};
use sojourn_units::Time;

impl Endpoint {
    /// A SYN or a reset came on an established connection.
    #[cold]
    pub(crate) fn on_unexpected(&mut self, segment: &Segment, now: Time) {
        if !segment.flags.has(Flags::RST) {
            let answered = self.challenge(now);
            if let Some(accecn) = &mut self.accecn {
                accecn.on_late_syn(segment, answered);
            }
        } else if segment.seq == self.receiver.next() {
            self.state = State::Done;
            self.forced = None;
        } else if self.receiver.admits(segment.seq) {
            // RFC 5961 section 3.2: somebody may have guessed.
            self.challenge(now);
        }
    }

    /// Whether a segment that came without an established connection needs nothing more: a reset, or an answer to a
    /// segment that has nothing to do with the connection.
    pub(crate) fn settles(&mut self, segment: &Segment, now: Time) -> bool {
        if segment.flags.has(Flags::RST) {
            self.on_early_reset(segment, now);
            return true;
        }
        let acks = segment.flags.has(Flags::ACK);
        let stray = match self.state {
            State::Closed | State::Done => true,
            State::Listen => acks,
            _ => false,
        };
        if stray && self.resets {
            // RFC 9293 section 3.10.7.1.
            self.answer = Some(Box::new(if acks {
                Segment {
                    seq: segment.ack,
                    flags: Flags::RST,
                    ..Segment::default()
                }
            } else {
                let syn = u64::from(segment.flags.has(Flags::SYN));
                Segment {
                    ack: segment.seq + segment.span() + syn,
                    flags: Flags::RST | Flags::ACK,
                    ..Segment::default()
                }
            }));
        }
        stray
    }

    /// A reset during the handshake.
    fn on_early_reset(&mut self, segment: &Segment, now: Time) {
        let expected = segment.seq == self.receiver.next();
        match self.state {
            // RFC 9293 section 3.10.7.3: it must acknowledge the SYN.
            State::SynSent if segment.flags.has(Flags::ACK) && segment.ack == 1 => self.state = State::Done,
            // RFC 9293 section 3.10.7.4: a passive open goes back to where it came from.
            State::SynReceived if expected => self.state = State::Listen,
            State::SynReceived
                if self.receiver.admits(segment.seq) && self.handshake.may_answer(self.answer_interval, now) =>
            {
                self.answer = Some(Box::new(self.bare(Flags::NONE)));
            }
            _ => return,
        }
        self.handshake_due &= self.state == State::SynReceived;
    }

    /// The peer is told that this end has given up. Deviation: Linux's reset has AccECN's bits and option, too.
    pub(crate) fn say_reset(&mut self) {
        self.answer = Some(Box::new(self.bare(Flags::RST)));
    }

    /// A segment without data.
    fn bare(&mut self, flags: Flags) -> Segment {
        let mut segment = Segment {
            seq: self.sender.nxt(),
            flags,
            ..Segment::default()
        };
        self.receiver.write_ack(&mut segment);
        segment
    }
}
