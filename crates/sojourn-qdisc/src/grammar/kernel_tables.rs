//! The words of the kinds that only a kernel has. Source: tc-cake(8), tc-fq(8), tc-fq_pie(8), and the messages that
//! iproute2 6.1 sends for them; ranges are those of the kernel's own checks.

use super::kernel_words::{KernelTable, KernelWord, Takes};

const U32: i64 = u32::MAX as i64;

const fn word(name: &'static str, option: &'static str, takes: Takes) -> KernelWord {
    KernelWord { name, option, takes }
}

/// A word that says what others say; it has no option of its own.
const fn means(name: &'static str, words: &'static [&'static str]) -> KernelWord {
    word(name, name, Takes::Means(words))
}

pub(super) const TABLES: &[KernelTable] = &[
    KernelTable {
        kind: "cake",
        words: CAKE,
    },
    KernelTable { kind: "fq", words: FQ },
    KernelTable {
        kind: "fq_pie",
        words: FQ_PIE,
    },
];

const CAKE: &[KernelWord] = &[
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

const FQ: &[KernelWord] = &[
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

const FQ_PIE: &[KernelWord] = &[
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
