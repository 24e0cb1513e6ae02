//! `cake`, which only a kernel has. Source: tc-cake(8), and the messages that iproute2 6.1 sends; ranges are those of
//! the kernel's own checks.

use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::grammar::kernel_words::{KernelTable, KernelWord, MOST, kernel_words};
use crate::netlink::Form::{Choice, Rate64, U32, U64};
use crate::netlink::{Layout, OptionValue, Row, rows};

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

const COUNTERS: &[Row] = rows! {
    U64 => "" "" "capacity_estimate";
    U32 => "memory_limit" "memory_used" "avg_hdr_offset" "min_network_size" "max_network_size" "min_adj_size"
         "max_adj_size";
};

const OF_A_TIN: &[Row] = rows! {
    U32 => "" "" "sent_packets";
    U64 => "sent_bytes";
    U32 => "drops" "" "ack_drops" "" "ecn_mark" "" "" "backlog_bytes";
    U64 => "threshold_rate";
    U32 => "target_us" "interval_us" "way_indirect_hits" "way_misses" "way_collisions" "peak_delay_us"
         "avg_delay_us" "base_delay_us" "sparse_flows" "bulk_flows" "unresponsive_flows" "max_pkt_len"
         "flow_quantum";
};

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

const ATTRIBUTES: &[Row] = rows! {
    U32 => "";
    Rate64 => "bandwidth_bps";
    Choice(DIFFSERV) => "diffserv";
    Choice(ATM) => "atm";
    Choice(FLOW_MODES) => "flow_mode";
    U32 => "overhead" "rtt_us" "target_us" "autorate" "memlimit_bytes" "nat" "raw" "wash" "mpu" "ingress";
    Choice(ACK_FILTERS) => "ack_filter";
    U32 => "split_gso" "fwmark";
};

const WORDS: &[KernelWord] = kernel_words! {
    "bandwidth_bps": "bandwidth" Rate(8, 1_000_000_000_000), "unlimited" Is(0);
    "autorate": "autorate-ingress" Switch(true);
    "rtt_us": "rtt" Micros(1, MOST);
    "": "datacentre" Means(&["rtt", "100us"]), "lan" Means(&["rtt", "1ms"]), "metro" Means(&["rtt", "10ms"]),
        "regional" Means(&["rtt", "30ms"]), "internet" Means(&["rtt", "100ms"]), "oceanic" Means(&["rtt", "300ms"]),
        "satellite" Means(&["rtt", "1s"]), "interplanetary" Means(&["rtt", "3600s"]);
    "diffserv": "besteffort" Choice, "precedence" Choice, "diffserv3" Choice, "diffserv4" Choice,
        "diffserv8" Choice;
    "flow_mode": "flowblind" Choice, "srchost" Choice, "dsthost" Choice, "hosts" Choice, "flows" Choice,
        "dual-srchost" Choice, "dual-dsthost" Choice, "triple-isolate" Choice;
    "nat": "nat" Switch(true), "nonat" Switch(false);
    "wash": "wash" Switch(true), "nowash" Switch(false);
    "split_gso": "split-gso" Switch(true), "no-split-gso" Switch(false);
    "ack_filter": "ack-filter" Choice, "ack-filter-aggressive" Choice, "no-ack-filter" Choice;
    "memlimit_bytes": "memlimit" Bytes(0, MOST);
    "fwmark": "fwmark" Mask(0, MOST);
    "raw": "raw" Switch(true);
    "overhead": "overhead" Count(-64, 256), "ether-vlan" More(4);
    "mpu": "mpu" Count(0, 256);
    "atm": "atm" Choice, "ptm" Choice, "noatm" Choice;
    "": "conservative" Means(&["overhead", "48", "atm"]), "pppoa-vcmux" Means(&["overhead", "10", "atm"]),
        "pppoa-llc" Means(&["overhead", "14", "atm"]), "pppoe-vcmux" Means(&["overhead", "32", "atm"]),
        "pppoe-llcsnap" Means(&["overhead", "40", "atm"]), "bridged-vcmux" Means(&["overhead", "24", "atm"]),
        "bridged-llcsnap" Means(&["overhead", "32", "atm"]), "ipoa-vcmux" Means(&["overhead", "8", "atm"]),
        "ipoa-llcsnap" Means(&["overhead", "16", "atm"]), "pppoe-ptm" Means(&["overhead", "30", "ptm"]),
        "bridged-ptm" Means(&["overhead", "22", "ptm"]), "docsis" Means(&["overhead", "18", "mpu", "64", "noatm"]),
        "ethernet" Means(&["overhead", "38", "mpu", "84", "noatm"]);
    "ingress": "ingress" Switch(true), "egress" Switch(false);
};
