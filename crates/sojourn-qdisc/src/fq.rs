//! `fq`, which only a kernel has. Source: tc-fq(8), and the messages that iproute2 6.1 sends; ranges are those of the
//! kernel's own checks.

use crate::descriptor::{Counters, Descriptor};
use crate::grammar::kernel_words::{KernelTable, KernelWord, MOST, kernel_words};
use crate::netlink::Form::{Log, Rate32, U8, U32, U64};
use crate::netlink::{Layout, Row, rows};

pub(crate) const TABLE: KernelTable = KernelTable {
    about: Descriptor {
        one_queue: false,
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of("fq", "flow queues with pacing, for hosts", "tc-fq(8)")
    },
    words: WORDS,
    besides: |_| None,
};

const COUNTERS: &[Row] = rows! {
    U64 => "gc" "highprio" "" "throttled" "flows_plimit" "pkts_too_long" "alloc_errors" "";
    U32 => "flows" "inactive" "throttled_flows" "latency";
    U64 => "ce_mark" "horizon_drops" "horizon_caps";
};

const ATTRIBUTES: &[Row] = rows! {
    U32 => "limit" "flow_limit" "quantum_bytes" "initial_quantum_bytes" "pacing" "";
    Rate32 => "maxrate_bps";
    Log => "buckets";
    U32 => "refill_delay_us" "orphan_mask";
    Rate32 => "low_rate_threshold_bps";
    U32 => "ce_threshold_us" "timer_slack_ns" "horizon_us";
    U8 => "horizon_drop";
};

const WORDS: &[KernelWord] = kernel_words! {
    "limit": "limit" Count(1, MOST);
    "flow_limit": "flow_limit" Count(1, MOST);
    "buckets": "buckets" Power(2, 1 << 18);
    "orphan_mask": "orphan_mask" Mask(0, MOST);
    "quantum_bytes": "quantum" Bytes(1, 1 << 20);
    "initial_quantum_bytes": "initial_quantum" Bytes(0, i32::MAX as i64);
    // 32 bits of bytes a second, of which the largest number means no limit.
    "maxrate_bps": "maxrate" Rate(8, 8 * (MOST - 1));
    "low_rate_threshold_bps": "low_rate_threshold" Rate(8, 8 * MOST);
    "pacing": "pacing" Switch(true), "nopacing" Switch(false);
    "refill_delay_us": "refill_delay" Micros(0, MOST);
    "timer_slack_ns": "timer_slack" Nanos(0, MOST);
    "ce_threshold_us": "ce_threshold" Micros(0, MOST);
    "horizon_us": "horizon" Micros(0, MOST);
    "horizon_drop": "horizon_cap" Switch(false), "horizon_drop" Switch(true);
};
