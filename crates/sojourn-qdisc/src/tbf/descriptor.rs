//! `tbf` as `tc` knows it. Source: tc-tbf(8).

use super::{Tbf, TbfParams};
use crate::descriptor::Descriptor;
use crate::fifo::Fifo;
use crate::footprint::Footprint;
use crate::grammar::measures::{Size, Speed, Time};
use crate::grammar::model::{CHECKED, Model, Plain};
use crate::grammar::words::{Word, words};
use crate::netlink::{Layout, Options, number, push, word};
use crate::{Packet, ParamError};
use sojourn_units::{Bytes, Duration, Rate};

/// `TCA_TBF_PARMS`, `TCA_TBF_RATE64`, `TCA_TBF_BURST`.
const PARMS: u16 = 1;
const RATE_64: u16 = 4;
const BURST: u16 = 6;
/// `TC_LINKLAYER_ETHERNET`.
const ETHERNET: u8 = 1;

/// `tbf` as written; `limit` may follow from `latency`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TbfWords {
    rate: Option<Rate>,
    burst: Option<Bytes>,
    limit: Option<Bytes>,
    latency: Option<Duration>,
}

fn missing(field: &str) -> ParamError {
    ParamError::new("tbf", field, "missing", "given (tc has no default)")
}

impl TbfWords {
    /// The parameters.
    fn params(&self) -> Result<TbfParams, ParamError> {
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

impl Model for TbfWords {
    const ABOUT: Descriptor = Descriptor {
        shapes: true,
        layout: Layout::Own(options),
        ..Descriptor::of(
            "tbf",
            "a token bucket that shapes a FIFO to a rate",
            "tc-tbf(8); Linux sch_tbf.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["rate"]: Speed = rate, "the rate it shapes to";
        ["burst", "buffer", "maxburst"]: Size = burst, "depth of the bucket; larger packets are refused";
        ["limit"]: Size = limit, "bytes its FIFO holds";
        ["latency"]: Time = latency,
            "instead of limit: the longest a packet may wait, limit = rate * latency + burst";
    };

    fn defaults() -> Self {
        Self::default()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        (self.limit, self.latency) = (Some(self.params()?.limit), None);
        Ok(())
    }
    fn footprint(&self) -> Footprint {
        self.limit.unwrap_or_default().into()
    }
}

impl Plain for TbfWords {
    type Built<P: Packet> = Tbf<P, Fifo<P>>;

    fn build<P: Packet>(&self, _: u64) -> Self::Built<P> {
        let params = self.params().expect(CHECKED);
        Tbf::with_fifo(params).expect(CHECKED)
    }
}

/// `struct tc_tbf_qopt`, without a peak rate: of a rate with a link layer the kernel wants no table of times; and
/// what does not fit there.
fn options(options: &Options) -> Vec<u8> {
    let rate = number(options, "rate_bps") / 8;
    let mut structure = [0; 36];
    structure[1] = ETHERNET;
    structure[8..12].copy_from_slice(&u32::try_from(rate).unwrap_or(u32::MAX).to_ne_bytes());
    structure[24..28].copy_from_slice(&word(options, "limit_bytes"));
    let mut bytes = Vec::new();
    push(&mut bytes, PARMS, &structure);
    push(&mut bytes, BURST, &word(options, "burst_bytes"));
    if rate > i64::from(u32::MAX) {
        push(&mut bytes, RATE_64, &rate.to_ne_bytes());
    }
    bytes
}
