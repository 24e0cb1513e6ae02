//! Words of `codel` and `fq_codel`. Source: tc-codel(8), tc-fq_codel(8).

use super::words::{Form, Grammar, Variant, Word, ecn_flag, show_memory};
use crate::codel::DEFAULT_LIMIT;
use crate::codel::packet_limit;
use crate::{CodelParams, CodelVariant, FqCodelParams, FqCodelVariant, ParamError};

/// `codel`: the algorithm's parameters and the queue's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodelSpec {
    pub(crate) params: CodelParams,
    pub(crate) limit: u32,
}

impl CodelSpec {
    const fn of(variant: CodelVariant) -> Self {
        Self {
            params: CodelParams {
                variant,
                ..CodelParams::DEFAULT
            },
            limit: DEFAULT_LIMIT,
        }
    }
}

impl Grammar for CodelSpec {
    const KIND: &'static str = "codel";
    const SUMMARY: &'static str = "one queue, drops from its head while the delay stays above target";
    const SOURCE: &'static str = "RFC 8289; tc-codel(8); Linux sch_codel.c; ns-2 codel.cc";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            names: &["limit"],
            form: Form::Value("packets"),
            help: "packets it holds; arrivals beyond are refused",
            set: |c, given| {
                c.limit = given.count()?;
                Ok(())
            },
            show: |c| Some(c.limit.to_string()),
        },
        Word {
            names: &["target"],
            form: Form::Value("time"),
            help: "acceptable standing delay; at least the time of one frame at the link's rate",
            set: |c, given| {
                c.params.target = given.duration()?;
                Ok(())
            },
            show: |c| Some(c.params.target.to_string()),
        },
        Word {
            names: &["interval"],
            form: Form::Value("time"),
            help: "how long the delay must stay above target before the first drop; about the largest common RTT",
            set: |c, given| {
                c.params.interval = given.duration()?;
                Ok(())
            },
            show: |c| Some(c.params.interval.to_string()),
        },
        Word {
            names: &["ce_threshold"],
            form: Form::Value("time"),
            help: "mark every ECN-capable packet that was queued longer",
            set: |c, given| {
                c.params.ce_threshold = Some(given.duration()?);
                Ok(())
            },
            show: |c| c.params.ce_threshold.map(|t| t.to_string()),
        },
        Word {
            names: &["ecn", "noecn"],
            form: Form::Flag,
            help: "mark ECN-capable packets instead of dropping them",
            set: |c, given| {
                c.params.ecn = given.name == "ecn";
                Ok(())
            },
            show: |c| Some(ecn_flag(c.params.ecn)),
        },
    ];
    const VARIANTS: &'static [Variant<Self>] = &[
        ("linux-3.14", || Self::of(CodelVariant::Linux314)),
        ("rfc8289", || Self::of(CodelVariant::Rfc8289)),
        ("ns2", || Self::of(CodelVariant::Ns2)),
    ];

    fn defaults() -> Self {
        Self::of(CodelVariant::Linux)
    }
    fn variant(&self) -> Option<&'static str> {
        match self.params.variant {
            CodelVariant::Linux => None,
            CodelVariant::Linux314 => Some("linux-3.14"),
            CodelVariant::Rfc8289 => Some("rfc8289"),
            CodelVariant::Ns2 => Some("ns2"),
        }
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        packet_limit(Self::KIND, self.limit)?;
        self.params.validate(Self::KIND)
    }
}

impl Grammar for FqCodelParams {
    const KIND: &'static str = "fq_codel";
    const SUMMARY: &'static str = "a queue per flow served round robin, new flows first, each under CoDel";
    const SOURCE: &'static str = "RFC 8290; tc-fq_codel(8); Linux sch_fq_codel.c; ns-2 sfqcodel.cc";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            names: &["limit"],
            form: Form::Value("packets"),
            help: "packets in all queues together; beyond it the fattest queue is dropped from (ns2: the one with the most packets)",
            set: |c, given| {
                c.limit = given.count()?;
                Ok(())
            },
            show: |c| Some(c.limit.to_string()),
        },
        Word {
            names: &["flows"],
            form: Form::Value("number"),
            help: "number of queues",
            set: |c, given| {
                c.flows = given.count()?;
                Ok(())
            },
            show: |c| Some(c.flows.to_string()),
        },
        Word {
            names: &["quantum"],
            form: Form::Value("bytes"),
            help: "bytes a queue may send per round (ns2: 0, its default, for one packet of any size)",
            set: |c, given| {
                c.quantum = u32::try_from(given.bytes()?.get()).map_err(|_| given.error("<= 1048576"))?;
                Ok(())
            },
            show: |c| Some(c.quantum.to_string()),
        },
        Word {
            names: &["target"],
            form: Form::Value("time"),
            help: "acceptable standing delay of a queue",
            set: |c, given| {
                c.codel.target = given.duration()?;
                Ok(())
            },
            show: |c| Some(c.codel.target.to_string()),
        },
        Word {
            names: &["interval"],
            form: Form::Value("time"),
            help: "how long the delay must stay above target before the first drop; about the largest common RTT",
            set: |c, given| {
                c.codel.interval = given.duration()?;
                Ok(())
            },
            show: |c| Some(c.codel.interval.to_string()),
        },
        Word {
            names: &["ce_threshold"],
            form: Form::Value("time"),
            help: "mark every ECN-capable packet that was queued longer",
            set: |c, given| {
                c.codel.ce_threshold = Some(given.duration()?);
                Ok(())
            },
            show: |c| c.codel.ce_threshold.map(|t| t.to_string()),
        },
        Word {
            names: &["memory_limit"],
            form: Form::Value("bytes"),
            help: "memory of all queued packets, counted as the kernel allocates it",
            set: |c, given| {
                c.memory_limit = Some(given.bytes()?);
                Ok(())
            },
            show: |c| c.memory_limit.map(show_memory),
        },
        Word {
            names: &["ecn", "noecn"],
            form: Form::Flag,
            help: "mark ECN-capable packets instead of dropping them",
            set: |c, given| {
                c.codel.ecn = given.name == "ecn";
                Ok(())
            },
            show: |c| Some(ecn_flag(c.codel.ecn)),
        },
        Word {
            names: &["drop_batch"],
            form: Form::Value("packets"),
            help: "most packets dropped at one overflow",
            set: |c, given| {
                c.drop_batch = given.count()?;
                Ok(())
            },
            show: |c| (c.variant == FqCodelVariant::Linux).then(|| c.drop_batch.to_string()),
        },
    ];
    const VARIANTS: &'static [Variant<Self>] = &[("linux-3.14", || Self::LINUX_3_14), ("ns2", || Self::NS2)];

    fn defaults() -> Self {
        Self::LINUX
    }
    fn variant(&self) -> Option<&'static str> {
        (self.variant != FqCodelVariant::Linux).then(|| self.variant.name())
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
}
