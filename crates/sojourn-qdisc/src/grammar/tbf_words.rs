//! Words of `tbf`. Source: tc-tbf(8).

use super::words::{Form, Grammar, Word};
use crate::{ParamError, TbfParams};
use sojourn_units::{Bytes, Duration, Rate};

/// `tbf` as written; `limit` may follow from `latency`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TbfWords {
    rate: Option<Rate>,
    burst: Option<Bytes>,
    limit: Option<Bytes>,
    latency: Option<Duration>,
}

impl From<TbfParams> for TbfWords {
    fn from(params: TbfParams) -> Self {
        Self {
            rate: Some(params.rate),
            burst: Some(params.burst),
            limit: Some(params.limit),
            latency: None,
        }
    }
}

fn missing(field: &str) -> ParamError {
    ParamError::new("tbf", field, "missing", "given (tc has no default)")
}

impl TbfWords {
    /// The parameters.
    pub(crate) fn params(&self) -> Result<TbfParams, ParamError> {
        let rate = self.rate.ok_or_else(|| missing("rate"))?;
        let burst = self.burst.ok_or_else(|| missing("burst"))?;
        let limit = match (self.limit, self.latency) {
            (Some(limit), None) => limit,
            (None, Some(latency)) => rate.bytes_in(latency) + burst,
            (None, None) => return Err(missing("limit")),
            (Some(_), Some(latency)) => {
                return Err(ParamError::new(
                    "tbf",
                    "latency",
                    latency.to_string(),
                    "absent where limit is given",
                ));
            }
        };
        let params = TbfParams { rate, burst, limit };
        params.validate()?;
        Ok(params)
    }
}

impl Grammar for TbfWords {
    const KIND: &'static str = "tbf";
    const SUMMARY: &'static str = "a token bucket that shapes a FIFO to a rate";
    const SOURCE: &'static str = "tc-tbf(8); Linux sch_tbf.c";
    const WORDS: &'static [Word<Self>] = &[
        Word {
            names: &["rate"],
            form: Form::Value("rate"),
            help: "the rate it shapes to",
            set: |t, given| {
                t.rate = Some(given.rate()?);
                Ok(())
            },
            show: |t| t.rate.map(|r| r.to_string()),
        },
        Word {
            names: &["burst", "buffer", "maxburst"],
            form: Form::Value("bytes"),
            help: "depth of the bucket; larger packets are refused",
            set: |t, given| {
                t.burst = Some(given.bytes()?);
                Ok(())
            },
            show: |t| t.burst.map(|b| b.get().to_string()),
        },
        Word {
            names: &["limit"],
            form: Form::Value("bytes"),
            help: "bytes its FIFO holds",
            set: |t, given| {
                t.limit = Some(given.bytes()?);
                Ok(())
            },
            show: |t| t.limit.map(|b| b.get().to_string()),
        },
        Word {
            names: &["latency"],
            form: Form::Value("time"),
            help: "instead of limit: the longest a packet may wait, limit = rate * latency + burst",
            set: |t, given| {
                t.latency = Some(given.duration()?);
                Ok(())
            },
            show: |t| t.latency.map(|l| l.to_string()),
        },
    ];

    fn defaults() -> Self {
        Self::default()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        *self = self.params()?.into();
        Ok(())
    }
}
