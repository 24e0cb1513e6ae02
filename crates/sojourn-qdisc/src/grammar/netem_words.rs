//! Words of `netem`. Source: tc-netem(8).

use super::words::{Form, Grammar, Word};
use crate::{NetemParams, ParamError};

impl Grammar for NetemParams {
    const KIND: &'static str = "netem";
    const SUMMARY: &'static str = "a constant delay; its limit counts the packets that it delays";
    const SOURCE: &'static str = "tc-netem(8); Linux sch_netem.c; seed 003 section 5.2.1";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            names: &["limit"],
            form: Form::Value("packets"),
            help: "packets it holds, those being delayed among them",
            set: |p, given| {
                p.limit = given.count()?;
                Ok(())
            },
            show: |p| Some(p.limit.to_string()),
        },
        Word {
            names: &["delay", "latency"],
            form: Form::Value("time"),
            help: "how long each packet is held at least",
            set: |p, given| {
                p.delay = given.duration()?;
                Ok(())
            },
            show: |p| Some(p.delay.to_string()),
        },
    ];

    fn defaults() -> Self {
        Self::LINUX
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        self.validate()
    }
}
