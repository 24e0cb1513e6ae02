//! `cake` as `tc` knows it. Source: tc-cake(8), and the messages that iproute2 6.1 sends; ranges are those of the
//! kernel's own checks.
//!
//! The words of `tc` are one table for the simulator and for kernels. The canonical text has those that were words, and
//! a kernel is told these: it has defaults of its own for the others.

use super::params::{CakeAckFilter, CakeFlowMode, CakeLinkLayer, CakeParams, CakeTins};
use super::{Cake, flows};
use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::catalogue::ParameterInfo;
use crate::grammar::error::SpecError;
use crate::grammar::kernel_words::{KernelOnly, KernelOption, KernelTable, MOST, kernel_options};
use crate::grammar::model::{CHECKED, Model, Plain};
use crate::grammar::words::Word;
use crate::netlink::Form::{Choice, Rate64, U32, U64};
use crate::netlink::{Layout, Named, OptionValue, Options, Row, number, rows};
use crate::slab::memory_of;
use crate::{Packet, ParamError};
use sojourn_units::{Bytes, Duration, Rate};

pub(crate) const TABLE: KernelTable = KernelTable {
    about: Descriptor {
        one_queue: false,
        shapes: true,
        reads_identity: true,
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
        ..Descriptor::of(
            "cake",
            "a shaper, tins by Diffserv, and queues for flows under COBALT with equal shares for hosts",
            "tc-cake(8); Linux sch_cake.c; arXiv 1804.07617",
        )
    },
    options: OPTIONS,
    takes_back: &[
        ("bandwidth", &["autorate"]),
        ("unlimited", &["autorate"]),
        ("raw", &["overhead", "atm"]),
    ],
    once: RTTS,
    // Source: iproute2 `q_cake.c`: with an RTT goes a target of a twentieth of it.
    besides: |options| match options.get("rtt_us") {
        Some(OptionValue::Number(rtt)) => Some(("target_us", if *rtt < 20 { 1 } else { *rtt / 20 })),
        _ => None,
    },
};

/// The options that need what only a kernel has.
const OF_KERNELS: &[(&str, &str, &str)] = &[
    ("nat", "cake.nat", "connection tracking"),
    ("fwmark", "cake.fwmark", "firewall marks"),
];

/// `cake` as written, and what it comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CakeSpec {
    words: KernelOnly,
    pub(super) params: CakeParams,
}

/// The word of an option; empty if there is none.
fn word<'a>(options: &'a Options, name: &str) -> &'a str {
    match options.get(name) {
        Some(OptionValue::Text(text)) => text,
        _ => "",
    }
}

impl CakeParams {
    /// What the options say. What they do not say is the kernel's default.
    fn of(options: &Options) -> Self {
        let positive = |name| u64::try_from(number(options, name)).ok().filter(|&n| n > 0);
        let micros = |name, otherwise| positive(name).map_or(otherwise, Duration::from_micros);
        let is_on = |name| number(options, name) != 0;
        Self {
            bandwidth: positive("bandwidth_bps").map(Rate::from_bps),
            autorate: is_on("autorate"),
            rtt: micros("rtt_us", Self::LINUX.rtt),
            target: micros("target_us", Self::LINUX.target),
            tins: CakeTins::from_name(word(options, "diffserv")).unwrap_or_default(),
            flow_mode: CakeFlowMode::from_name(word(options, "flow_mode")).unwrap_or_default(),
            ack_filter: CakeAckFilter::from_name(word(options, "ack_filter")).unwrap_or_default(),
            wash: is_on("wash"),
            ingress: is_on("ingress"),
            memory_limit: positive("memlimit_bytes").map(Bytes::new),
            from_ip_header: options.contains_key("overhead") && !is_on("raw"),
            overhead: number(options, "overhead") as i16,
            least: number(options, "mpu") as u16,
            link_layer: CakeLinkLayer::from_name(word(options, "atm")).unwrap_or_default(),
        }
    }
}

impl CakeSpec {
    /// What was words, if the simulator has it all.
    fn of(words: KernelOnly) -> Result<Self, SpecError> {
        let options = words.options();
        for &(option, field, needs) in OF_KERNELS {
            if number(&options, option) != 0 {
                return Err(SpecError::WordOfKernel { field, needs });
            }
        }
        let params = CakeParams::of(&options);
        params.validate()?;
        Ok(Self { words, params })
    }
}

impl Model for CakeSpec {
    const ABOUT: Descriptor = TABLE.about;
    /// None: [`TABLE`] has them.
    const WORDS: &'static [Word<Self>] = &[];

    fn defaults() -> Self {
        Self::parse(&[]).expect("no word is wrong where there is none")
    }
    fn parse(words: &[&str]) -> Result<Self, SpecError> {
        KernelOnly::parse(&TABLE, words).and_then(Self::of)
    }
    fn show(&self) -> String {
        self.words.to_string()
    }
    fn parameters() -> Vec<ParameterInfo> {
        TABLE.parameters()
    }
    fn kernel(&self) -> Result<Vec<Named>, ParamError> {
        Ok(self.words.options().into_iter().collect())
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.params.validate()
    }
    fn footprint(&self) -> Footprint {
        let rate = self.params.bandwidth.map_or(0, |rate| rate.as_bps() / 8);
        // A discipline that sets its rate itself may have the memory of any.
        let memory = self.params.memory(if self.params.autorate { 0 } else { rate });
        let queues = (self.params.tins.count() * flows::QUEUES) as u64;
        Footprint::new(memory / memory_of(Bytes::new(60)), queues, 0)
    }
    fn queue(&self, _: u32) -> Option<u32> {
        // It depends on which queues of the set are free.
        None
    }
    fn reads_acks(&self) -> bool {
        self.params.ack_filter != CakeAckFilter::Off
    }
}

impl Plain for CakeSpec {
    type Built<P: Packet> = Box<Cake<P>>;

    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P> {
        Box::new(Cake::new(self.params, seed).expect(CHECKED))
    }
}

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

const ATTRIBUTES: &[Row] = rows! {
    U32 => "";
    Rate64 => "bandwidth_bps";
    Choice(&CakeTins::NAMES) => "diffserv";
    Choice(&CakeLinkLayer::NAMES) => "atm";
    Choice(&CakeFlowMode::NAMES) => "flow_mode";
    U32 => "overhead" "rtt_us" "target_us" "autorate" "memlimit_bytes" "nat" "raw" "wash" "mpu" "ingress";
    Choice(&CakeAckFilter::NAMES) => "ack_filter";
    U32 => "split_gso" "fwmark";
};

/// Presets of a round-trip time, of which `tc` takes one.
const RTTS: &[&str] = &[
    "datacentre",
    "lan",
    "metro",
    "regional",
    "internet",
    "oceanic",
    "satellite",
    "interplanetary",
];

const OPTIONS: &[KernelOption] = kernel_options! {
    "bandwidth_bps" ("", "the rate of the shaper; without it, or with unlimited, there is none"):
        "bandwidth" Rate, "unlimited" Is(0);
    "autorate" ("", "set the rate from what arrives, for a link whose rate changes"):
        "autorate-ingress" Switch(true);
    "rtt_us" ("100ms", "the round-trip time to reckon with; the target is a twentieth of it"):
        "rtt" Micros(1, MOST);
    "": "datacentre" Means(&["rtt", "100us"]), "lan" Means(&["rtt", "1ms"]), "metro" Means(&["rtt", "10ms"]),
        "regional" Means(&["rtt", "30ms"]), "internet" Means(&["rtt", "100ms"]), "oceanic" Means(&["rtt", "300ms"]),
        "satellite" Means(&["rtt", "1s"]), "interplanetary" Means(&["rtt", "1000s"]);
    "diffserv" ("diffserv3", "which tins there are, and which code points lead to them"):
        "besteffort" Choice, "precedence" Choice, "diffserv3" Choice, "diffserv4" Choice,
        "diffserv8" Choice;
    "": "diffserv" Means(&["diffserv4"]);
    "flow_mode" ("triple-isolate", "what makes a flow, and which hosts get equal shares"):
        "flowblind" Choice, "srchost" Choice, "dsthost" Choice, "hosts" Choice, "flows" Choice,
        "dual-srchost" Choice, "dual-dsthost" Choice, "triple-isolate" Choice;
    "nat" ("nonat", "look at addresses before translation (on kernels only)"):
        "nat" Switch(true), "nonat" Switch(false);
    "wash" ("nowash", "set the code point of every packet to 0"):
        "wash" Switch(true), "nowash" Switch(false);
    "split_gso" ("split-gso", "split bundles of segments; the simulator has none"):
        "split-gso" Switch(true), "no-split-gso" Switch(false);
    "ack_filter" ("no-ack-filter", "drop acknowledgements that later ones make superfluous"):
        "ack-filter" Choice, "ack-filter-aggressive" Choice, "no-ack-filter" Choice;
    "memlimit_bytes" ("0", "memory of all packets; 0 for four times what the bandwidth sends in rtt, from 4 MiB up"):
        "memlimit" Bytes(0, MOST);
    "fwmark" ("0", "bits of the firewall mark that choose the tin (on kernels only)"):
        "fwmark" Mask;
    "raw" ("", "count packets with their Ethernet header, as without overhead"):
        "raw" Switch(true);
    "overhead" ("0", "bytes that the link adds to a packet from its IP header on"):
        "overhead" Count(-64, 256);
    "": "ether-vlan" Means(&["+overhead", "4"]);
    "mpu" ("0", "the smallest packet that the link sends, bytes"):
        "mpu" Count(0, 256);
    "atm" ("noatm", "what the link makes of a packet: cells of ATM, or the coding of PTM"):
        "atm" Choice, "ptm" Choice, "noatm" Choice;
    "": "conservative" Means(&["overhead", "48", "atm"]), "pppoa-vcmux" Means(&["+overhead", "10", "atm"]),
        "pppoa-llc" Means(&["+overhead", "14", "atm"]), "pppoe-vcmux" Means(&["+overhead", "32", "atm"]),
        "pppoe-llcsnap" Means(&["+overhead", "40", "atm"]), "bridged-vcmux" Means(&["+overhead", "24", "atm"]),
        "bridged-llcsnap" Means(&["+overhead", "32", "atm"]), "ipoa-vcmux" Means(&["+overhead", "8", "atm"]),
        "ipoa-llcsnap" Means(&["+overhead", "16", "atm"]), "pppoe-ptm" Means(&["+overhead", "30", "ptm"]),
        "bridged-ptm" Means(&["+overhead", "22", "ptm"]),
        "docsis" Means(&["+overhead", "18", "mpu", "64", "noatm"]),
        "ethernet" Means(&["+overhead", "38", "mpu", "84"]), "via-ethernet" Means(&[]);
    "ingress" ("egress", "count dropped packets too: the bottleneck is before this place"):
        "ingress" Switch(true), "egress" Switch(false);
};
