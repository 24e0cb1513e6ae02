//! What befell the measured packets of a voice stream, whoever carried them.
//!
//! Read first: RFC 3550 section 6.4.1 (interarrival jitter), RFC 5481 (delay variation).

use crate::record::numbers::mean;
use sojourn_units::Duration;

/// Not there (yet).
const ABSENT: u64 = u64::MAX;

/// The measured packets. A packet costs eight bytes of memory: its delay.
#[derive(Debug, Default)]
pub(crate) struct VoiceTrace {
    /// Delays in the order of sending, ns.
    delays: Vec<u64>,
    arrived: u64,
    /// RFC 3550's J, ns, and the delay of the packet that arrived last.
    jitter_ns: f64,
    last_delay: Option<u64>,
}

/// What befell the packets that were sent in one bin of the series.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VoiceBin {
    pub(crate) sent: u32,
    pub(crate) lost: u32,
    pub(crate) delay_sum_ns: u128,
    pub(crate) delay_max_ns: u64,
}

impl VoiceTrace {
    /// The next packet is sent.
    pub(crate) fn send(&mut self) {
        self.delays.push(ABSENT);
    }

    /// The packet that was sent as number `place` arrives. To be called in the order of arrival; a second time it is
    /// ignored.
    pub(crate) fn arrive(&mut self, place: usize, delay: Duration) {
        let delay = delay.as_nanos();
        let Some(slot) = self.delays.get_mut(place).filter(|d| **d == ABSENT) else {
            return;
        };
        *slot = delay;
        self.arrived += 1;
        if let Some(last) = self.last_delay.replace(delay) {
            // RFC 3550 section 6.4.1: J(i) = J(i-1) + (|D(i-1,i)| - J(i-1)) / 16, in the order of arrival.
            self.jitter_ns += (delay.abs_diff(last) as f64 - self.jitter_ns) / 16.0;
        }
    }

    /// Packets sent.
    pub(crate) fn sent(&self) -> u64 {
        self.delays.len() as u64
    }

    /// Of them, not arrived.
    pub(crate) fn lost(&self) -> u64 {
        self.sent() - self.arrived
    }

    /// The delay of the packet of a place; `None` if it has not arrived.
    pub(crate) fn delay(&self, place: usize) -> Option<Duration> {
        let found = self.delays.get(place).filter(|&&delay| delay != ABSENT);
        found.map(|&delay| Duration::from_nanos(delay))
    }

    /// The last place whose packet has arrived.
    pub(crate) fn last_arrived(&self) -> Option<usize> {
        self.delays.iter().rposition(|&delay| delay != ABSENT)
    }

    /// Delays of those that arrived, in the order of sending.
    pub(crate) fn delays(&self) -> impl Iterator<Item = Duration> + '_ {
        self.delays
            .iter()
            .filter(|&&d| d != ABSENT)
            .map(|&d| Duration::from_nanos(d))
    }

    /// RFC 3550's interarrival jitter at the end, ns; `None` before two have arrived. Deviation: without its rounding to
    /// units of the RTP clock.
    pub(crate) fn jitter_ns(&self) -> Option<f64> {
        (self.arrived > 1).then_some(self.jitter_ns)
    }

    /// Mean of |delay of a packet - delay of the one sent before it|, ns, over the pairs of which both arrived
    /// (RFC 5481 section 4.1: IPDV); `None` without such a pair.
    pub(crate) fn ipdv_ns(&self) -> Option<f64> {
        let pairs = self.delays.windows(2).filter(|w| w[0] != ABSENT && w[1] != ABSENT);
        let (n, sum) = pairs.fold((0u64, 0u128), |(n, sum), w| {
            (n + 1, sum + u128::from(w[0].abs_diff(w[1])))
        });
        mean(sum as f64, n)
    }

    /// The first `count` bins of width `width`. `sent_at` tells when the packet of a place was sent, from the
    /// beginning of the first bin.
    pub(crate) fn bins(&self, width: Duration, count: usize, sent_at: impl Fn(usize) -> Duration) -> Vec<VoiceBin> {
        let mut bins = vec![VoiceBin::default(); count];
        for (i, &delay) in self.delays.iter().enumerate() {
            let Some(bin) = bins.get_mut((sent_at(i).as_nanos() / width.as_nanos()) as usize) else {
                break;
            };
            bin.sent += 1;
            if delay == ABSENT {
                bin.lost += 1;
            } else {
                bin.delay_sum_ns += u128::from(delay);
                bin.delay_max_ns = bin.delay_max_ns.max(delay);
            }
        }
        bins
    }
}
