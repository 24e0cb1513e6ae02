//! Words of `pfifo`, `bfifo` and `pfifo_fast`. Source: tc-pfifo(8), tc-bfifo(8), tc-pfifo_fast(8).

use super::words::{Form, Grammar, Variant, Word};
use crate::{FifoLimit, ParamError, PfifoFastParams, PfifoFastVariant};

/// `pfifo`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pfifo(pub(crate) FifoLimit);

/// `bfifo`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bfifo(pub(crate) FifoLimit);

fn show(limit: FifoLimit) -> String {
    match limit {
        FifoLimit::Packets(n) => n.to_string(),
        FifoLimit::Bytes(n) => n.get().to_string(),
    }
}

impl Grammar for Pfifo {
    const KIND: &'static str = "pfifo";
    const SUMMARY: &'static str = "one FIFO with tail drop, limit in packets";
    const SOURCE: &'static str = "tc-pfifo(8); Linux sch_fifo.c";
    const WORDS: &'static [Word<Self>] = &[Word {
        names: &["limit"],
        form: Form::Value("packets"),
        help: "packets it holds; default is the device's txqueuelen",
        set: |p, given| {
            p.0 = FifoLimit::Packets(given.count()?);
            Ok(())
        },
        show: |p| Some(show(p.0)),
    }];

    fn defaults() -> Self {
        Self(FifoLimit::PFIFO)
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.0.validate()
    }
}

impl Grammar for Bfifo {
    const KIND: &'static str = "bfifo";
    const SUMMARY: &'static str = "one FIFO with tail drop, limit in bytes";
    const SOURCE: &'static str = "tc-bfifo(8); Linux sch_fifo.c";
    const WORDS: &'static [Word<Self>] = &[Word {
        names: &["limit"],
        form: Form::Value("bytes"),
        help: "bytes it holds; default is the device's txqueuelen times 1514",
        set: |p, given| {
            p.0 = FifoLimit::Bytes(given.bytes()?);
            Ok(())
        },
        show: |p| Some(show(p.0)),
    }];

    fn defaults() -> Self {
        Self(FifoLimit::BFIFO)
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.0.validate()
    }
}

impl Grammar for PfifoFastParams {
    const KIND: &'static str = "pfifo_fast";
    const SUMMARY: &'static str = "three FIFOs by priority band; Linux's former default";
    const SOURCE: &'static str = "tc-pfifo_fast(8); Linux sch_generic.c";
    const WORDS: &'static [Word<Self>] = &[Word {
        names: &["limit"],
        form: Form::Value("packets"),
        help: "packets a band holds (with variant linux-3.14: all bands together); tc takes it from the device's txqueuelen",
        set: |p, given| {
            p.limit = given.count()?;
            Ok(())
        },
        show: |p| Some(p.limit.to_string()),
    }];
    const VARIANTS: &'static [Variant<Self>] = &[("linux-3.14", || Self {
        variant: PfifoFastVariant::Linux314,
        ..Self::default()
    })];

    fn defaults() -> Self {
        Self::default()
    }
    fn variant(&self) -> Option<&'static str> {
        (self.variant == PfifoFastVariant::Linux314).then_some("linux-3.14")
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
}
