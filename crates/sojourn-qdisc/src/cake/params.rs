//! The parameters of [`Cake`](super::Cake). Choices are in the order of the kernel's numbers.

use crate::ParamError;
use crate::param::{in_range, positive_time};
use sojourn_units::{Bytes, Duration, Rate, words};

words! {
    /// How packets are told apart by the code points of their IP headers. Each class is a tin.
    #[derive(Default)]
    pub enum CakeTins {
        /// Three tins: bulk, best effort, voice.
        #[default]
        Diffserv3 = "diffserv3",
        /// Four tins: bulk, best effort, video, voice.
        Diffserv4 = "diffserv4",
        /// Eight tins.
        Diffserv8 = "diffserv8",
        /// One tin.
        Besteffort = "besteffort",
        /// Eight tins by the three bits of RFC 791's precedence.
        Precedence = "precedence",
    }
}

words! {
    /// What makes a flow, and which hosts get equal shares.
    #[derive(Default)]
    pub enum CakeFlowMode {
        /// All packets are one flow.
        Flowblind = "flowblind",
        /// A flow for each source.
        Srchost = "srchost",
        /// A flow for each destination.
        Dsthost = "dsthost",
        /// A flow for each pair of source and destination.
        Hosts = "hosts",
        /// A flow for each conversation.
        Flows = "flows",
        /// A flow for each conversation; sources get equal shares.
        DualSrchost = "dual-srchost",
        /// A flow for each conversation; destinations get equal shares.
        DualDsthost = "dual-dsthost",
        /// A flow for each conversation; sources and destinations get equal shares.
        #[default]
        TripleIsolate = "triple-isolate",
    }
}

impl CakeFlowMode {
    /// Whether a source that has many bulk flows gets less for each of them.
    pub(super) const fn shares_by_source(self) -> bool {
        matches!(self, Self::DualSrchost | Self::TripleIsolate)
    }

    /// Whether a destination that has many bulk flows gets less for each of them.
    pub(super) const fn shares_by_destination(self) -> bool {
        matches!(self, Self::DualDsthost | Self::TripleIsolate)
    }
}

words! {
    /// Whether acknowledgements are dropped that a later one makes superfluous.
    #[derive(Default)]
    pub enum CakeAckFilter {
        /// None is.
        #[default]
        Off = "no-ack-filter",
        /// Of three in a queue the oldest goes.
        Conservative = "ack-filter",
        /// Of two in a queue the older goes.
        Aggressive = "ack-filter-aggressive",
    }
}

words! {
    /// What the link below makes of a packet.
    #[derive(Default)]
    pub enum CakeLinkLayer {
        /// It sends the packet as it is.
        #[default]
        Plain = "noatm",
        /// It cuts the packet into cells of ATM: 53 bytes for each 48.
        Atm = "atm",
        /// It codes the packet in 64/65 octets, as PTM of VDSL2 does: one byte more for each 64.
        Ptm = "ptm",
    }
}

/// Parameters of [`Cake`](super::Cake).
///
/// `split-gso` is not among them: a packet here is never a bundle of segments (GSO), so that nothing is to be split.
#[expect(clippy::struct_excessive_bools, reason = "each is a word of tc")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeParams {
    /// The rate of the shaper; `None` for no shaper.
    pub bandwidth: Option<Rate>,
    /// Whether the rate follows what arrives (`autorate-ingress`).
    pub autorate: bool,
    /// The round-trip time that is reckoned with: `CoDel`'s interval.
    pub rtt: Duration,
    /// The delay of a queue that may stand. `tc` sets a twentieth of `rtt`, and at least 1 us.
    pub target: Duration,
    /// The tins.
    pub tins: CakeTins,
    /// What makes a flow.
    pub flow_mode: CakeFlowMode,
    /// What becomes of superfluous acknowledgements.
    pub ack_filter: CakeAckFilter,
    /// Whether code points are set to 0.
    pub wash: bool,
    /// Whether the shaper counts dropped packets too, because they came over the bottleneck already.
    pub ingress: bool,
    /// Memory of all queued packets; `None` for four times what the bandwidth sends in `rtt`, from 4 MiB up.
    pub memory_limit: Option<Bytes>,
    /// Whether the shaper counts packets from their IP header on; else with their Ethernet header.
    pub from_ip_header: bool,
    /// Bytes that the shaper adds to each packet, -64 to 256.
    pub overhead: i16,
    /// The smallest packet that the shaper counts, at most 256 bytes. Its name in `tc` is `mpu`.
    pub least: u16,
    /// The link layer below.
    pub link_layer: CakeLinkLayer,
}

impl Default for CakeParams {
    /// The kernel's: no shaper, RTT 100 ms, target 5 ms, `diffserv3`, `triple-isolate`, no ACK filter.
    fn default() -> Self {
        Self::LINUX
    }
}

impl CakeParams {
    /// The current kernel's defaults. Source: `cake_init`.
    pub const LINUX: Self = Self {
        bandwidth: None,
        autorate: false,
        rtt: Duration::from_millis(100),
        target: Duration::from_millis(5),
        tins: CakeTins::Diffserv3,
        flow_mode: CakeFlowMode::TripleIsolate,
        ack_filter: CakeAckFilter::Off,
        wash: false,
        ingress: false,
        memory_limit: None,
        from_ip_header: false,
        overhead: 0,
        least: 0,
        link_layer: CakeLinkLayer::Plain,
    };

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        const KIND: &str = "cake";
        positive_time(KIND, "rtt", self.rtt)?;
        positive_time(KIND, "target", self.target)?;
        in_range(KIND, "mpu", u64::from(self.least), 0, 256)?;
        if !(-64..=256).contains(&self.overhead) {
            return Err(ParamError::new(
                KIND,
                "overhead",
                self.overhead.to_string(),
                "-64 to 256",
            ));
        }
        if let Some(rate) = self.bandwidth {
            in_range(KIND, "bandwidth", rate.as_bps(), 8, 1_000_000_000_000)?;
        }
        if let Some(memory) = self.memory_limit {
            in_range(KIND, "memlimit", memory.get(), 1, u64::from(u32::MAX))?;
        }
        Ok(())
    }
}
