//! `red` as `tc` knows it. Source: tc-red(8); iproute2 `q_red.c` for what follows from what.

use super::{Red, RedParams, RedVariant};
use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Packets, Real, Set, Size, SizeTo, Speed, signed};
use crate::grammar::model::{CHECKED, Model, Plain, Variant};
use crate::grammar::words::{Unmodelled, Word, words};
use crate::netlink::Form::U32;
use crate::netlink::{Layout, Named, OptionValue, Options, Row, number, push, rows, word};
use crate::{Packet, ParamError};
use sojourn_units::{Bytes, Rate};

/// `red` as written; `tc` fills in the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the four independent flags of tc-red(8)")]
pub(crate) struct RedWords {
    limit: Option<Bytes>,
    min: Option<u32>,
    max: Option<u32>,
    avpkt: Option<u32>,
    burst: Option<u32>,
    bandwidth: Option<Rate>,
    probability: Option<f64>,
    adaptive: bool,
    ecn: bool,
    harddrop: bool,
    nodrop: bool,
    variant: RedVariant,
}

fn missing(field: &str) -> ParamError {
    ParamError::new("red", field, "missing", "given (tc has no default)")
}

impl RedWords {
    /// The parameters, with `tc`'s defaults: max = 3 min, or limit / 4; min = max / 3; burst = (2 min + max) / (3
    /// avpkt).
    fn params(&self) -> Result<RedParams, ParamError> {
        let limit = self.limit.ok_or_else(|| missing("limit"))?;
        let avpkt = self.avpkt.ok_or_else(|| missing("avpkt"))?;
        if avpkt == 0 {
            return Err(ParamError::new("red", "avpkt", "0", "> 0"));
        }
        let max = match (self.max, self.min) {
            (Some(max), _) => max,
            (None, Some(min)) => min.saturating_mul(3),
            (None, None) => u32::try_from(limit.get() / 4).unwrap_or(u32::MAX),
        };
        let min = self.min.unwrap_or(max / 3);
        if self.nodrop && !self.ecn {
            return Err(ParamError::new("red", "nodrop", "given", "given with ecn"));
        }
        let params = RedParams {
            limit,
            min,
            max,
            avpkt,
            burst: self.burst.unwrap_or_else(|| RedParams::default_burst(min, max, avpkt)),
            bandwidth: self.bandwidth.unwrap_or(RedParams::BANDWIDTH),
            probability: self.probability.unwrap_or(RedParams::PROBABILITY),
            ecn: self.ecn,
            harddrop: self.harddrop,
            nodrop: self.nodrop,
            adaptive: self.adaptive,
            variant: self.variant,
        };
        params.validate()?;
        Ok(params)
    }
}

impl Model for RedWords {
    const ABOUT: Descriptor = Descriptor {
        drops: DropCounters::room(&["pdrop", "other"]),
        counters: Counters::Members(COUNTERS),
        layout: Layout::Own(options),
        ..Descriptor::of(
            "red",
            "one queue, drops arrivals by its average length; adaptive RED (ARED) with the word adaptive",
            "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001; tc-red(8); Linux sch_red.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"]: Size = limit, "bytes it holds; must be given";
        ["min"] ZeroIsUnset: SizeTo<{ u32::MAX }> = min, "average below which nothing is dropped; default max / 3";
        ["max"] ZeroIsUnset: SizeTo<{ u32::MAX }> = max, "average from which everything is dropped; default 3 min, or limit / 4";
        ["avpkt"]: SizeTo<1_048_576> = avpkt, "average packet size; must be given";
        ["burst"] ZeroIsUnset: Packets = burst, "sets how fast the average follows; default (2 min + max) / (3 avpkt)";
        ["bandwidth"] ZeroIsUnset: Speed = bandwidth, "rate assumed while idle; default 10mbit";
        ["probability"]: Real = probability,
            if |r| r.probability.is_some_and(|p| p.to_bits() != RedParams::PROBABILITY.to_bits()),
            "drop probability at max; default 0.02; from 1 on what 32 bits have of it: 1 is (max - min) / 2^n, above 0.5";
        ["adaptive", "adaptative"]: Set = adaptive, if |r| r.adaptive,
            "adapt the probability every 500 ms (ARED); with no effect in Linux 6.1, in force with variant linux-3.14";
        ["ecn"]: Flag = ecn, "mark ECN-capable packets instead of dropping them";
        ["harddrop"]: Flag = harddrop, "with ecn: drop above max";
        ["nodrop"]: Flag = nodrop, "with ecn: queue packets that are not ECN-capable";
    };
    const UNMODELLED: &'static [Unmodelled] = &[(&["qevent"], "qevent, filters on what it drops", "")];
    const VARIANTS: &'static [Variant<Self>] = &[("linux-3.14", || Self {
        variant: RedVariant::Linux314,
        ..Self::default()
    })];

    fn defaults() -> Self {
        Self::default()
    }
    fn variant(&self) -> &'static str {
        self.variant.name()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        let p = self.params()?;
        (self.min, self.max, self.burst) = (Some(p.min), Some(p.max), Some(p.burst));
        (self.bandwidth, self.probability) = (Some(p.bandwidth), Some(p.probability));
        Ok(())
    }
    fn for_kernel(&mut self) {
        self.variant = RedVariant::Linux;
    }

    /// Source: tc-red(8); Linux `red.h`; the messages that iproute2 6.1 sends. `stab` is the table of the idle decay,
    /// 256 bytes in hexadecimal; `max_p` is the probability in units of 2^-32; `plog` and `wlog` are base-2
    /// logarithms.
    fn kernel(&self) -> Result<Vec<Named>, ParamError> {
        let p = self.params()?;
        // A parameter set that was checked has a weight.
        let wlog = p.ewma_log().unwrap_or(31);
        let table = p.idle_table(wlog);
        for (field, threshold) in [("min", p.min), ("max", p.max)] {
            // Source: `red_check_params`: a threshold is kept shifted by the weight, in 32 bits.
            if threshold.checked_ilog2().unwrap_or(0) + 1 + u32::from(wlog) >= 32 {
                let rule = format!(
                    "less than 2^{} with this burst, as the kernel takes it",
                    31 - u32::from(wlog)
                );
                return Err(ParamError::new(Self::ABOUT.kind, field, threshold.to_string(), rule));
            }
        }
        let stab = table
            .shifts
            .iter()
            .fold(String::new(), |stab, shift| format!("{stab}{shift:02x}"));
        let mut all = vec![("stab".to_owned(), OptionValue::Text(stab))];
        for (name, n) in [
            ("limit_bytes", signed(p.limit.get())),
            ("min_bytes", p.min.into()),
            ("max_bytes", p.max.into()),
            ("wlog", wlog.into()),
            ("plog", p.probability_log().into()),
            ("scell_log", table.cell_log.into()),
            ("max_p", ((p.probability * 4_294_967_296.0) as u64 as u32).into()),
        ] {
            all.push((name.to_owned(), OptionValue::Number(n)));
        }
        for ((name, _), on) in FLAGS.iter().zip([p.ecn, p.harddrop, p.adaptive, p.nodrop]) {
            all.push(((*name).to_owned(), OptionValue::Flag(on)));
        }
        Ok(all)
    }
    fn footprint(&self) -> Footprint {
        self.limit.unwrap_or_default().into()
    }
}

impl Plain for RedWords {
    type Built<P: Packet> = Box<Red<P>>;

    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P> {
        let params = self.params().expect(CHECKED);
        Box::new(Red::new(params, seed).expect(CHECKED))
    }
}

/// As iproute2 6.1 sends it: flags in the attribute for them and none in the old structure, so nothing adapts.
fn options(options: &Options) -> Vec<u8> {
    let mut structure: Vec<u8> = ["limit_bytes", "min_bytes", "max_bytes"]
        .iter()
        .flat_map(|name| word(options, name))
        .collect();
    structure.extend(["wlog", "plog", "scell_log"].map(|name| number(options, name) as u8));
    structure.push(0);
    let table: Vec<u8> = match options.get("stab") {
        Some(OptionValue::Text(text)) => (0..text.len() / 2)
            .filter_map(|i| u8::from_str_radix(text.get(2 * i..2 * i + 2)?, 16).ok())
            .collect(),
        _ => Vec::new(),
    };
    let flags = FLAGS.iter().filter(|(name, _)| number(options, name) > 0);
    let bits: u32 = flags.map(|(_, bit)| bit).sum();
    let selector: u32 = FLAGS.iter().map(|(_, bit)| bit).sum();
    let mut bytes = Vec::new();
    push(&mut bytes, 1, &structure);
    push(&mut bytes, 2, &table);
    push(&mut bytes, 3, &word(options, "max_p"));
    push(&mut bytes, 4, &[bits.to_ne_bytes(), selector.to_ne_bytes()].concat());
    bytes
}

/// `TC_RED_ECN` and so on.
const FLAGS: [(&str, u32); 4] = [("ecn", 1), ("harddrop", 2), ("adaptive", 4), ("nodrop", 8)];

const COUNTERS: &[Row] = rows! {
    U32 => "early" "pdrop" "other" "marked";
};
