//! `fq_pie`, which only a kernel has. Source: tc-fq_pie(8), and the messages that iproute2 6.1 sends; ranges are those of
//! the kernel's own checks.

use crate::descriptor::{Counter, CounterForm, Counters, Descriptor, DropCounters};
use crate::grammar::kernel_words::{KernelTable, KernelWord, Takes, U32, word};
use crate::netlink::{Attribute, Form, Layout};

pub(crate) const TABLE: KernelTable = KernelTable {
    about: Descriptor {
        one_queue: false,
        drops: DropCounters {
            memory: Some("overmemory"),
            ..DropCounters::room(&["overlimit"])
        },
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of("fq_pie", "flow queues with PIE", "tc-fq_pie(8)")
    },
    words: WORDS,
    besides: |_| None,
};

const COUNTERS: &[Counter] = &[
    ("pkts_in", 0, CounterForm::U32),
    ("dropped", 4, CounterForm::U32),
    ("overlimit", 8, CounterForm::U32),
    ("overmemory", 12, CounterForm::U32),
    ("ecn_mark", 16, CounterForm::U32),
    ("new_flow_count", 20, CounterForm::U32),
    ("new_flows_len", 24, CounterForm::U32),
    ("old_flows_len", 28, CounterForm::U32),
    ("memory_used", 32, CounterForm::U32),
];

const ATTRIBUTES: &[Attribute] = &[
    ("limit", 1, Form::U32),
    ("flows", 2, Form::U32),
    ("target_us", 3, Form::U32),
    ("tupdate_us", 4, Form::U32),
    ("alpha", 5, Form::U32),
    ("beta", 6, Form::U32),
    ("quantum_bytes", 7, Form::U32),
    ("memory_limit_bytes", 8, Form::U32),
    ("ecn_prob", 9, Form::U32),
    ("ecn", 10, Form::U32),
    ("bytemode", 11, Form::U32),
    ("dq_rate_estimator", 12, Form::U32),
];

const WORDS: &[KernelWord] = &[
    word("limit", "limit", Takes::Count(1, U32)),
    word("flows", "flows", Takes::Count(1, 65_536)),
    word("target", "target_us", Takes::Micros(1, U32)),
    word("tupdate", "tupdate_us", Takes::Micros(1, U32)),
    word("alpha", "alpha", Takes::Count(0, 32)),
    word("beta", "beta", Takes::Count(0, 32)),
    word("quantum", "quantum_bytes", Takes::Bytes(1, 1 << 20)),
    word("memory_limit", "memory_limit_bytes", Takes::Bytes(1, U32)),
    word("ecn_prob", "ecn_prob", Takes::Count(0, 100)),
    word("ecn", "ecn", Takes::Switch(true)),
    word("noecn", "ecn", Takes::Switch(false)),
    word("bytemode", "bytemode", Takes::Switch(true)),
    word("nobytemode", "bytemode", Takes::Switch(false)),
    word("dq_rate_estimator", "dq_rate_estimator", Takes::Switch(true)),
    word("no_dq_rate_estimator", "dq_rate_estimator", Takes::Switch(false)),
];
