//! `tbf` as `tc` knows it. Source: tc-tbf(8).

use super::{Framing, Tbf, TbfParams};
use crate::classful::{Classes, Classful};
use crate::descriptor::Descriptor;
use crate::fifo::Fifo;
use crate::footprint::Footprint;
use crate::grammar::measures::{CellSize, Short, Size, SizeTo, Speed, Time, Value};
use crate::grammar::model::{CHECKED, Either, Model};
use crate::grammar::words::{Word, words};
use crate::htb::{Layer, LayerWord, fits_in_ticks};
use crate::netlink::{Layout, OptionValue, Options, number, push, word};
use crate::param::in_range;
use crate::{Packet, ParamError, Qdisc};
use sojourn_units::{Bytes, Duration, Rate};

/// `TCA_TBF_PARMS`, `TCA_TBF_RATE64`, `TCA_TBF_PRATE64`, `TCA_TBF_BURST`, `TCA_TBF_PBURST`.
const PARMS: u16 = 1;
const RATES_64: [u16; 2] = [4, 5];
const BURST: u16 = 6;
const PEAK_BURST: u16 = 7;

/// `tbf` as written; `limit` may follow from `latency`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TbfWords {
    rate: Option<Rate>,
    burst: Option<Bytes>,
    limit: Option<Bytes>,
    latency: Option<Duration>,
    peakrate: Option<Rate>,
    mtu: Option<Bytes>,
    mpu: u32,
    overhead: u32,
    linklayer: Layer,
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
            (None, Some(latency)) => {
                let of = |(rate, depth): (Rate, Bytes)| rate.bytes_in(latency) + depth;
                let own = of((rate, burst));
                self.peak()?.map_or(own, |peak| own.min(of(peak)))
            }
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
        if !fits_in_ticks(rate, burst) {
            let rule = format!("at most what {rate} sends in 274 s, 32 bits of 64 ns");
            return Err(ParamError::new("tbf", "burst", burst.to_string(), rule));
        }
        in_range("tbf", "mpu", self.mpu.into(), 0, u16::MAX.into())?;
        if let Some((peak, _)) = self.peak()?.filter(|&(peak, _)| peak <= rate) {
            let rule = format!("more than the rate, {rate}");
            return Err(ParamError::new("tbf", "peakrate", Value::Rate(peak).to_string(), rule));
        }
        Ok(params)
    }

    /// The peak rate, and the depth of its bucket.
    fn peak(&self) -> Result<Option<(Rate, Bytes)>, ParamError> {
        let Some(peak) = self.peakrate else {
            return Ok(None);
        };
        let depth = self
            .mtu
            .ok_or_else(|| ParamError::new("tbf", "mtu", "missing", "given with peakrate"))?;
        in_range("tbf", "mtu", depth.get(), 1, u32::MAX.into())?;
        Ok(Some((peak, depth)))
    }

    const fn framing(&self) -> Framing {
        Framing {
            overhead: self.overhead,
            least: self.mpu,
            layer: self.linklayer,
        }
    }
}

impl Model for TbfWords {
    const ABOUT: Descriptor = Descriptor {
        shapes: true,
        layout: Layout::Own(options),
        ..Descriptor::of(
            "tbf",
            "a token bucket that shapes a FIFO, or the discipline of its class, to a rate",
            "tc-tbf(8); Linux sch_tbf.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["rate"] Once: Speed = rate, "the rate it shapes to";
        ["burst", "buffer", "maxburst"] ZeroIsUnset Once Short: CellSize = burst, "depth of the bucket; larger packets are refused";
        ["limit"] ZeroIsUnset Once Short: Size = limit, "bytes its FIFO holds";
        ["latency"] ZeroIsUnset Once Short: Time = latency,
            "instead of limit: the longest a packet may wait, limit = rate * latency + burst";
        ["peakrate"] ZeroIsUnset Once Short: Speed = peakrate, "the rate at which a burst leaves at most; with mtu";
        ["mtu", "minburst"] ZeroIsUnset Once: CellSize = mtu, "depth of the bucket of peakrate; larger packets are refused";
        ["mpu"] ZeroIsUnset Once: SizeTo<{ u32::MAX }> = mpu, if |t| t.mpu != 0, "the least size that a packet counts with";
        ["overhead"] ZeroIsUnset Once Short: Short = overhead, if |t| t.overhead != 0, "bytes that are added to each packet";
        ["linklayer"] Short: LayerWord = linklayer, if |t| t.linklayer != Layer::Ethernet,
            "ethernet, or atm for whole cells";
    };

    fn defaults() -> Self {
        Self::default()
    }
    fn finish(&mut self) -> Result<(), ParamError> {
        (self.limit, self.latency) = (Some(self.params()?.limit), None);
        self.mtu = self.mtu.filter(|_| self.peakrate.is_some());
        Ok(())
    }
    fn footprint(&self) -> Footprint {
        self.limit.unwrap_or_default().into()
    }
}

impl Classful for TbfWords {
    /// Over its own FIFO, or over the discipline that its class was given.
    type Built<P: Packet, Q: Qdisc<P>> = Either<Tbf<P, Fifo<P>>, Box<Tbf<P, Q>>>;

    fn bands(&self) -> u32 {
        1
    }
    fn build<P: Packet, Q: Qdisc<P>, L>(&self, classes: &Classes<L>, children: Vec<Option<Q>>) -> Self::Built<P, Q> {
        let params = self.params().expect(CHECKED);
        let peak = self.peak().expect(CHECKED);
        let given = classes.iter().any(|class| class.qdisc.is_some());
        match children.into_iter().flatten().next().filter(|_| given) {
            Some(child) => {
                let shaper = Tbf::new(params.rate, params.burst, child).expect(CHECKED);
                Either::Other(Box::new(shaper.with_framing(self.framing(), peak)))
            }
            None => Either::One(
                Tbf::with_fifo(params)
                    .expect(CHECKED)
                    .with_framing(self.framing(), peak),
            ),
        }
    }
}

/// `struct tc_tbf_qopt`: of a rate with a link layer the kernel wants no table of times; and what does not fit there.
fn options(options: &Options) -> Vec<u8> {
    let layer = match options.get("linklayer") {
        Some(OptionValue::Text(layer)) if layer == "atm" => 2,
        _ => 1,
    };
    let rates = ["rate_bps", "peakrate_bps"].map(|name| number(options, name) as u64 / 8);
    let mut structure = Vec::new();
    for rate in rates {
        let used = u16::from(rate > 0);
        structure.extend([0, if rate > 0 { layer } else { 0 }]);
        structure.extend((number(options, "overhead") as u16 * used).to_ne_bytes());
        structure.extend([0, 0]);
        structure.extend((number(options, "mpu_bytes") as u16 * used).to_ne_bytes());
        structure.extend(u32::try_from(rate).unwrap_or(u32::MAX).to_ne_bytes());
    }
    structure.extend(word(options, "limit_bytes"));
    structure.resize(36, 0);
    let mut bytes = Vec::new();
    push(&mut bytes, PARMS, &structure);
    push(&mut bytes, BURST, &word(options, "burst_bytes"));
    for (kind, rate) in RATES_64.into_iter().zip(rates) {
        if u32::try_from(rate).is_err() {
            push(&mut bytes, kind, &rate.to_ne_bytes());
        }
    }
    if rates[1] > 0 {
        push(&mut bytes, PEAK_BURST, &word(options, "mtu_bytes"));
    }
    bytes
}
