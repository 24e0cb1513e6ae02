//! `cake`, which only a kernel has. Source: tc-cake(8), and the messages that iproute2 6.1 sends; ranges are those of the
//! kernel's own checks.

use crate::descriptor::{Counter, CounterForm, Counters, Descriptor, DropCounters};
use crate::grammar::kernel_words::{KernelTable, KernelWord, OptionValue, Takes, U32, means, word};
use crate::netlink::{Attribute, Form, Layout};

pub(crate) const TABLE: KernelTable = KernelTable {
    about: Descriptor {
        one_queue: false,
        drops_arrivals_only: false,
        // It does not tell why it drops; it is an AQM.
        drops: DropCounters::room(&[]),
        counters: Counters::Attributes {
            own: COUNTERS,
            list: 10,
            class: "tin",
            each: OF_A_TIN,
            summed: &["drops", "ack_drops", "ecn_mark"],
        },
        layout: Layout::Attributes(ATTRIBUTES),
        ..Descriptor::of("cake", "shaper, flow queues with Cobalt, host fairness", "tc-cake(8)")
    },
    words: WORDS,
    // Source: iproute2 `q_cake.c`: with an RTT goes a target of a twentieth of it.
    besides: |options| match options.get("rtt_us") {
        Some(OptionValue::Number(rtt)) => Some(("target_us", if *rtt < 20 { 1 } else { *rtt / 20 })),
        _ => None,
    },
};

const COUNTERS: &[Counter] = &[
    ("capacity_estimate", 2, CounterForm::U64),
    ("memory_limit", 3, CounterForm::U32),
    ("memory_used", 4, CounterForm::U32),
    ("avg_hdr_offset", 5, CounterForm::U32),
    ("min_network_size", 6, CounterForm::U32),
    ("max_network_size", 7, CounterForm::U32),
    ("min_adj_size", 8, CounterForm::U32),
    ("max_adj_size", 9, CounterForm::U32),
];

const OF_A_TIN: &[Counter] = &[
    ("sent_packets", 2, CounterForm::U32),
    ("sent_bytes", 3, CounterForm::U64),
    ("drops", 4, CounterForm::U32),
    ("ack_drops", 6, CounterForm::U32),
    ("ecn_mark", 8, CounterForm::U32),
    ("backlog_bytes", 11, CounterForm::U32),
    ("threshold_rate", 12, CounterForm::U64),
    ("target_us", 13, CounterForm::U32),
    ("interval_us", 14, CounterForm::U32),
    ("way_indirect_hits", 15, CounterForm::U32),
    ("way_misses", 16, CounterForm::U32),
    ("way_collisions", 17, CounterForm::U32),
    ("peak_delay_us", 18, CounterForm::U32),
    ("avg_delay_us", 19, CounterForm::U32),
    ("base_delay_us", 20, CounterForm::U32),
    ("sparse_flows", 21, CounterForm::U32),
    ("bulk_flows", 22, CounterForm::U32),
    ("unresponsive_flows", 23, CounterForm::U32),
    ("max_pkt_len", 24, CounterForm::U32),
    ("flow_quantum", 25, CounterForm::U32),
];

const DIFFSERV: &[&str] = &["diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence"];
const FLOW_MODES: &[&str] = &[
    "flowblind",
    "srchost",
    "dsthost",
    "hosts",
    "flows",
    "dual-srchost",
    "dual-dsthost",
    "triple-isolate",
];
const ACK_FILTERS: &[&str] = &["no-ack-filter", "ack-filter", "ack-filter-aggressive"];
const ATM: &[&str] = &["noatm", "atm", "ptm"];

const ATTRIBUTES: &[Attribute] = &[
    ("bandwidth_bps", 2, Form::Rate64),
    ("diffserv", 3, Form::Choice(DIFFSERV)),
    ("atm", 4, Form::Choice(ATM)),
    ("flow_mode", 5, Form::Choice(FLOW_MODES)),
    ("overhead", 6, Form::U32),
    ("rtt_us", 7, Form::U32),
    ("target_us", 8, Form::U32),
    ("autorate", 9, Form::U32),
    ("memlimit_bytes", 10, Form::U32),
    ("nat", 11, Form::U32),
    ("raw", 12, Form::U32),
    ("wash", 13, Form::U32),
    ("mpu", 14, Form::U32),
    ("ingress", 15, Form::U32),
    ("ack_filter", 16, Form::Choice(ACK_FILTERS)),
    ("split_gso", 17, Form::U32),
    ("fwmark", 18, Form::U32),
];

const WORDS: &[KernelWord] = &[
    word("bandwidth", "bandwidth_bps", Takes::Rate(8, 1_000_000_000_000)),
    word("unlimited", "bandwidth_bps", Takes::Is(0)),
    word("autorate-ingress", "autorate", Takes::Switch(true)),
    word("rtt", "rtt_us", Takes::Micros(1, U32)),
    means("datacentre", &["rtt", "100us"]),
    means("lan", &["rtt", "1ms"]),
    means("metro", &["rtt", "10ms"]),
    means("regional", &["rtt", "30ms"]),
    means("internet", &["rtt", "100ms"]),
    means("oceanic", &["rtt", "300ms"]),
    means("satellite", &["rtt", "1s"]),
    means("interplanetary", &["rtt", "3600s"]),
    word("besteffort", "diffserv", Takes::Choice),
    word("precedence", "diffserv", Takes::Choice),
    word("diffserv3", "diffserv", Takes::Choice),
    word("diffserv4", "diffserv", Takes::Choice),
    word("diffserv8", "diffserv", Takes::Choice),
    word("flowblind", "flow_mode", Takes::Choice),
    word("srchost", "flow_mode", Takes::Choice),
    word("dsthost", "flow_mode", Takes::Choice),
    word("hosts", "flow_mode", Takes::Choice),
    word("flows", "flow_mode", Takes::Choice),
    word("dual-srchost", "flow_mode", Takes::Choice),
    word("dual-dsthost", "flow_mode", Takes::Choice),
    word("triple-isolate", "flow_mode", Takes::Choice),
    word("nat", "nat", Takes::Switch(true)),
    word("nonat", "nat", Takes::Switch(false)),
    word("wash", "wash", Takes::Switch(true)),
    word("nowash", "wash", Takes::Switch(false)),
    word("split-gso", "split_gso", Takes::Switch(true)),
    word("no-split-gso", "split_gso", Takes::Switch(false)),
    word("ack-filter", "ack_filter", Takes::Choice),
    word("ack-filter-aggressive", "ack_filter", Takes::Choice),
    word("no-ack-filter", "ack_filter", Takes::Choice),
    word("memlimit", "memlimit_bytes", Takes::Bytes(0, U32)),
    word("fwmark", "fwmark", Takes::Mask(0, U32)),
    word("raw", "raw", Takes::Switch(true)),
    word("overhead", "overhead", Takes::Count(-64, 256)),
    word("ether-vlan", "overhead", Takes::More(4)),
    word("mpu", "mpu", Takes::Count(0, 256)),
    word("atm", "atm", Takes::Choice),
    word("ptm", "atm", Takes::Choice),
    word("noatm", "atm", Takes::Choice),
    means("conservative", &["overhead", "48", "atm"]),
    means("pppoa-vcmux", &["overhead", "10", "atm"]),
    means("pppoa-llc", &["overhead", "14", "atm"]),
    means("pppoe-vcmux", &["overhead", "32", "atm"]),
    means("pppoe-llcsnap", &["overhead", "40", "atm"]),
    means("bridged-vcmux", &["overhead", "24", "atm"]),
    means("bridged-llcsnap", &["overhead", "32", "atm"]),
    means("ipoa-vcmux", &["overhead", "8", "atm"]),
    means("ipoa-llcsnap", &["overhead", "16", "atm"]),
    means("pppoe-ptm", &["overhead", "30", "ptm"]),
    means("bridged-ptm", &["overhead", "22", "ptm"]),
    means("docsis", &["overhead", "18", "mpu", "64", "noatm"]),
    means("ethernet", &["overhead", "38", "mpu", "84", "noatm"]),
    word("ingress", "ingress", Takes::Switch(true)),
    word("egress", "ingress", Takes::Switch(false)),
];
