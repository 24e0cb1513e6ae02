//! `fq_pie`, which only a kernel has. Source: tc-fq_pie(8), and the messages that iproute2 6.1 sends; ranges are those of
//! the kernel's own checks.

use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::grammar::kernel_words::{KernelTable, KernelWord, MOST, kernel_words};
use crate::netlink::Form::U32;
use crate::netlink::{Layout, Row, rows};

pub(crate) const TABLE: KernelTable = KernelTable {
    about: Descriptor {
        one_queue: false,
        // `overmemory` counts arrivals beyond the memory limit, which the kernel takes in all the same.
        drops: DropCounters::room(&["overlimit"]),
        counters: Counters::Members(COUNTERS),
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of("fq_pie", "flow queues with PIE", "tc-fq_pie(8)")
    },
    words: WORDS,
    besides: |_| None,
};

const COUNTERS: &[Row] = rows! {
    U32 => "pkts_in" "dropped" "overlimit" "overmemory" "ecn_mark" "new_flow_count" "new_flows_len"
         "old_flows_len" "memory_used";
};

const ATTRIBUTES: &[Row] = rows! {
    U32 => "limit" "flows" "target_us" "tupdate_us" "alpha" "beta" "quantum_bytes" "memory_limit_bytes"
         "ecn_prob" "ecn" "bytemode" "dq_rate_estimator";
};

const WORDS: &[KernelWord] = kernel_words! {
    "limit": "limit" Count(1, MOST);
    "flows": "flows" Count(1, 65_536);
    "target_us": "target" Micros(1, MOST);
    "tupdate_us": "tupdate" Micros(1, MOST);
    "alpha": "alpha" Count(0, 32);
    "beta": "beta" Count(0, 32);
    "quantum_bytes": "quantum" Bytes(1, 1 << 20);
    "memory_limit_bytes": "memory_limit" Bytes(1, MOST);
    "ecn_prob": "ecn_prob" Count(0, 100);
    "ecn": "ecn" Switch(true), "noecn" Switch(false);
    "bytemode": "bytemode" Switch(true), "nobytemode" Switch(false);
    "dq_rate_estimator": "dq_rate_estimator" Switch(true), "no_dq_rate_estimator" Switch(false);
};
