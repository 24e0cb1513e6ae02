//! Words of `red`. Source: tc-red(8); iproute2 `q_red.c` for what follows from what.

use super::words::{Form, Grammar, Variant, Word};
use crate::{ParamError, RedParams, RedVariant};
use sojourn_units::{Bytes, Rate};

/// `red` as written; `tc` fills in the rest.
#[derive(Clone, Copy, Debug, Default)]
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

impl From<RedParams> for RedWords {
    fn from(p: RedParams) -> Self {
        Self {
            limit: Some(p.limit),
            min: Some(p.min),
            max: Some(p.max),
            avpkt: Some(p.avpkt),
            burst: Some(p.burst),
            bandwidth: Some(p.bandwidth),
            probability: Some(p.probability),
            adaptive: p.adaptive,
            ecn: p.ecn,
            harddrop: p.harddrop,
            nodrop: p.nodrop,
            variant: p.variant,
        }
    }
}

fn missing(field: &str) -> ParamError {
    ParamError::new("red", field, "missing", "given (tc has no default)")
}

impl RedWords {
    /// The parameters, with `tc`'s defaults: max = 3 min, or limit / 4; min = max / 3; burst = (2 min + max) / (3 avpkt).
    pub(crate) fn params(&self) -> Result<RedParams, ParamError> {
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

impl Grammar for RedWords {
    const KIND: &'static str = "red";
    const SUMMARY: &'static str =
        "one queue, drops arrivals by its average length; adaptive RED (ARED) with the word adaptive";
    const SOURCE: &'static str = "Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001; tc-red(8); Linux sch_red.c";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            names: &["limit"],
            form: Form::Value("bytes"),
            help: "bytes it holds; must be given",
            set: |r, given| {
                r.limit = Some(given.bytes()?);
                Ok(())
            },
            show: |r| r.limit.map(|b| b.get().to_string()),
        },
        Word {
            names: &["min"],
            form: Form::Value("bytes"),
            help: "average below which nothing is dropped; default max / 3",
            set: |r, given| {
                r.min = Some(u32::try_from(given.bytes()?.get()).map_err(|_| given.error("<= 4294967295"))?);
                Ok(())
            },
            show: |r| r.min.map(|n| n.to_string()),
        },
        Word {
            names: &["max"],
            form: Form::Value("bytes"),
            help: "average from which everything is dropped; default 3 min, or limit / 4",
            set: |r, given| {
                r.max = Some(u32::try_from(given.bytes()?.get()).map_err(|_| given.error("<= 4294967295"))?);
                Ok(())
            },
            show: |r| r.max.map(|n| n.to_string()),
        },
        Word {
            names: &["avpkt"],
            form: Form::Value("bytes"),
            help: "average packet size; must be given",
            set: |r, given| {
                r.avpkt = Some(u32::try_from(given.bytes()?.get()).map_err(|_| given.error("<= 1048576"))?);
                Ok(())
            },
            show: |r| r.avpkt.map(|n| n.to_string()),
        },
        Word {
            names: &["burst"],
            form: Form::Value("packets"),
            help: "sets how fast the average follows; default (2 min + max) / (3 avpkt)",
            set: |r, given| {
                r.burst = Some(given.count()?);
                Ok(())
            },
            show: |r| r.burst.map(|n| n.to_string()),
        },
        Word {
            names: &["bandwidth"],
            form: Form::Value("rate"),
            help: "rate assumed while idle; default 10mbit",
            set: |r, given| {
                r.bandwidth = Some(given.rate()?);
                Ok(())
            },
            show: |r| r.bandwidth.map(|b| b.to_string()),
        },
        Word {
            names: &["probability"],
            form: Form::Value("number"),
            help: "drop probability at max, 0 to 1; default 0.02",
            set: |r, given| {
                r.probability = Some(given.number()?);
                Ok(())
            },
            show: |r| {
                r.probability
                    .filter(|&p| p.to_bits() != RedParams::PROBABILITY.to_bits())
                    .map(|p| p.to_string())
            },
        },
        Word {
            names: &["adaptive", "adaptative"],
            form: Form::Flag,
            help: "adapt the probability every 500 ms (ARED); with no effect in Linux 6.1, in force with variant linux-3.14",
            set: |r, _| {
                r.adaptive = true;
                Ok(())
            },
            show: |r| r.adaptive.then(|| "adaptive".to_owned()),
        },
        Word {
            names: &["ecn"],
            form: Form::Flag,
            help: "mark ECN-capable packets instead of dropping them",
            set: |r, _| {
                r.ecn = true;
                Ok(())
            },
            show: |r| r.ecn.then(|| "ecn".to_owned()),
        },
        Word {
            names: &["harddrop"],
            form: Form::Flag,
            help: "with ecn: drop above max",
            set: |r, _| {
                r.harddrop = true;
                Ok(())
            },
            show: |r| r.harddrop.then(|| "harddrop".to_owned()),
        },
        Word {
            names: &["nodrop"],
            form: Form::Flag,
            help: "with ecn: queue packets that are not ECN-capable",
            set: |r, _| {
                r.nodrop = true;
                Ok(())
            },
            show: |r| r.nodrop.then(|| "nodrop".to_owned()),
        },
    ];

    const VARIANTS: &'static [Variant<Self>] = &[("linux-3.14", || Self {
        variant: RedVariant::Linux314,
        ..Self::default()
    })];

    fn defaults() -> Self {
        Self::default()
    }
    fn variant(&self) -> Option<&'static str> {
        (self.variant == RedVariant::Linux314).then_some("linux-3.14")
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        *self = self.params()?.into();
        Ok(())
    }
}
