//! The parameters of `dualpi2`.

use crate::ParamError;
use crate::fifo::MTU;
use crate::param::{in_range, positive_time};
use sojourn_units::{Bytes, Duration};

pub(super) const KIND: &str = "dualpi2";
/// Times that the kernel keeps in 32 bits of nanoseconds are at most so long.
const LONGEST: Duration = Duration::from_nanos(u32::MAX as u64);
/// The largest gain, 1/256 Hz. Source: `ALPHA_BETA_MAX`.
const LARGEST_GAIN: u32 = (1 << 31) - 1;

/// What a packet of the L queue must have waited longer than, or how many must be behind it, for a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepThreshold {
    /// A time in the queue.
    Time(Duration),
    /// So many packets that stay in the queue.
    Packets(u32),
}

/// Parameters of [`DualPi2`](super::DualPi2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Params {
    /// Packets in both queues together; arrivals beyond are refused.
    pub limit: u32,
    /// Memory of all queued packets; arrivals beyond are refused.
    pub memory_limit: Bytes,
    /// The delay that the controller aims at.
    pub target: Duration,
    /// Time between two updates of the probability.
    pub tupdate: Duration,
    /// Weight of the delay's distance from target, in 1/256 Hz.
    pub alpha: u32,
    /// Weight of the delay's change, in 1/256 Hz.
    pub beta: u32,
    /// Beyond which packets of the L queue are marked.
    pub step_thresh: StepThreshold,
    /// The step holds for packets that find so many in the L queue.
    pub min_qlen_step: u32,
    /// The probability of a mark in the L queue in units of the base probability: k of RFC 9332.
    pub coupling_factor: u8,
    /// In overload, drop in the L queue, too; else only mark.
    pub drop_on_overload: bool,
    /// Drop and mark by chance when packets come; else when they leave.
    pub drop_enqueue: bool,
    /// Share of the link that the classic queue gets at least while both have packets, per cent.
    pub classic_protection: u8,
    /// Put all packets that are ECN-capable into the L queue; else those with ECT(1) or CE.
    pub any_ect: bool,
}

impl Default for DualPi2Params {
    fn default() -> Self {
        Self::LINUX
    }
}

impl DualPi2Params {
    /// Defaults of Linux 7.3. Source: `dualpi2_reset_default`.
    pub const LINUX: Self = Self {
        limit: 10_000,
        memory_limit: Self::memory_for(10_000),
        target: Duration::from_millis(15),
        tupdate: Duration::from_millis(16),
        alpha: 41,
        beta: 819,
        step_thresh: StepThreshold::Time(Duration::from_millis(1)),
        min_qlen_step: 0,
        coupling_factor: 2,
        drop_on_overload: true,
        drop_enqueue: false,
        classic_protection: 10,
        any_ect: false,
    };

    /// The memory limit that a limit of packets comes with: two frames for each. Source: `get_memory_limit`.
    pub(super) const fn memory_for(limit: u32) -> Bytes {
        let bytes = limit as u64 * 2 * MTU.get();
        Bytes::new(if bytes > u32::MAX as u64 {
            u32::MAX as u64
        } else {
            bytes
        })
    }

    /// Where the round robin starts. Source: `dualpi2_calculate_c_protection`.
    pub(super) const fn initial_credit(&self) -> i32 {
        MTU.get() as i32 * (2 * self.classic_protection as i32 - 100)
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`ParamError`] for a value out of its range.
    pub fn validate(&self) -> Result<(), ParamError> {
        let most = u64::from(u32::MAX);
        in_range(KIND, "limit", self.limit.into(), 1, most)?;
        in_range(KIND, "memlimit", self.memory_limit.get(), 1, most)?;
        positive_time(KIND, "target", self.target)?;
        short_time("tupdate", self.tupdate)?;
        if self.tupdate < Duration::from_micros(1) {
            let rule = "at least 1us, the unit that tc tells the kernel this time in";
            return Err(ParamError::new(KIND, "tupdate", self.tupdate.to_string(), rule));
        }
        for (field, gain) in [("alpha", self.alpha), ("beta", self.beta)] {
            if !(1..=LARGEST_GAIN).contains(&gain) {
                let rule = "at least 1/256 (0.00390625) and less than 2^23";
                return Err(ParamError::new(KIND, field, gain_in_hz(gain).to_string(), rule));
            }
        }
        match self.step_thresh {
            StepThreshold::Time(time) => short_time("step_thresh", time)?,
            StepThreshold::Packets(packets) => in_range(KIND, "step_thresh", packets.into(), 1, most)?,
        }
        in_range(KIND, "coupling_factor", self.coupling_factor.into(), 1, 255)?;
        in_range(KIND, "classic_protection", self.classic_protection.into(), 0, 100)
    }
}

/// A gain in Hz.
pub(super) fn gain_in_hz(gain: u32) -> f64 {
    f64::from(gain) / 256.0
}

fn short_time(field: &str, value: Duration) -> Result<(), ParamError> {
    positive_time(KIND, field, value)?;
    if value > LONGEST {
        let rule = "at most 4.294967295s (32 bits of nanoseconds)";
        return Err(ParamError::new(KIND, field, value.to_string(), rule));
    }
    Ok(())
}
