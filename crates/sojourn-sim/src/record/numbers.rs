//! Small computations that several parts of a record share.

use sojourn_units::{Duration, Time};

/// A rate, Mbit/s.
pub(crate) fn mbit(bytes: u64, d: Duration) -> f64 {
    bytes as f64 * 8.0 / d.as_secs_f64() / 1e6
}

/// The mean of `count` values with this sum; `None` of none.
pub(crate) fn mean(sum: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// A quantile of values in increasing order, between neighbours linearly; `None` of none.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let k = sorted.len().checked_sub(1)? as f64 * q;
    let i = k as usize;
    let next = sorted[(i + 1).min(sorted.len() - 1)];
    Some(sorted[i] + (next - sorted[i]) * (k - i as f64))
}

/// Jain's index of fairness; `None` if nobody has anything.
pub(crate) fn jain(v: &[f64]) -> Option<f64> {
    let (sum, squares) = v.iter().fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    (squares > 0.0).then(|| sum * sum / (v.len() as f64 * squares))
}

/// Seconds from `begin` to `t`, which may be before it.
pub(crate) fn seconds_from(begin: Time, t: Time) -> f64 {
    (t.as_nanos() as f64 - begin.as_nanos() as f64) / 1e9
}

/// Nanoseconds with a sign. Times of a run are a few days at most.
pub(crate) fn signed_ns(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}
