//! What may be set on `fq`.

use crate::fifo::MTU;
use crate::param::{LONGEST, in_range};
use crate::{Packet, ParamError};
use sojourn_units::{Duration, Rate, words};

words! {
    /// Whose `fq` it is.
    #[derive(Default)]
    pub enum FqVariant {
        /// Linux 6.1: one round for all flows; packets of the highest priority pass them.
        #[default]
        Linux61 = "linux",
        /// Linux 7.3: three bands with weights, a limit for each band, and a fast path for packets that need not wait.
        /// Source: Linux 6.8 and later have the bands.
        Linux73 = "linux-7.3",
    }
}

/// Bands of `variant linux-7.3`. Source: `FQ_BANDS`.
pub(super) const BANDS: usize = 3;
/// The least weight of a band. Source: `FQ_MIN_WEIGHT`.
const LEAST_WEIGHT: u32 = 16_384;
/// Of each priority, its band. Source: Linux `sch_default_prio2band`.
const PRIO2BAND: [u32; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
/// The weights of the bands. Source: `fq_init` of Linux 6.8 and later.
const WEIGHTS: [u32; BANDS] = [9 << 16, 3 << 16, 1 << 16];

/// Parameters of [`Fq`](super::Fq).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqParams {
    /// Packets held at most: in all, or in each band with [`FqVariant::Linux73`].
    pub limit: u32,
    /// Packets of one flow held at most.
    pub flow_limit: u32,
    /// Buckets of the table of flows, a power of two.
    pub buckets: u32,
    /// The bits of a hash that tell flows without a socket apart.
    pub orphan_mask: u32,
    /// Bytes a flow may send in a round.
    pub quantum: u32,
    /// Bytes a new flow may send in its first round.
    pub initial_quantum: u32,
    /// The rate at which a flow may send at most, a whole number of bytes a second.
    pub maxrate: Option<Rate>,
    /// A flow that sends no faster waits after each packet, and not only after a quantum.
    pub low_rate_threshold: Rate,
    /// Whether flows are paced.
    pub pacing: bool,
    /// A flow that was idle for longer gets a whole quantum again.
    pub refill_delay: Duration,
    /// By how much the kernel's timer may be late.
    pub timer_slack: Duration,
    /// A packet that leaves so much later than it could is marked.
    pub ce_threshold: Option<Duration>,
    /// How far ahead a packet's time to leave may be.
    pub horizon: Duration,
    /// Whether a packet beyond the horizon is dropped; else its time becomes the horizon.
    pub horizon_drop: bool,
    /// The band of each priority, 0 to 2; `None`: the kernel's own map. Of [`FqVariant::Linux73`] alone.
    pub priomap: Option<[u32; 16]>,
    /// The bytes that each band may send in a round; `None`: 9, 3 and 1 times 64 KiB. Of [`FqVariant::Linux73`] alone.
    pub weights: Option<[u32; BANDS]>,
    /// Whose behaviour it has.
    pub variant: FqVariant,
}

impl Default for FqParams {
    /// Linux: limit 10000, 100 packets a flow, 1024 buckets, quantum 3028, first quantum 15140, no largest rate, 40 ms,
    /// 10 us of slack, a horizon of 10 s.
    fn default() -> Self {
        Self::LINUX
    }
}

impl FqParams {
    /// The current kernel's defaults for Ethernet. Source: `fq_init`.
    pub const LINUX: Self = Self {
        limit: 10_000,
        flow_limit: 100,
        buckets: 1024,
        orphan_mask: 1023,
        quantum: 2 * MTU.get() as u32,
        initial_quantum: 10 * MTU.get() as u32,
        maxrate: None,
        low_rate_threshold: Rate::from_bps(550_000),
        pacing: true,
        refill_delay: Duration::from_millis(40),
        timer_slack: Duration::from_micros(10),
        ce_threshold: None,
        horizon: Duration::from_secs(10),
        horizon_drop: true,
        priomap: None,
        weights: None,
        variant: FqVariant::Linux61,
    };

    /// Those of Linux 7.3.
    pub const LINUX_7_3: Self = Self {
        variant: FqVariant::Linux73,
        ..Self::LINUX
    };

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        const KIND: &str = "fq";
        const MOST: u64 = u32::MAX as u64;
        in_range(KIND, "limit", self.limit.into(), 1, MOST)?;
        in_range(KIND, "flow_limit", self.flow_limit.into(), 1, MOST)?;
        in_range(KIND, "buckets", self.buckets.into(), 2, 1 << 18)?;
        if !self.buckets.is_power_of_two() {
            let buckets = self.buckets.to_string();
            return Err(ParamError::new(KIND, "buckets", buckets, "a power of two"));
        }
        let (least, most) = match self.variant {
            FqVariant::Linux61 => (1, i32::MAX as u64),
            FqVariant::Linux73 => (256, 1 << 20),
        };
        in_range(KIND, "quantum", self.quantum.into(), least, 1 << 20)?;
        in_range(KIND, "initial_quantum", self.initial_quantum.into(), 0, most)?;
        // 32 bits of bytes a second, of which the largest number means no limit.
        for (field, rate, most) in [
            ("maxrate", self.maxrate, MOST - 1),
            ("low_rate_threshold", Some(self.low_rate_threshold), MOST),
        ] {
            let Some(rate) = rate else { continue };
            if rate.as_bps() % 8 != 0 {
                let rule = "a whole number of bytes a second";
                return Err(ParamError::new(KIND, field, rate.to_string(), rule));
            }
            if !(8..=8 * most).contains(&rate.as_bps()) {
                let rule = if rate.as_bps() < 8 {
                    ">= 8".to_owned()
                } else {
                    format!("<= {}", 8 * most)
                };
                return Err(ParamError::new(KIND, field, rate.to_string(), rule));
            }
        }
        for (field, time) in [
            ("refill_delay", Some(self.refill_delay)),
            ("ce_threshold", self.ce_threshold),
            ("horizon", Some(self.horizon)),
        ] {
            let Some(time) = time else { continue };
            if time.as_nanos() % 1000 != 0 {
                let rule = "a whole number of microseconds";
                return Err(ParamError::new(KIND, field, time.to_string(), rule));
            }
            if time > LONGEST {
                return Err(ParamError::new(KIND, field, time.to_string(), format!("<= {LONGEST}")));
            }
        }
        in_range(KIND, "timer_slack", self.timer_slack.as_nanos(), 0, MOST)?;
        self.check_bands()
    }

    fn check_bands(&self) -> Result<(), ParamError> {
        let refuse = |field, numbers: &[u32], rule| {
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            Err(ParamError::new("fq", field, numbers.join(" "), rule))
        };
        if let Some(map) = &self.priomap
            && map.iter().any(|&band| band >= BANDS as u32)
        {
            return refuse("priomap", map, "16 bands, each 0 to 2");
        }
        let fits = LEAST_WEIGHT..=i32::MAX as u32;
        if let Some(weights) = &self.weights
            && !weights.iter().all(|weight| fits.contains(weight))
        {
            return refuse("weights", weights, "3 weights, each from 16384 to 2147483647");
        }
        if self.variant == FqVariant::Linux61 && (self.priomap.is_some() || self.weights.is_some()) {
            let rule = "linux-7.3 with priomap or weights";
            return Err(ParamError::new("fq", "variant", "linux", rule));
        }
        Ok(())
    }

    /// Words that only the newer kernel has make it that kernel.
    pub(super) fn follow_words(&mut self) {
        if self.priomap.is_some() || self.weights.is_some() {
            self.variant = FqVariant::Linux73;
        }
    }

    /// The most bytes a second at which a flow may send.
    pub(super) fn maxrate_bytes(&self) -> Option<u64> {
        self.maxrate.map(|rate| rate.as_bps() / 8)
    }

    /// How many bands there are.
    pub(super) const fn bands(&self) -> usize {
        match self.variant {
            FqVariant::Linux61 => 1,
            FqVariant::Linux73 => BANDS,
        }
    }

    /// How many packets it can hold: each band, and the fast path, have their own limit.
    pub(super) const fn most_packets(&self) -> u64 {
        let limit = self.limit as u64;
        match self.variant {
            FqVariant::Linux61 => limit,
            FqVariant::Linux73 => BANDS as u64 * limit + super::FAST_PATH as u64,
        }
    }

    /// The band of a packet.
    #[inline]
    pub(super) fn band(&self, packet: &impl Packet) -> u8 {
        if self.variant == FqVariant::Linux61 {
            return 0;
        }
        let priority = usize::from(packet.priority() & 15);
        self.priomap.as_ref().unwrap_or(&PRIO2BAND)[priority] as u8
    }

    /// The weight of a band.
    pub(super) fn weight(&self, band: usize) -> i64 {
        self.weights.as_ref().unwrap_or(&WEIGHTS)[band].into()
    }

    /// What tells the flows of this hash apart.
    #[inline]
    pub(super) const fn key(&self, hash: u32) -> u32 {
        hash & self.orphan_mask
    }
}
