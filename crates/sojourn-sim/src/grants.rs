//! A link that serves in bursts, as links do that aggregate or are granted their time.

use crate::link::{Below, LinkModel};
use crate::packet::Packet;
use sojourn_qdisc::{DropSink, Next, ParamError};
use sojourn_units::{Bytes, Duration, Rate, Time};

/// Bits times nanoseconds in a second in a byte: credit is counted in bits a second times nanoseconds, which is exact.
const BYTE: i128 = 8 * 1_000_000_000;

/// A link that serves at multiples of a time only. Each burst carries what the rate carries in that time, at once; what
/// the queue does not fill of it is lost. Here the queue of an access network forms while the link waits, so a sender
/// that paces below its rate still meets a queue of up to one interval.
///
/// Deviation: a frame that begins in a burst leaves with it, and the next burst has so much less, where a radio would
/// wait and a cable modem would send the rest of a fragment. The rate over several bursts is exact.
#[derive(Debug)]
pub(crate) struct Grants<Q> {
    rate: Rate,
    every: Duration,
    /// What is left of a burst, or, below zero, what was sent ahead; above zero only during a burst.
    credit: i128,
    /// When the last burst began.
    last: Option<Time>,
    qdisc: Q,
}

impl<Q: Below> Grants<Q> {
    /// A link of this rate that serves each `every`, which is not zero, over `qdisc`.
    pub(crate) fn new(rate: Rate, every: Duration, qdisc: Q) -> Self {
        Self {
            rate,
            every,
            credit: 0,
            last: None,
            qdisc,
        }
    }

    /// Begins a burst. Those that went by without a packet only paid what was sent ahead.
    fn begin(&mut self, now: Time) {
        let burst = i128::from(self.rate.as_bps()) * i128::from(self.every.as_nanos());
        let gone = self
            .last
            .map_or(1, |last| now.since(last).as_nanos() / self.every.as_nanos());
        let idle = i128::from(gone).saturating_sub(1).saturating_mul(burst);
        self.credit = self.credit.saturating_add(idle).min(0) + burst;
        self.last = Some(now);
    }

    fn next_of_burst(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> Next<Packet> {
        let number = now.as_nanos() / self.every.as_nanos();
        let begin = Time::from_nanos(number * self.every.as_nanos());
        if now == begin && self.last != Some(now) {
            self.begin(now);
        }
        if self.last == Some(now) && self.credit > 0 {
            if let Some(departure) = self.qdisc.dequeue(now, drops) {
                self.credit -= i128::from(departure.packet.size) * BYTE;
                return Next::Departs(departure);
            }
            self.credit = 0;
        }
        if self.qdisc.backlog().packets == 0 {
            return Next::Idle;
        }
        Next::At(begin + self.every)
    }
}

impl<Q: Below> LinkModel<Q> for Grants<Q> {
    fn child(&self) -> &Q {
        &self.qdisc
    }

    fn child_mut(&mut self) -> &mut Q {
        &mut self.qdisc
    }

    /// Holds from the next burst on.
    fn set_rate(&mut self, rate: Rate, _: Bytes) -> Result<(), ParamError> {
        self.rate = rate;
        Ok(())
    }

    /// The next packet of a burst, or when to ask again. Costs O(1) beside the discipline.
    fn next(&mut self, now: Time, drops: &mut dyn DropSink<Packet>) -> (Next<Packet>, Duration) {
        (self.next_of_burst(now, drops), Duration::ZERO)
    }
}
