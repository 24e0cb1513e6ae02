//! What `autorate-ingress` estimates: the rate at which packets arrive, at its peaks.
//!
//! Source: Linux 6.1 `sch_cake.c`, `cake_enqueue`. A window lasts until a packet comes later than the mean gap. Bursts
//! of packets, such as frames that a radio aggregates, are so measured together with the pause behind them.
//!
//! The kernel means to set its rate at most every 250 ms, and 6.1 forgets to note when it did, so that it sets it at
//! every window. 7.3 notes it. This is 6.1.

use super::{LONG_AGO, ewma};

const SECOND: u64 = 1_000_000_000;

#[derive(Clone, Debug)]
pub(super) struct Estimate {
    last_packet: i64,
    mean_gap: u64,
    window_begin: i64,
    window_bytes: u64,
    /// Bytes a second.
    pub(super) peak: u64,
}

impl Estimate {
    /// Before the first packet: the bandwidth that was given, bytes a second.
    pub(super) fn new(bandwidth: u64) -> Self {
        Self {
            last_packet: LONG_AGO,
            mean_gap: 0,
            window_begin: LONG_AGO,
            window_bytes: 0,
            peak: bandwidth,
        }
    }

    /// `bytes` arrive: the bandwidth that is to be set at the end of a window, bytes a second.
    pub(super) fn arrival(&mut self, bytes: u64, now: i64) -> Option<u64> {
        self.window_bytes += bytes;
        let gap = (now - self.last_packet).cast_unsigned().min(SECOND);
        self.mean_gap = ewma(self.mean_gap, gap, if gap > self.mean_gap { 2 } else { 8 });
        self.last_packet = now;
        if gap <= self.mean_gap {
            return None;
        }
        let window = (now - self.window_begin).cast_unsigned();
        let rate = self.window_bytes.saturating_mul(SECOND) / window.max(1);
        self.peak = ewma(self.peak, rate, if rate > self.peak { 2 } else { 8 });
        self.window_bytes = 0;
        self.window_begin = now;
        Some((self.peak * 15) >> 4)
    }
}
