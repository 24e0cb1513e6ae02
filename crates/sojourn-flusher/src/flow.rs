//! One flow: what is measured of it.

use crate::adaptive::Watch;
use crate::detector::Detector;
use crate::outstanding::Outstanding;
use crate::rtt::BaseRtt;
use crate::throughput::Throughput;
use crate::{FlowKey, FlusherParams};
use sojourn_units::{Duration, Time};

/// A direction of a connection, and everything that is remembered of it.
#[derive(Debug)]
pub(crate) struct Flow {
    pub(crate) key: FlowKey,
    pub(crate) born: Time,
    pub(crate) last_seen: Time,
    pub(crate) outstanding: Outstanding,
    pub(crate) rtt: Option<Duration>,
    pub(crate) base: BaseRtt,
    /// The largest sample.
    pub(crate) max_rtt: Option<Duration>,
    /// The largest value of `rtt`.
    pub(crate) max_smoothed: Option<Duration>,
    pub(crate) throughput: Throughput,
    pub(crate) detector: Detector,
    /// The flood RTT that the next flush begins with.
    pub(crate) carried: Option<Duration>,
    pub(crate) watch: Watch,
    pub(crate) last_sample: Time,
    pub(crate) samples: u64,
    pub(crate) retransmissions: u64,
    pub(crate) flushes: u64,
}

impl Flow {
    pub(crate) fn new(key: FlowKey, now: Time, params: &FlusherParams) -> Self {
        Self {
            key,
            born: now,
            last_seen: now,
            outstanding: Outstanding::default(),
            rtt: None,
            base: BaseRtt::new(params.base, params.base_window),
            max_rtt: None,
            max_smoothed: None,
            throughput: Throughput::default(),
            detector: Detector::new(now),
            carried: None,
            watch: Watch::default(),
            last_sample: now,
            samples: 0,
            retransmissions: 0,
            flushes: 0,
        }
    }
}
