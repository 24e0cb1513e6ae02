//! Round-trip times of a flow, from what captures at its two ends would tell.
//!
//! Source: S. Zander, G. Armitage, "Minimally-intrusive frequent round trip time measurements using synthetic
//! packet-pairs" (LCN 2013), as seed 003 uses it. A packet that arrives at the receiver and the next one that the
//! receiver sends are a pair: the RTT is the time of each on the way, without that between the two. It is exact for
//! each pair, and neither smoothed nor lengthened by delayed acknowledgements.
//!
//! Deviation: of several packets that arrive before the next one leaves, the last is taken, so that the pair is as
//! close together as can be; and packets are told by the simulation, not by a digest of their bytes.

use sojourn_units::{Duration, Time};

/// Width of the bins of [`Rtts`], ns.
pub(crate) const BIN: Duration = Duration::from_micros(500);
/// Bins at most: what is longer is in the last.
const BINS_MAX: usize = 120_000;

/// Round-trip times of one flow: all of them in bins, and those since the last sample of the series.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rtts {
    /// How many in each bin of [`BIN`].
    pub(crate) counts: Vec<u32>,
    pub(crate) count: u64,
    pub(crate) sum_ns: u128,
    pub(crate) min: Option<Duration>,
    pub(crate) max: Duration,
    recent: (u64, u128, Duration),
}

impl Rtts {
    pub(crate) fn record(&mut self, rtt: Duration) {
        let ns = rtt.as_nanos();
        let bin = ((ns / BIN.as_nanos()) as usize).min(BINS_MAX - 1);
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.min = Some(self.min.map_or(rtt, |least| least.min(rtt)));
        self.max = self.max.max(rtt);
        let (count, sum, most) = self.recent;
        self.recent = (count + 1, sum + u128::from(ns), most.max(rtt));
    }

    /// Mean and largest since this was asked last, ms; `None` if there were none.
    pub(crate) fn take_recent(&mut self) -> Option<(f64, f64)> {
        let (count, sum, most) = std::mem::take(&mut self.recent);
        (count > 0).then(|| (sum as f64 / count as f64 / 1e6, most.as_millis_f64()))
    }
}

/// What a packet under way carries of a measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Under {
    sent: Time,
    /// Of an acknowledgement: how long the packet before it was on its way.
    forth: Option<Duration>,
}

/// The packets under way of all flows, by where their segments are kept.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    under: Vec<Under>,
}

/// The measurement of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairing {
    /// How long the last packet was on its way to the receiver, which has not sent since.
    arrived: Option<Duration>,
    pub(crate) rtts: Rtts,
}

impl Pairs {
    fn leaves(&mut self, body: u32, under: Under) {
        let body = body as usize;
        if body >= self.under.len() {
            self.under.resize(body + 1, Under::default());
        }
        self.under[body] = under;
    }

    fn arrives(&self, body: u32) -> Under {
        self.under.get(body as usize).copied().unwrap_or_default()
    }

    /// A packet of the flow leaves its sender.
    pub(crate) fn sent(&mut self, body: u32, now: Time) {
        self.leaves(body, Under { sent: now, forth: None });
    }

    /// It arrives at its receiver.
    pub(crate) fn received(&self, of: &mut Pairing, body: u32, now: Time) {
        of.arrived = Some(now.since(self.arrives(body).sent));
    }

    /// The receiver sends.
    pub(crate) fn answered(&mut self, of: &mut Pairing, body: u32, now: Time) {
        let forth = of.arrived.take();
        self.leaves(body, Under { sent: now, forth });
    }

    /// That arrives at the sender: a pair is complete, unless nothing had arrived before it left.
    pub(crate) fn returned(&self, of: &mut Pairing, body: u32, now: Time) {
        let under = self.arrives(body);
        if let Some(forth) = under.forth {
            of.rtts.record(forth + now.since(under.sent));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    /// Two packets leave at 0 and 2 and take 30 and 40. An acknowledgement leaves at 142 and takes 25.
    /// By hand the sum is 40 + 25 = 65. The receiver's 100 ms are not in it.
    #[test]
    fn a_pair_is_the_last_packet_that_arrived_and_the_answer() {
        let (mut pairs, mut flow) = (Pairs::default(), Pairing::default());
        pairs.sent(7, ms(0));
        pairs.sent(8, ms(2));
        pairs.received(&mut flow, 7, ms(30));
        pairs.received(&mut flow, 8, ms(42));
        pairs.answered(&mut flow, 7, ms(142));
        pairs.answered(&mut flow, 9, ms(143));
        pairs.returned(&mut flow, 7, ms(167));
        pairs.returned(&mut flow, 9, ms(168));
        let rtts = &flow.rtts;
        assert_eq!(
            (rtts.count, rtts.max, rtts.min),
            (1, Duration::from_millis(65), Some(Duration::from_millis(65)))
        );
        assert_eq!(rtts.counts.iter().position(|&n| n > 0), Some(130));
    }

    #[test]
    fn a_place_that_is_used_again_has_a_new_time() {
        let (mut pairs, mut flow) = (Pairs::default(), Pairing::default());
        for start in [0, 1000] {
            pairs.sent(0, ms(start));
            pairs.received(&mut flow, 0, ms(start + 10));
            pairs.answered(&mut flow, 0, ms(start + 10));
            pairs.returned(&mut flow, 0, ms(start + 20));
        }
        assert_eq!((flow.rtts.count, flow.rtts.max), (2, Duration::from_millis(20)));
        assert_eq!(flow.rtts.take_recent(), Some((20.0, 20.0)));
        assert_eq!(flow.rtts.take_recent(), None);
    }
}
