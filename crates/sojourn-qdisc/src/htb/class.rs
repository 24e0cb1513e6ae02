//! A class of `htb` as `tc` knows it. Source: tc-htb(8); iproute2 `q_htb.c`; Linux `htb_change_class`.

use super::rate::{Layer, SendTime, TICK_NS, bytes_per_second, default_burst, ticks};
use crate::ParamError;
use crate::grammar::error::SpecError;
use crate::grammar::measures::{CellSize, Measure, Plain, Short, Speed, Unit, Value, signed};
use crate::grammar::model::CHECKED;
use crate::grammar::raw_value::RawValue;
use crate::grammar::words::{Table, words};
use crate::netlink::{Named, OptionValue, Options, number, push, word};
use crate::param::in_range;
use crate::tbf::Framing;
use sojourn_units::{Bytes, Rate};

/// `TCA_HTB_PARMS`, `_RATE64`, `_CEIL64`.
const PARMS: u16 = 1;
const RATE_64: u16 = 6;
const CEIL_64: u16 = 7;
/// The largest packet that `tc` expects.
const MTU: u32 = 1600;
/// The quantum that a kernel takes from a rate is at least and at most this. Source: `htb_change_class`.
const LEAST_QUANTUM: u64 = 1000;
const MOST_QUANTUM: u64 = 200_000;

/// A class of `htb`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct HtbClass {
    rate: Option<Rate>,
    ceil: Option<Rate>,
    burst: Option<Bytes>,
    cburst: Option<Bytes>,
    /// Only for the default bursts: forgotten when these are known.
    mtu: Option<u32>,
    pub(super) prio: u32,
    quantum: Option<u32>,
    overhead: u32,
    mpu: u32,
    linklayer: Layer,
}

/// The word behind `linklayer`.
pub(crate) enum LayerWord {}

impl Unit for LayerWord {
    const UNIT: &'static str = "name";
}

impl Measure<Layer> for LayerWord {
    fn read(raw: &RawValue<'_>) -> Result<Layer, ParamError> {
        let names = [("ethernet", Layer::Ethernet), ("atm", Layer::Atm), ("adsl", Layer::Atm)];
        let found = names
            .iter()
            .find(|(name, _)| !raw.value().is_empty() && name.starts_with(raw.value()));
        found
            .map(|&(_, layer)| layer)
            .ok_or_else(|| raw.error("ethernet, atm or adsl"))
    }
    fn value(field: &Layer) -> Option<Value> {
        Some(Value::Word(match field {
            Layer::Ethernet => "ethernet",
            Layer::Atm => "atm",
        }))
    }
}

impl HtbClass {
    /// Most classes above each other. Source: `TC_HTB_MAXDEPTH`.
    pub(crate) const LEVELS: usize = 8;
    /// Priorities. Source: `TC_HTB_NUMPRIO`.
    pub(crate) const PRIORITIES: usize = 8;

    const TABLE: Table<Self> = Table {
        kind: "htb",
        words: words! {
            ["rate"] Once: Speed = rate, "what the class may send without borrowing";
            ["ceil"] ZeroIsUnset Once: Speed = ceil, "what it may send at most; default is its rate";
            ["burst", "buffer", "maxburst"] ZeroIsUnset Short: CellSize = burst, "bytes it may send at once at its rate";
            ["cburst", "cbuffer", "cmaxburst"] ZeroIsUnset Short: CellSize = cburst, "bytes it may send at once at its ceiling";
            ["mtu"] Short: Plain = mtu, "size of the largest packet, for the default of burst and cburst";
            ["prio"] Short: Plain = prio, "of classes that may send, those of the lowest number do";
            ["quantum"] ZeroIsUnset Short: Plain = quantum, "bytes it sends before the next class of its priority";
            ["overhead"] Short: Short = overhead, if |t| t.overhead != 0, "bytes that are added to each packet";
            ["mpu"] Short: Short = mpu, if |t| t.mpu != 0, "the least size that a packet counts with";
            ["linklayer"] Short: LayerWord = linklayer, if |t| t.linklayer != Layer::Ethernet,
                "ethernet, or atm for whole cells";
        },
        ignored: &[],
        unmodelled: &[],
        variants: false,
    };

    /// Reads the words behind the kind.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, SpecError> {
        let mut class = Self::default();
        Self::TABLE.read(words, &mut class)?;
        class.complete()?;
        Ok(class)
    }

    /// Writes out what is left out, and checks all.
    fn complete(&mut self) -> Result<(), ParamError> {
        let missing = || ParamError::new("htb", "rate", "missing", "given (tc has no default)");
        let rate = self.rate.ok_or_else(missing)?;
        let ceil = *self.ceil.get_or_insert(rate);
        let mtu = self.mtu.take().unwrap_or(MTU);
        let burst = *self.burst.get_or_insert_with(|| default_burst(rate, mtu));
        let cburst = *self.cburst.get_or_insert_with(|| default_burst(ceil, mtu));
        for (field, rate, depth, burst) in [("rate", rate, "burst", burst), ("ceil", ceil, "cburst", cburst)] {
            if bytes_per_second(rate) == 0 {
                return Err(ParamError::new(
                    "htb",
                    field,
                    rate.to_string(),
                    "at least 8bit, a byte a second",
                ));
            }
            in_range("htb", depth, burst.get(), 1, u64::from(u32::MAX))?;
            if ticks(rate, burst).is_none() {
                let rule = format!("at most what {rate} sends in 274 s, 32 bits of 64 ns");
                return Err(ParamError::new("htb", depth, burst.to_string(), rule));
            }
        }
        // Source: `htb_change_class` takes a priority beyond the last as the last.
        self.prio = self.prio.min(Self::PRIORITIES as u32 - 1);
        let quantum = self.quantum.map_or(1, u64::from);
        in_range("htb", "quantum", quantum, 1, i32::MAX as u64)
    }

    /// Counts packets as a size table of the discipline has them.
    pub(crate) fn with_stab(&mut self, stab: Framing) -> Result<(), ParamError> {
        if (self.overhead, self.mpu, self.linklayer) != (0, 0, Layer::Ethernet) {
            let rule = "given once, for the class or by stab of the discipline";
            return Err(ParamError::new("htb", "overhead", self.overhead.to_string(), rule));
        }
        (self.overhead, self.mpu, self.linklayer) = (stab.overhead, stab.least, stab.layer);
        in_range("htb", "overhead", self.overhead.into(), 0, u16::MAX.into())?;
        in_range("htb", "mpu", self.mpu.into(), 0, u16::MAX.into())
    }

    /// The canonical text.
    pub(crate) fn show(&self) -> String {
        Self::TABLE.show(self)
    }

    /// What a kernel is told, depths of buckets as ticks.
    pub(crate) fn kernel(&self) -> Result<Vec<Named>, ParamError> {
        let mut told = Self::TABLE.for_kernel(self)?;
        for (name, depth) in [
            ("buffer_ticks", self.rate_and_depth()),
            ("cbuffer_ticks", self.ceil_and_depth()),
        ] {
            let ticks = ticks(depth.0, depth.1).expect(CHECKED);
            told.push((name.to_owned(), OptionValue::Number(i64::from(ticks))));
        }
        Ok(told)
    }

    fn rate_and_depth(&self) -> (Rate, Bytes) {
        (self.rate.expect(CHECKED), self.burst.expect(CHECKED))
    }

    fn ceil_and_depth(&self) -> (Rate, Bytes) {
        (self.ceil.expect(CHECKED), self.cburst.expect(CHECKED))
    }

    /// The rate and the ceiling: how long packets take, and the depth of the bucket, ns.
    pub(super) fn buckets(&self) -> [(SendTime, i64); 2] {
        [self.rate_and_depth(), self.ceil_and_depth()].map(|(rate, depth)| {
            let time = SendTime::new(rate, self.overhead, self.mpu, self.linklayer);
            let ticks = ticks(rate, depth).expect(CHECKED);
            (time, i64::from(ticks) * TICK_NS)
        })
    }

    /// Its quantum, bytes. Source: `htb_change_class`.
    pub(super) fn quantum(&self, r2q: u32) -> i64 {
        let from_rate = bytes_per_second(self.rate.expect(CHECKED)) / u64::from(r2q);
        let quantum = self
            .quantum
            .map_or(from_rate.clamp(LEAST_QUANTUM, MOST_QUANTUM), u64::from);
        signed(quantum)
    }
}

/// Of a class: `struct tc_htb_opt`, and rates that do not fit there. A rate with a link layer needs no table of times.
pub(super) fn options(options: &Options) -> Vec<u8> {
    let layer: u8 = match options.get("linklayer") {
        Some(OptionValue::Text(layer)) if layer == "atm" => 2,
        _ => 1,
    };
    let mut structure = Vec::new();
    let rates = ["rate_bps", "ceil_bps"].map(|name| number(options, name) as u64 / 8);
    for rate in rates {
        // struct tc_ratespec: cell_log, linklayer, overhead, cell_align, mpu, rate.
        structure.extend([0, layer]);
        structure.extend((number(options, "overhead") as u16).to_ne_bytes());
        structure.extend([0, 0]);
        structure.extend((number(options, "mpu") as u16).to_ne_bytes());
        structure.extend(u32::try_from(rate).unwrap_or(u32::MAX).to_ne_bytes());
    }
    structure.extend(word(options, "buffer_ticks"));
    structure.extend(word(options, "cbuffer_ticks"));
    structure.extend(word(options, "quantum"));
    structure.extend([0; 4]);
    structure.extend(word(options, "prio"));
    let mut bytes = Vec::new();
    push(&mut bytes, PARMS, &structure);
    for (kind, rate) in [RATE_64, CEIL_64].into_iter().zip(rates) {
        if u32::try_from(rate).is_err() {
            push(&mut bytes, kind, &rate.to_ne_bytes());
        }
    }
    bytes
}
