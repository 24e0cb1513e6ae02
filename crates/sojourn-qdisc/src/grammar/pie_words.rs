//! Words of `pie`. Source: tc-pie(8).

use super::words::{Form, Grammar, Variant, Word, ecn_flag};
use crate::{ParamError, PieParams, PieVariant};

impl Grammar for PieParams {
    const KIND: &'static str = "pie";
    const SUMMARY: &'static str = "one queue, drops arrivals with a probability that a controller adapts to the delay";
    const SOURCE: &'static str = "RFC 8033; tc-pie(8); Linux sch_pie.c";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            names: &["limit"],
            form: Form::Value("packets"),
            help: "packets it holds",
            set: |p, given| {
                p.limit = given.count()?;
                Ok(())
            },
            show: |p| Some(p.limit.to_string()),
        },
        Word {
            names: &["target"],
            form: Form::Value("time"),
            help: "the delay it aims at",
            set: |p, given| {
                p.target = given.duration()?;
                Ok(())
            },
            show: |p| Some(p.target.to_string()),
        },
        Word {
            names: &["tupdate"],
            form: Form::Value("time"),
            help: "time between two updates of the probability",
            set: |p, given| {
                p.tupdate = given.duration()?;
                Ok(())
            },
            show: |p| Some(p.tupdate.to_string()),
        },
        Word {
            names: &["alpha"],
            form: Form::Value("number"),
            help: "weight of the delay's distance from target, in sixteenths, 0 to 32",
            set: |p, given| {
                p.alpha = given.count()?;
                Ok(())
            },
            show: |p| Some(p.alpha.to_string()),
        },
        Word {
            names: &["beta"],
            form: Form::Value("number"),
            help: "weight of the delay's change, in sixteenths, 0 to 32",
            set: |p, given| {
                p.beta = given.count()?;
                Ok(())
            },
            show: |p| Some(p.beta.to_string()),
        },
        Word {
            names: &["ecn", "noecn"],
            form: Form::Flag,
            help: "mark ECN-capable packets instead of dropping them, up to a probability of 10 %",
            set: |p, given| {
                p.ecn = given.name == "ecn";
                Ok(())
            },
            show: |p| Some(ecn_flag(p.ecn)),
        },
        Word {
            names: &["bytemode", "nobytemode"],
            form: Form::Flag,
            help: "scale the probability by packet size",
            set: |p, given| {
                p.bytemode = given.name == "bytemode";
                Ok(())
            },
            show: |p| p.bytemode.then(|| "bytemode".to_owned()),
        },
        Word {
            names: &["dq_rate_estimator", "no_dq_rate_estimator"],
            form: Form::Flag,
            help: "estimate the delay from the departure rate instead of time stamps",
            set: |p, given| {
                p.dq_rate_estimator = given.name == "dq_rate_estimator";
                Ok(())
            },
            show: |p| (p.dq_rate_estimator && p.variant == PieVariant::Linux).then(|| "dq_rate_estimator".to_owned()),
        },
    ];
    const VARIANTS: &'static [Variant<Self>] = &[
        ("linux-3.14", || Self::LINUX_3_14),
        ("rfc8033", || Self {
            variant: PieVariant::Rfc8033,
            ..Self::LINUX
        }),
    ];

    fn defaults() -> Self {
        Self::LINUX
    }
    fn variant(&self) -> Option<&'static str> {
        match self.variant {
            PieVariant::Linux => None,
            PieVariant::Linux314 => Some("linux-3.14"),
            PieVariant::Rfc8033 => Some("rfc8033"),
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
}
