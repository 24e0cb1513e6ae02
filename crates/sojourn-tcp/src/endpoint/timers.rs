//! When an endpoint wants to be called, and what it does then.

use super::{Endpoint, State};
use crate::handshake::Expiry;
use sojourn_units::Time;

impl Endpoint {
    /// When [`Endpoint::on_timeout`] wants to be called; `None` if only a segment or the application can change
    /// anything.
    #[inline]
    #[must_use]
    pub fn timeout(&self) -> Option<Time> {
        match self.state {
            State::Established => earlier(self.sender.timeout(), self.receiver.timeout()),
            State::SynSent | State::SynReceived => Some(self.handshake.due()),
            State::Closed | State::Listen | State::Done => None,
        }
    }

    /// Whether it spreads its segments over time, so that it waits for [`Endpoint::departs`] too.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.sender.is_paced()
    }

    /// [`Endpoint::timeout`] without what [`Endpoint::departs`] tells.
    #[inline]
    #[must_use]
    pub fn timer(&self) -> Option<Time> {
        match self.state {
            State::Established => earlier(self.sender.timer(), self.receiver.timeout()),
            _ => self.timeout(),
        }
    }

    /// When a segment that waits for its time may leave, if one waits: then [`Endpoint::on_departure`] wants to be
    /// called.
    #[inline]
    #[must_use]
    pub fn departs(&self) -> Option<Time> {
        (self.state == State::Established)
            .then(|| self.sender.departs())
            .flatten()
    }

    /// The time of [`Endpoint::departs`] has come. [`Endpoint::on_timeout`] does this too.
    #[inline]
    pub fn on_departure(&mut self, now: Time) {
        self.sender.on_departure(now);
    }

    /// Time has passed. Harmless if called too early.
    pub fn on_timeout(&mut self, now: Time) {
        match self.state {
            State::Established => {
                self.receiver.on_timeout(now);
                if let Some(out) = self.sender.on_timeout(now) {
                    self.forced = Some(Box::new(out));
                }
                if self.sender.has_expired() {
                    self.give_up();
                }
            }
            State::SynSent | State::SynReceived if self.handshake.due() <= now => {
                match self.handshake.on_timeout(now) {
                    Expiry::Repeat => {
                        self.handshake_due = true;
                        self.syn_retransmissions += 1;
                        if let Some(accecn) = &mut self.accecn {
                            accecn.on_syn_ack_timeout();
                        }
                    }
                    // What a listener forgets begins anew with the next SYN.
                    Expiry::GiveUp if self.state == State::SynReceived => self.state = State::Listen,
                    Expiry::GiveUp if self.handshake.has_expired(now) => self.give_up(),
                    Expiry::GiveUp => {}
                }
            }
            _ => {}
        }
    }
}

/// The earlier of two times.
#[inline]
fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
