//! The counters of `tc -s -j qdisc`. Source: `cake_dump_stats`, and iproute2's `q_cake.c` for the names.

use super::Cake;
use super::shaper::{ETHERNET, Framing};
use super::tins::Tin;
use crate::Packet;

/// How many counters a tin has.
const OF_A_TIN: usize = 20;

/// The names of a tin's counters, by tin.
macro_rules! names {
    ($($tin:literal)+) => {
        [$(names!(@of $tin "sent_packets" "sent_bytes" "drops" "ack_drops" "ecn_mark" "backlog_bytes" "threshold_rate"
            "target_us" "interval_us" "way_indirect_hits" "way_misses" "way_collisions" "peak_delay_us" "avg_delay_us"
            "base_delay_us" "sparse_flows" "bulk_flows" "unresponsive_flows" "max_pkt_len" "flow_quantum")),+]
    };
    (@of $tin:literal $($name:literal)+) => { [$(concat!("tin", $tin, "_", $name)),+] };
}

static NAMES: [[&str; OF_A_TIN]; 8] = names!("0" "1" "2" "3" "4" "5" "6" "7");

impl Tin {
    /// The counters, in the order of their names.
    fn counters(&self) -> [u64; OF_A_TIN] {
        let stats = &self.stats;
        [
            stats.packets,
            stats.bytes,
            stats.drops,
            stats.ack_drops,
            stats.marks,
            self.backlog,
            self.threshold,
            self.cobalt.target / 1000,
            self.cobalt.interval / 1000,
            stats.ways.hits,
            stats.ways.misses,
            stats.ways.collisions,
            stats.peak / 1000,
            stats.average / 1000,
            stats.base / 1000,
            u64::from(self.sparse_flows + self.decaying_flows),
            u64::from(self.bulk_flows),
            u64::from(self.unresponsive_flows),
            stats.largest,
            u64::from(self.flow_quantum),
        ]
    }
}

/// The sizes that came: their least and largest, and a moving average of where the IP header begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    least: u64,
    largest: u64,
    header: u64,
}

impl Sizes {
    /// None came.
    pub(super) const NONE: Self = Self {
        least: u64::MAX,
        largest: 0,
        header: 0,
    };
    /// What the kernel says of the least size before the first packet.
    const NO_SIZE: u64 = 65_535;

    #[inline]
    pub(super) fn came(&mut self, size: u64) {
        self.least = self.least.min(size);
        self.largest = self.largest.max(size);
        self.header = super::ewma(self.header, ETHERNET << 16, 8);
    }

    /// The counters, sizes from the header on that the shaper counts from, and as it counts them.
    fn counters(&self, from_ip_header: bool, framing: &Framing) -> [(&'static str, u64); 5] {
        let bare = |size: u64| size.saturating_sub(if from_ip_header { ETHERNET } else { 0 });
        let (least, least_sent) = if self.least > self.largest {
            (Self::NO_SIZE, Self::NO_SIZE)
        } else {
            (bare(self.least), framing.of(self.least))
        };
        let (largest, largest_sent) = match self.largest {
            0 => (0, 0),
            size => (bare(size), framing.of(size)),
        };
        [
            ("avg_hdr_offset", (self.header + 0x8000) >> 16),
            ("min_network_size", least),
            ("max_network_size", largest),
            ("min_adj_size", least_sent),
            ("max_adj_size", largest_sent),
        ]
    }
}

impl<P: Packet> Cake<P> {
    /// All counters of the kind, those of tins in the order of `tc`.
    pub(super) fn counters(&self) -> Vec<(&'static str, f64)> {
        let sum = |of: fn(&Tin) -> u64| self.tins.iter().map(of).sum::<u64>();
        let mut all = vec![
            ("capacity_estimate", self.estimate.peak),
            ("memory_limit", self.memory_limit),
            ("memory_used", self.most_memory),
            ("drops", sum(|tin| tin.stats.drops)),
            ("ack_drops", sum(|tin| tin.stats.ack_drops)),
            ("ecn_mark", sum(|tin| tin.stats.marks)),
        ];
        all.extend(self.sizes.counters(self.params.from_ip_header, &self.framing));
        for (names, &tin) in NAMES.iter().zip(self.params.tins.order()) {
            all.extend(names.iter().copied().zip(self.tins[tin].counters()));
        }
        all.into_iter().map(|(name, value)| (name, value as f64)).collect()
    }
}
