//! What a packet costs the shaper, and how long that takes.
//!
//! Source: Linux 6.1 `sch_cake.c`: `cake_calc_overhead`, `cake_set_rate`, `cake_advance_shaper`.

use super::params::{CakeLinkLayer, CakeParams};

/// The Ethernet header, which the IP header follows, bytes.
pub(super) const ETHERNET: u64 = 14;

/// The size of a packet as the link below sends it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Framing {
    /// What is added to the size of a packet, bytes.
    more: i64,
    least: i64,
    link_layer: CakeLinkLayer,
}

impl Framing {
    pub(super) fn new(params: &CakeParams) -> Self {
        let header = if params.from_ip_header {
            ETHERNET.cast_signed()
        } else {
            0
        };
        Self {
            more: i64::from(params.overhead) - header,
            least: i64::from(params.least),
            link_layer: params.link_layer,
        }
    }

    /// The size of a packet that `tc` counts as `size` bytes.
    #[inline]
    pub(super) fn of(&self, size: u64) -> u64 {
        let size = (size.cast_signed() + self.more).max(self.least).max(0).cast_unsigned();
        match self.link_layer {
            CakeLinkLayer::Plain => size,
            CakeLinkLayer::Atm => size.div_ceil(48) * 53,
            CakeLinkLayer::Ptm => size + size.div_ceil(64),
        }
    }
}

/// How long a byte takes: `ns / 2^shift`, with 34 bits of precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    ns: u64,
    shift: u32,
}

impl Pace {
    /// No rate is below this: a wedged shaper comes loose in reasonable time. Bytes a second.
    const LEAST: u64 = 64;

    /// The pace of `rate` bytes a second; of 0, no time at all.
    pub(super) fn of(rate: u64) -> Self {
        const BITS: u32 = 34;
        if rate == 0 {
            return Self::default();
        }
        let mut ns = (1_000_000_000_u64 << BITS) / rate.max(Self::LEAST);
        let mut shift = BITS;
        while ns >> BITS != 0 {
            ns >>= 1;
            shift -= 1;
        }
        Self { ns, shift }
    }

    /// Whether there is no rate.
    #[inline]
    pub(super) fn is_unlimited(self) -> bool {
        self.ns == 0
    }

    /// How long `size` bytes take, ns. Of sizes below 1 GiB the product fits.
    #[inline]
    pub(super) fn time(self, size: u64) -> i64 {
        (size.wrapping_mul(self.ns) >> self.shift).cast_signed()
    }
}

/// When the next packet may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaper {
    pub(super) pace: Pace,
    next: i64,
    /// Where dropped packets count, packets leave all the same at two thirds of the rate.
    failsafe: i64,
}

impl Shaper {
    pub(super) fn new(pace: Pace) -> Self {
        Self {
            pace,
            next: super::LONG_AGO,
            failsafe: super::LONG_AGO,
        }
    }

    /// A packet comes to an empty discipline: time that passed unused is lost.
    #[inline]
    pub(super) fn refresh(&mut self, now: i64) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// When a packet may leave that may not leave now.
    #[inline]
    pub(super) fn holds_until(&self, now: i64) -> Option<i64> {
        let at = self.next.min(self.failsafe);
        (at > now).then_some(at)
    }

    /// A packet that counts as `size` bytes was sent, or dropped.
    #[inline]
    pub(super) fn charge(&mut self, size: u64, dropped: bool) {
        let time = self.pace.time(size);
        self.next = self.next.saturating_add(time);
        if !dropped {
            self.failsafe = self.failsafe.saturating_add(time + (time >> 1));
        }
    }
}
