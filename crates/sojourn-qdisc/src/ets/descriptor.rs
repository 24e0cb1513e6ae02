//! `ets` as `tc` knows it. Source: tc-ets(8); iproute2 `q_ets.c`; Linux `ets_qdisc_change`.

use super::Ets;
use crate::classful::{Ahead, Children, Classes, Classful, PriorityMap, Round};
use crate::descriptor::Descriptor;
use crate::drr::QUANTA;
use crate::footprint::Footprint;
use crate::grammar::measures::{Plain, Several};
use crate::grammar::model::Model;
use crate::grammar::numbers::Numbers;
use crate::grammar::words::{Word, words};
use crate::netlink::{Layout, NESTED, Options, number, numbers, push};
use crate::param::in_range;
use crate::{MTU, Packet, ParamError, Qdisc};

/// `TCA_ETS_NBANDS`, `_NSTRICT`, `_QUANTA`, `_QUANTA_BAND`, `_PRIOMAP`, `_PRIOMAP_BAND`.
const BANDS: u16 = 1;
const STRICT: u16 = 2;
const LIST: u16 = 3;
const QUANTUM: u16 = 4;
const MAP: u16 = 5;
const BAND: u16 = 6;

/// `ets` as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EtsParams {
    bands: Option<u32>,
    strict: u32,
    quanta: Numbers,
    priomap: Numbers,
}

impl EtsParams {
    /// The quantum of each band; 0 for a strict one.
    fn quanta(&self) -> impl Iterator<Item = u32> {
        let strict = (0..self.strict).map(|_| 0);
        strict.chain(self.quanta.as_slice().iter().copied())
    }
}

impl Model for EtsParams {
    const ABOUT: Descriptor = Descriptor {
        layout: Layout::OwnAttributes(options),
        ..Descriptor::classful(
            "ets",
            "strict bands, and below them bands that share by deficit round robin",
            "tc-ets(8); Linux sch_ets.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["bands"] ZeroIsUnset Once: Plain = bands, "number of bands; default is as many as are strict or have a quantum";
        ["strict"] ZeroIsUnset Once: Plain = strict, "how many of them are served in strict order, before all others";
        ["quanta"] Once: Several = quanta, if |t| !t.quanta.is_empty(),
            "bytes that each other band may send in a round; default is 1514";
        ["priomap"] Once: Several = priomap, if |t| !t.priomap.is_empty(),
            "the bands of priorities 0 to 15, for packets that no filter takes; default is the last band";
    };

    fn defaults() -> Self {
        Self {
            bands: None,
            strict: 0,
            quanta: Numbers::default(),
            priomap: Numbers::default(),
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        let quanta = self.quanta.as_slice();
        let least = u64::from(self.strict) + quanta.len() as u64;
        if self.bands.is_none() && least == 0 {
            let rule = "given, or strict or quanta must be";
            return Err(ParamError::new("ets", "bands", "missing", rule));
        }
        let bands = self.bands.map_or(least, u64::from);
        in_range("ets", "bands", bands, 1, 16)?;
        if least > bands {
            let rule = format!(">= {least}, the number of strict bands and quanta");
            return Err(ParamError::new("ets", "bands", bands.to_string(), rule));
        }
        for &quantum in quanta {
            in_range("ets", "quanta", u64::from(quantum), QUANTA.0, QUANTA.1)?;
        }
        let sharing = bands as usize - self.strict as usize;
        self.quanta = self.quanta.filled(sharing, |_| MTU.get() as u32);
        let bands = bands as u32;
        self.priomap = self.priomap.filled(Numbers::MOST, |_| bands - 1);
        PriorityMap::check("ets", &self.priomap, bands)?;
        self.bands = Some(bands);
        Ok(())
    }
    fn footprint(&self) -> Footprint {
        Footprint::default()
    }
}

impl Classful for EtsParams {
    type Built<P: Packet, Q: Qdisc<P>> = Box<Ets<P, Q>>;

    fn bands(&self) -> u32 {
        self.bands.unwrap_or_default()
    }
    fn build<P: Packet, Q: Qdisc<P>, L>(&self, classes: &Classes<L>, children: Vec<Option<Q>>) -> Self::Built<P, Q> {
        Box::new(Ets {
            bands: Children::new(classes, children),
            strict: self.strict as usize,
            round: Round::new(self.quanta()),
            map: PriorityMap::of(&self.priomap),
            ahead: Ahead::EMPTY,
        })
    }
}

/// Bytes for the numbers of bands, and lists of quanta and of bands.
fn options(options: &Options) -> Vec<u8> {
    let mut bytes = Vec::new();
    push(&mut bytes, BANDS, &[number(options, "bands") as u8]);
    push(&mut bytes, STRICT, &[number(options, "strict") as u8]);
    let mut quanta = Vec::new();
    for quantum in numbers(options, "quanta") {
        push(&mut quanta, QUANTUM, &quantum.to_ne_bytes());
    }
    if !quanta.is_empty() {
        push(&mut bytes, LIST | NESTED, &quanta);
    }
    let mut map = Vec::new();
    for band in numbers(options, "priomap") {
        push(&mut map, BAND, &[band as u8]);
    }
    push(&mut bytes, MAP | NESTED, &map);
    bytes
}
