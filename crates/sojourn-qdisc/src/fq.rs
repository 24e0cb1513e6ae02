//! `fq`, which only a kernel has. Source: tc-fq(8), and the messages that iproute2 6.1 sends; ranges are those of the
//! kernel's own checks.

use crate::descriptor::{Counter, CounterForm, Counters, Descriptor};
use crate::grammar::kernel_words::{KernelTable, KernelWord, Takes, U32, word};
use crate::netlink::{Attribute, Form, Layout};

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

const COUNTERS: &[Counter] = &[
    ("gc", 0, CounterForm::U64),
    ("highprio", 8, CounterForm::U64),
    ("throttled", 24, CounterForm::U64),
    ("flows_plimit", 32, CounterForm::U64),
    ("pkts_too_long", 40, CounterForm::U64),
    ("alloc_errors", 48, CounterForm::U64),
    ("flows", 64, CounterForm::U32),
    ("inactive", 68, CounterForm::U32),
    ("throttled_flows", 72, CounterForm::U32),
    ("latency", 76, CounterForm::U32),
    ("ce_mark", 80, CounterForm::U64),
    ("horizon_drops", 88, CounterForm::U64),
    ("horizon_caps", 96, CounterForm::U64),
];

const ATTRIBUTES: &[Attribute] = &[
    ("limit", 1, Form::U32),
    ("flow_limit", 2, Form::U32),
    ("quantum_bytes", 3, Form::U32),
    ("initial_quantum_bytes", 4, Form::U32),
    ("pacing", 5, Form::U32),
    ("maxrate_bps", 7, Form::Rate32),
    ("buckets", 8, Form::Log),
    ("refill_delay_us", 9, Form::U32),
    ("orphan_mask", 10, Form::U32),
    ("low_rate_threshold_bps", 11, Form::Rate32),
    ("ce_threshold_us", 12, Form::U32),
    ("timer_slack_ns", 13, Form::U32),
    ("horizon_us", 14, Form::U32),
    ("horizon_drop", 15, Form::U8),
];

const WORDS: &[KernelWord] = &[
    word("limit", "limit", Takes::Count(1, U32)),
    word("flow_limit", "flow_limit", Takes::Count(1, U32)),
    word("buckets", "buckets", Takes::Power(2, 1 << 18)),
    word("orphan_mask", "orphan_mask", Takes::Mask(0, U32)),
    word("quantum", "quantum_bytes", Takes::Bytes(1, 1 << 20)),
    word(
        "initial_quantum",
        "initial_quantum_bytes",
        Takes::Bytes(0, i32::MAX as i64),
    ),
    // 32 bits of bytes a second, of which the largest number means no limit.
    word("maxrate", "maxrate_bps", Takes::Rate(8, 8 * (U32 - 1))),
    word("low_rate_threshold", "low_rate_threshold_bps", Takes::Rate(8, 8 * U32)),
    word("pacing", "pacing", Takes::Switch(true)),
    word("nopacing", "pacing", Takes::Switch(false)),
    word("refill_delay", "refill_delay_us", Takes::Micros(0, U32)),
    word("timer_slack", "timer_slack_ns", Takes::Nanos(0, U32)),
    word("ce_threshold", "ce_threshold_us", Takes::Micros(0, U32)),
    word("horizon", "horizon_us", Takes::Micros(0, U32)),
    word("horizon_cap", "horizon_drop", Takes::Switch(false)),
    word("horizon_drop", "horizon_drop", Takes::Switch(true)),
];
