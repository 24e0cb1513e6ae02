//! Words of `sfq`. Source: tc-sfq(8).

use super::words::{Form, Grammar, Word};
use crate::{ParamError, SfqParams};

impl Grammar for SfqParams {
    const KIND: &'static str = "sfq";
    const SUMMARY: &'static str = "a queue per flow served round robin; drops from the longest";
    const SOURCE: &'static str = "McKenney 1990; tc-sfq(8); Linux sch_sfq.c";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            names: &["limit"],
            form: Form::Value("packets"),
            help: "packets in all queues together",
            set: |s, given| {
                s.limit = given.count()?;
                Ok(())
            },
            show: |s| Some(s.limit.to_string()),
        },
        Word {
            names: &["depth"],
            form: Form::Value("packets"),
            help: "packets in one queue, at most 127",
            set: |s, given| {
                s.depth = given.count()?;
                Ok(())
            },
            show: |s| Some(s.depth.to_string()),
        },
        Word {
            names: &["flows"],
            form: Form::Value("number"),
            help: "queues that can be active at once",
            set: |s, given| {
                s.flows = given.count()?;
                Ok(())
            },
            show: |s| Some(s.flows.to_string()),
        },
        Word {
            names: &["divisor"],
            form: Form::Value("number"),
            help: "buckets that a hash can fall into, a power of two",
            set: |s, given| {
                s.divisor = given.count()?;
                Ok(())
            },
            show: |s| Some(s.divisor.to_string()),
        },
        Word {
            names: &["quantum"],
            form: Form::Value("bytes"),
            help: "bytes a queue may send per round",
            set: |s, given| {
                s.quantum = u32::try_from(given.bytes()?.get()).map_err(|_| given.error("<= 262136"))?;
                Ok(())
            },
            show: |s| Some(s.quantum.to_string()),
        },
        Word {
            names: &["perturb"],
            form: Form::Value("seconds"),
            help: "seconds after which flows are spread anew; 0 for never",
            set: |s, given| {
                s.perturb = given.count()?;
                Ok(())
            },
            show: |s| (s.perturb > 0).then(|| s.perturb.to_string()),
        },
        Word {
            names: &["headdrop"],
            form: Form::Flag,
            help: "drop from the head of a queue instead of its tail",
            set: |s, _| {
                s.headdrop = true;
                Ok(())
            },
            show: |s| s.headdrop.then(|| "headdrop".to_owned()),
        },
    ];

    fn defaults() -> Self {
        Self::default()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
}
