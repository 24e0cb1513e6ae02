//! What the method `adaptive` keeps of one flow.

use crate::FlusherParams;
use sojourn_units::{Duration, Rate, Time};
use std::collections::VecDeque;

/// Throughput intervals remembered.
const RATES: usize = 4;
/// A window that does not fill within this many times its length begins anew: its samples are of different times.
const PATIENCE: u64 = 8;
/// And no sooner than this: a receiver may hold an acknowledgement back for so long. Source: RFC 9293 section
/// 3.8.6.3.
const DELAYED_ACK: Duration = Duration::from_millis(500);

/// Windows of time, peaks, losses and rates of a flow.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    window: Option<Window>,
    /// The least sample of the window closed last.
    least: Option<Sample>,
    above: bool,
    /// The largest sample of the current and of the last period of one smoothed RTT.
    peaks: [Duration; 2],
    peak_since: Time,
    /// Where the data sent before a loss ends; more losses before it is acknowledged are the same loss event.
    recovery: Option<u32>,
    /// When the last loss event ended.
    recovered: Option<Time>,
    rates: VecDeque<Rate>,
    /// Something was lost in the current throughput interval.
    lossy: bool,
    /// Payload of the largest segment, and its length on the wire.
    segment: (u32, u32),
}

/// An RTT, and the sequence space that was under way once the segment that tells it had left; 0 if that is not known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) rtt: Duration,
    pub(crate) under_way: u32,
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: Time,
    samples: u32,
    least: Sample,
}

impl Watch {
    /// The least RTT of the last window.
    pub(crate) fn least(&self) -> Option<Duration> {
        self.least.map(|sample| sample.rtt)
    }

    pub(crate) const fn above(&self) -> bool {
        self.above
    }

    pub(crate) const fn recovering(&self) -> bool {
        self.recovery.is_some()
    }

    pub(crate) fn on_data(&mut self, payload: u32, wire: u32) {
        self.segment = self.segment.max((payload, wire));
    }

    /// Packets that `bytes` of sequence space are.
    pub(crate) fn packets(&self, bytes: u32) -> u32 {
        bytes.checked_div(self.segment.0).unwrap_or(0)
    }

    /// A segment was sent again while everything up to `sent_up_to` had been sent. The first time in a loss event,
    /// the largest RTT just before it is told: that of a full buffer, if the buffer was what lost it.
    pub(crate) fn on_retransmission(&mut self, sent_up_to: u32) -> Option<Duration> {
        self.lossy = true;
        if self.recovery.is_some() {
            return None;
        }
        self.recovery = Some(sent_up_to);
        Some(self.peaks[0].max(self.peaks[1])).filter(|peak| !peak.is_zero())
    }

    /// Ends the loss event if `acknowledged` says that its data has arrived.
    pub(crate) fn on_ack(&mut self, now: Time, acknowledged: impl Fn(u32) -> bool) {
        if self.recovery.is_some_and(acknowledged) {
            self.recovery = None;
            self.recovered = Some(now);
        }
    }

    /// Takes a sample; the least RTT if a window of time ended with it.
    pub(crate) fn on_sample(
        &mut self,
        mut sample: Sample,
        smoothed: Duration,
        base: Duration,
        trigger: Duration,
        now: Time,
        params: &FlusherParams,
    ) -> Option<Duration> {
        // In a loss event some of what is under way is lost, or waits at the receiver already.
        if self.recovering() || self.recovered.is_some_and(|ended| now - sample.rtt < ended) {
            sample.under_way = 0;
        }
        if now.since(self.peak_since) > smoothed {
            self.peaks = [Duration::ZERO, self.peaks[0]];
            self.peak_since = now;
        }
        self.peaks[0] = self.peaks[0].max(sample.rtt);

        let length = params.window_rtts.of(base);
        let stale = length.saturating_mul(PATIENCE).max(DELAYED_ACK);
        let window = match self.window {
            Some(w) if now.since(w.since) <= stale => Window {
                samples: w.samples + 1,
                least: if sample.rtt < w.least.rtt { sample } else { w.least },
                ..w
            },
            _ => Window {
                since: now,
                samples: 1,
                least: sample,
            },
        };
        if window.samples < params.window_samples || now.since(window.since) < length {
            self.window = Some(window);
            return None;
        }
        self.window = None;
        self.least = Some(window.least);
        self.above = window.least.rtt > trigger;
        Some(window.least.rtt)
    }

    /// A throughput interval ended. One in which something was lost tells little: an acknowledgement that fills a
    /// hole brings a whole window at once, and the window before it was cut. The hole can be filled in the next one.
    pub(crate) fn on_rate(&mut self, rate: Rate) {
        if !self.lossy || self.rates.is_empty() {
            if self.rates.len() == RATES {
                self.rates.pop_front();
            }
            self.rates.push_back(rate);
        }
        self.lossy = self.recovering();
    }

    /// What the flow gets of the buffer where it stands. In a standing queue that is what was under way once a segment
    /// had left, over the segment's RTT (Little's law): so much has left the buffer in this time. The best of the last
    /// intervals tells too little where bursts took a part of them, but is right where data lies on the way that is
    /// lost already.
    ///
    /// Source: seed 003, Eq. 3.1.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let measured = self.rates.iter().copied().max();
        let standing = self.least.filter(|_| self.above).and_then(|sample| {
            let bits = u128::from(self.packets(sample.under_way)) * u128::from(self.segment.1) * 8_000_000_000;
            let bps = u64::try_from(bits / u128::from(sample.rtt.as_nanos().max(1))).unwrap_or(u64::MAX);
            (bps > 0).then(|| Rate::from_bps(bps))
        });
        standing.max(measured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const PARAMS: FlusherParams = FlusherParams::ADAPTIVE;

    /// Four samples in slow start, 20 ms apart, of a flow of packets of 1500 bytes with 1448 of payload.
    fn slow_start(watch: &mut Watch, samples: [(u64, u32); 4]) {
        watch.on_data(1448, 1500);
        for (n, (rtt, packets)) in (1..).zip(samples) {
            let sample = Sample {
                rtt: MS * rtt,
                under_way: 1448 * packets,
            };
            watch.on_sample(sample, MS * 50, MS * 50, MS * 60, Time::ZERO + MS * (20 * n), &PARAMS);
        }
    }

    /// At 5 Mbit/s a packet takes 2.4 ms, so 50 ms are 20.8 packets. 30 packets under way wait 72 ms, and 30 x 1500 x 8 /
    /// 72 ms are 5 Mbit/s. By the time of the acknowledgement slow start has 60 under way, which would be 10.
    #[test]
    fn what_was_under_way_with_the_segment_counts_and_not_what_slow_start_has_added() {
        let mut watch = Watch::default();
        slow_start(&mut watch, [(72, 30), (84, 35), (96, 40), (144, 60)]);
        assert_eq!(watch.rate(), Some(Rate::from_mbit(5)));
    }

    /// 60 segments under way, of which 30 are lost, are no 10 Mbit/s. The loss event ends at 100 ms, and the next samples
    /// are of segments that were sent in it.
    #[test]
    fn what_was_under_way_in_a_loss_event_tells_no_rate() {
        let mut watch = Watch::default();
        watch.on_retransmission(1);
        slow_start(&mut watch, [(72, 60), (74, 60), (76, 60), (78, 60)]);
        assert_eq!((watch.least(), watch.rate()), (Some(MS * 72), None));
        watch.on_ack(Time::ZERO + MS * 10, |_| true);
        slow_start(&mut watch, [(72, 60), (74, 60), (76, 60), (78, 60)]);
        assert_eq!(watch.rate(), None);
    }

    /// An interval of 8 Mbit/s, in which a hole of the one before is filled, is none of a link of 5.
    #[test]
    fn an_interval_that_begins_in_a_loss_event_does_not_count() {
        let mut watch = Watch::default();
        watch.on_rate(Rate::from_mbit(5));
        watch.on_retransmission(1);
        watch.on_rate(Rate::from_mbit(4));
        watch.on_ack(Time::ZERO + MS * 10, |_| true);
        watch.on_rate(Rate::from_mbit(8));
        assert_eq!(watch.rate(), Some(Rate::from_mbit(5)));
    }

    /// Without a standing queue there is no rate before a whole interval was measured, and then it is that of the interval.
    #[test]
    fn without_a_queue_the_rate_is_that_of_an_interval() {
        let mut watch = Watch::default();
        slow_start(&mut watch, [(50, 10), (51, 10), (52, 20), (53, 20)]);
        assert_eq!(watch.rate(), None);
        watch.on_rate(Rate::from_mbit(3));
        assert_eq!(watch.rate(), Some(Rate::from_mbit(3)));
    }
}
