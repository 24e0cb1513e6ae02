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
    /// The least RTT of the window closed last.
    least: Option<Duration>,
    above: bool,
    /// The largest sample of the current and of the last period of one smoothed RTT.
    peaks: [Duration; 2],
    peak_since: Time,
    /// Where the data sent before a loss ends; more losses before it is acknowledged are the same loss event.
    recovery: Option<u32>,
    rates: VecDeque<Rate>,
    /// Something was lost in the current throughput interval.
    lossy: bool,
    /// Payload of the largest segment, and its length on the wire.
    segment: (u32, u32),
}

#[derive(Clone, Copy, Debug)]
struct Window {
    since: Time,
    samples: u32,
    least: Duration,
}

impl Watch {
    /// The least RTT of the last window.
    pub(crate) const fn least(&self) -> Option<Duration> {
        self.least
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
    pub(crate) fn on_ack(&mut self, acknowledged: impl Fn(u32) -> bool) {
        if self.recovery.is_some_and(acknowledged) {
            self.recovery = None;
        }
    }

    /// Takes a sample; the least RTT if a window of time ended with it.
    pub(crate) fn on_sample(
        &mut self,
        raw: Duration,
        smoothed: Duration,
        base: Duration,
        trigger: Duration,
        now: Time,
        params: &FlusherParams,
    ) -> Option<Duration> {
        if now.since(self.peak_since) > smoothed {
            self.peaks = [Duration::ZERO, self.peaks[0]];
            self.peak_since = now;
        }
        self.peaks[0] = self.peaks[0].max(raw);

        let length = params.window_rtts.of(base);
        let stale = length.saturating_mul(PATIENCE).max(DELAYED_ACK);
        let window = match self.window {
            Some(w) if now.since(w.since) <= stale => Window {
                samples: w.samples + 1,
                least: w.least.min(raw),
                ..w
            },
            _ => Window {
                since: now,
                samples: 1,
                least: raw,
            },
        };
        if window.samples < params.window_samples || now.since(window.since) < length {
            self.window = Some(window);
            return None;
        }
        self.window = None;
        self.least = Some(window.least);
        self.above = window.least > trigger;
        Some(window.least)
    }

    /// A throughput interval ended. One in which something was lost tells little: an acknowledgement that fills a
    /// hole brings a whole window at once, and the window before it was cut.
    pub(crate) fn on_rate(&mut self, rate: Rate) {
        if !self.lossy || self.rates.is_empty() {
            if self.rates.len() == RATES {
                self.rates.pop_front();
            }
            self.rates.push_back(rate);
        }
        self.lossy = false;
    }

    /// What the flow gets of the buffer where it stands. In a standing queue that is its window over its RTT
    /// (Little's law); the best of the last intervals tells too little where bursts took a part of them, but is
    /// right where data lies on the way that is lost already.
    ///
    /// Source: seed 003, Eq. 3.1.
    pub(crate) fn rate(&self, in_flight: u32) -> Option<Rate> {
        let bits = u128::from(self.packets(in_flight)) * u128::from(self.segment.1) * 8_000_000_000;
        let least = self.least.filter(|_| self.above).unwrap_or(Duration::MAX);
        let bps = u64::try_from(bits / u128::from(least.as_nanos().max(1))).unwrap_or(u64::MAX);
        let measured = self.rates.iter().copied().max();
        // In slow start the window runs ahead of what is delivered.
        let most = measured.map_or(u64::MAX, |rate| rate.as_bps().saturating_mul(2));
        let standing = (bps > 0).then(|| Rate::from_bps(bps.min(most)));
        standing.max(measured)
    }
}
