//! What BBR of version 1 and of version 3 compute in the same way: units, rates and volumes.

use crate::cc::RateSample;
use sojourn_units::{Duration, Time};

/// Rates are in segments a microsecond, times 2^24.
pub(in crate::cc) const BW_SCALE: u32 = 24;
/// Gains are in 256ths.
pub(in crate::cc) const GAIN_SCALE: u32 = 8;
pub(in crate::cc) const GAIN_UNIT: u64 = 1 << GAIN_SCALE;
/// What one send of the kernel holds, bytes (`GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`).
pub(in crate::cc) const SEND_MAX: u64 = 65_536 - 1 - 320;

/// The flow is paced so much below the estimate, percent.
const MARGIN: u64 = 1;

/// Whole microseconds since the run began.
pub(in crate::cc) const fn micros(at: Time) -> u64 {
    at.as_nanos() / 1000
}

/// The interval of a sample that is one, microseconds.
pub(in crate::cc) fn interval(sample: &RateSample) -> Option<u64> {
    sample.interval.map(Duration::as_micros).filter(|&us| us > 0)
}

/// What a rate is in segments of `mss` bytes, times a gain, less the margin. Source: `bbr_rate_bytes_per_sec`.
pub(in crate::cc) fn bytes_a_second(mss: u64, bw: u64, gain: u64) -> u64 {
    let rate = (bw * mss * gain) >> GAIN_SCALE;
    rate.saturating_mul(1_000_000 / 100 * (100 - MARGIN)) >> BW_SCALE
}

/// Bandwidth times delay, times a gain, rounded up, segments. Source: `bbr_bdp`.
pub(in crate::cc) fn bdp(bw: u64, min_rtt_us: u64, gain: u64) -> u32 {
    let scaled = bw.saturating_mul(min_rtt_us).saturating_mul(gain) >> GAIN_SCALE;
    u32::try_from(scaled.div_ceil(1 << BW_SCALE)).unwrap_or(u32::MAX / 2)
}

/// Of `in_flight` segments those that are still in the network when the next may depart, while `bw` is delivered.
/// Source: `bbr_packets_in_net_at_edt`.
pub(in crate::cc) fn in_net_at_departure(in_flight: u32, bw: u64, sample: &RateSample, now: Time) -> u32 {
    let us = sample.sender.departs.since(now).as_micros();
    let delivered = bw.saturating_mul(us) >> BW_SCALE;
    in_flight.saturating_sub(u32::try_from(delivered).unwrap_or(u32::MAX))
}
