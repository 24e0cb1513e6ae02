//! `pfifo`, `bfifo` and `pfifo_fast` as `tc` knows them. Source: tc-pfifo(8), tc-bfifo(8), tc-pfifo_fast(8).

use super::{Fifo, FifoLimit, PfifoFast, PfifoFastParams, PfifoFastVariant};
use crate::descriptor::Descriptor;
use crate::footprint::Footprint;
use crate::grammar::measures::{Packets, Size, SizedPackets};
use crate::grammar::model::{CHECKED, Model, Plain, Variant};
use crate::grammar::words::{Word, words};
use crate::netlink::Layout;
use crate::{Packet, ParamError};
use sojourn_units::Bytes;

/// `pfifo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pfifo {
    limit: u32,
}

/// `bfifo`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bfifo {
    limit: Bytes,
}

impl Model for Pfifo {
    const ABOUT: Descriptor = Descriptor {
        layout: Layout::Words(&["limit"], 4),
        ..Descriptor::of(
            "pfifo",
            "one FIFO with tail drop, limit in packets",
            "tc-pfifo(8); Linux sch_fifo.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"]: SizedPackets = limit, "packets it holds; default is the device's txqueuelen";
    };

    fn defaults() -> Self {
        Self {
            limit: crate::TX_QUEUE_LEN,
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        FifoLimit::Packets(self.limit).validate()
    }
    fn footprint(&self) -> Footprint {
        self.limit.into()
    }
}

impl Plain for Pfifo {
    type Built<P: Packet> = Fifo<P>;

    fn build<P: Packet>(&self, _: u64) -> Self::Built<P> {
        Fifo::new(FifoLimit::Packets(self.limit)).expect(CHECKED)
    }
}

impl Model for Bfifo {
    const ABOUT: Descriptor = Descriptor {
        layout: Layout::Words(&["limit_bytes"], 4),
        ..Descriptor::of(
            "bfifo",
            "one FIFO with tail drop, limit in bytes",
            "tc-bfifo(8); Linux sch_fifo.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"]: Size = limit, "bytes it holds; default is the device's txqueuelen times 1514";
    };

    fn defaults() -> Self {
        Self {
            limit: Bytes::new(u64::from(crate::TX_QUEUE_LEN) * crate::MTU.get()),
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        FifoLimit::Bytes(self.limit).validate()
    }
    fn footprint(&self) -> Footprint {
        self.limit.into()
    }
}

impl Plain for Bfifo {
    type Built<P: Packet> = Fifo<P>;

    fn build<P: Packet>(&self, _: u64) -> Self::Built<P> {
        Fifo::new(FifoLimit::Bytes(self.limit)).expect(CHECKED)
    }
}

impl Model for PfifoFastParams {
    const ABOUT: Descriptor = Descriptor {
        one_queue: false,
        reads_identity: true,
        ..Descriptor::of(
            "pfifo_fast",
            "three FIFOs by priority band; Linux's former default",
            "tc-pfifo_fast(8); Linux sch_generic.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"]: Packets = limit,
            "packets a band holds (with variant linux-3.14: all bands together); tc takes it from the device's txqueuelen";
    };
    const VARIANTS: &'static [Variant<Self>] = &[("linux-3.14", || Self {
        variant: PfifoFastVariant::Linux314,
        ..Self::default()
    })];

    fn defaults() -> Self {
        Self::default()
    }
    fn variant(&self) -> &'static str {
        self.variant.name()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
    fn for_kernel(&mut self) {
        self.variant = PfifoFastVariant::Linux;
    }
    fn footprint(&self) -> Footprint {
        Footprint::new(3 * u64::from(self.limit), 3, 0)
    }
}

impl Plain for PfifoFastParams {
    type Built<P: Packet> = PfifoFast<P>;

    fn build<P: Packet>(&self, _: u64) -> Self::Built<P> {
        PfifoFast::new(*self).expect(CHECKED)
    }
}
