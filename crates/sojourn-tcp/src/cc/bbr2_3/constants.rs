//! The numbers that BBR version 2 and version 3 share; [`super::version`] has the others.
//!
//! Where the draft and google's Linux differ, they are Linux's; docs/lab/bbr.md has the list.

use crate::cc::bbr::model::GAIN_UNIT;
use sojourn_units::ticks::Ticks;

/// What drains the queue of start-up. Deviation from the draft, which has 0.5.
pub(super) const DRAIN_GAIN: u64 = GAIN_UNIT * 1000 / 2885;
/// The gain of pacing by which the flow probes upwards.
pub(super) const UP_GAIN: u64 = GAIN_UNIT * 5 / 4;
/// A probe of version 2 ends once so much of the pipe is in flight.
pub(super) const UP_INFLIGHT: u64 = GAIN_UNIT * 5 / 4;

/// A flow keeps so many segments in flight at least.
pub(super) const LEAST_WINDOW: u32 = 4;

/// The pipe is full after so many round trips in which the rate of delivery grew by less than this.
pub(super) const FULL_ROUNDS: u32 = 3;
pub(super) const FULL_GROWTH: u64 = GAIN_UNIT * 5 / 4;
/// Start-up also ends after so many round trips with too many marks.
pub(super) const FULL_MARKS: u32 = 2;

/// More than this share lost is too much: 2 %, which is 5/256.
pub(super) const LOSS_THRESHOLD: u64 = GAIN_UNIT * 2 / 100;
/// The bounds are reduced to so much of themselves at most: 0.7, which is 180/256.
pub(super) const BETA: u64 = GAIN_UNIT - GAIN_UNIT * 30 / 100;
/// This share of the long-term bound is left to others while the flow cruises: 0.15, which is 38/256.
pub(super) const HEADROOM: u64 = GAIN_UNIT * 15 / 100;

/// The flow probes after so many round trips at the latest (draft section 5.3.3.8), less a random number below the
/// second.
pub(super) const PROBE_ROUNDS: u32 = 63;
pub(super) const PROBE_RANDOM_ROUNDS: u64 = 2;
/// And after so long, with a random time below the second, microseconds.
pub(super) const PROBE_WAIT_US: u64 = 2_000_000;
pub(super) const PROBE_RANDOM_US: u64 = 1_000_000;
/// The step by which the long-term bound grows doubles with each round trip, up to 2^30.
pub(super) const UP_ROUNDS_MAX: u32 = 30;

/// The least round trip is the least of so long (draft section 5.5.7.2).
pub(super) const MIN_RTT_WINDOW: Ticks = Ticks::from_millis(10_000);
/// It is probed for if there was none as short for so long (draft section 5.3.4), for so long, with so much in flight.
pub(super) const PROBE_RTT_INTERVAL: Ticks = Ticks::from_millis(5_000);
pub(super) const PROBE_RTT: Ticks = Ticks::from_millis(200);
pub(super) const PROBE_RTT_GAIN: u64 = GAIN_UNIT / 2;

/// Round trips for which one of the two maxima of what is acknowledged at once collects; in start-up one.
pub(super) const AGGREGATION_ROUNDS: u32 = 5;

/// A send is larger by 64 KiB, halved for each 512 us of the least round trip.
pub(super) const SEND_RTT_SHIFT: u32 = 9;
pub(super) const SEND_OF_RTT: u64 = 65_536;
/// `net.ipv4.tcp_min_tso_segs`. With version 2 it is one below this rate, bytes in a second (`bbr_min_tso_rate`).
pub(super) const SEND_LEAST: u64 = 2;
pub(super) const SEND_ONE_BELOW: u64 = 1_200_000 / 8;

/// Version 3 answers marks if the least round trip is no longer, microseconds; version 2 does unless it is told
/// otherwise.
pub(super) const ECN_MAX_RTT_US: u64 = 5_000;
/// The weight of a new share of marks, which is the whole at first.
pub(super) const ALPHA_GAIN: u64 = GAIN_UNIT / 16;
/// The short-term bound is reduced by this share of the share of marks: 1/3, which is 85/256.
pub(super) const ECN_FACTOR: u64 = GAIN_UNIT / 3;
/// More than this share marked is too much.
pub(super) const ECN_THRESHOLD: u64 = GAIN_UNIT / 2;
