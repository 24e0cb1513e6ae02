//! `dualpi2` as `tc` knows it. Source: tc-dualpi2(8), and the messages that iproute2 sends.

use super::params::{KIND, gain_in_hz};
use super::{DualPi2, DualPi2Params, StepThreshold};
use crate::descriptor::{Counters, Descriptor, DropCounters};
use crate::footprint::Footprint;
use crate::grammar::measures::{Flag, Measure, Number, PlainOctets, PlainPackets, Real, Time, Unit, Value, signed};
use crate::grammar::model::{CHECKED, Model, Plain};
use crate::grammar::raw_value::RawValue;
use crate::grammar::words::{Word, words};
use crate::netlink::Form::{Probability32, S32, U32};
use crate::netlink::{Layout, Named, OptionValue, Options, Row, number, push, rows, word};
use crate::{Packet, ParamError};
use sojourn_units::{Bytes, Duration, tc};

/// `typical_rtt` is this part of `max_rtt` if one of them is given. Source: iproute2 `RTT_TYP_TO_MAX`.
const TYPICAL_OF_MAX: u64 = 6;

/// `dualpi2` as written; `tc` fills in the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "the independent flags of tc-dualpi2(8)")]
pub(crate) struct DualPi2Words {
    limit: u32,
    memlimit: Option<Bytes>,
    target: Option<Duration>,
    tupdate: Option<Duration>,
    alpha: Option<f64>,
    beta: Option<f64>,
    step_thresh: StepThreshold,
    min_qlen_step: u32,
    coupling_factor: u32,
    drop_on_overload: bool,
    drop_dequeue: bool,
    classic_protection: u32,
    l4s_ect: bool,
    split_gso: bool,
    max_rtt: Option<Duration>,
    typical_rtt: Option<Duration>,
}

/// What the controller is set to.
struct Tuning {
    target: Duration,
    tupdate: Duration,
    alpha: f64,
    beta: f64,
}

impl DualPi2Words {
    /// The parameters, with `tc`'s defaults.
    fn params(&self) -> Result<DualPi2Params, ParamError> {
        let tuning = self.tuning()?;
        let gain = |field, hz: f64| {
            // As `tc`, which cuts off what is finer.
            let gain = hz * 256.0;
            if gain < 1.0 || gain >= f64::from(1u32 << 31) {
                let rule = "at least 1/256 (0.00390625) and less than 2^23";
                return Err(ParamError::new(KIND, field, hz.to_string(), rule));
            }
            Ok(gain as u32)
        };
        let byte = |field, value: u32, least, most| {
            crate::param::in_range(KIND, field, value.into(), least, most)?;
            Ok(value as u8)
        };
        let params = DualPi2Params {
            limit: self.limit,
            memory_limit: self.memlimit.unwrap_or_else(|| DualPi2Params::memory_for(self.limit)),
            target: tuning.target,
            tupdate: tuning.tupdate,
            alpha: gain("alpha", tuning.alpha)?,
            beta: gain("beta", tuning.beta)?,
            step_thresh: self.step_thresh,
            min_qlen_step: self.min_qlen_step,
            coupling_factor: byte("coupling_factor", self.coupling_factor, 1, 255)?,
            drop_on_overload: self.drop_on_overload,
            drop_enqueue: !self.drop_dequeue,
            classic_protection: byte("classic_protection", self.classic_protection, 0, 100)?,
            any_ect: !self.l4s_ect,
        };
        params.validate()?;
        Ok(params)
    }

    /// What the controller is set to: what was given, or what follows from the round-trip times, which count more. Source: iproute2
    /// `dualpi2_parse_opt`; RFC 9332 section A.1.
    fn tuning(&self) -> Result<Tuning, ParamError> {
        let linux = DualPi2Params::LINUX;
        if self.max_rtt.is_none() && self.typical_rtt.is_none() {
            return Ok(Tuning {
                target: self.target.unwrap_or(linux.target),
                tupdate: self.tupdate.unwrap_or(linux.tupdate),
                alpha: self.alpha.unwrap_or_else(|| gain_in_hz(linux.alpha)),
                beta: self.beta.unwrap_or_else(|| gain_in_hz(linux.beta)),
            });
        }
        let (field, value) = match (self.max_rtt, self.typical_rtt) {
            (Some(max), _) => ("max_rtt", max),
            (None, typical) => ("typical_rtt", typical.unwrap_or_default()),
        };
        crate::param::positive_time(KIND, field, value)?;
        let us = |time: Duration| time.as_nanos() / 1000;
        let (max, typical) = match (self.max_rtt.map(us), self.typical_rtt.map(us)) {
            (Some(max), Some(typical)) => (max, typical),
            (Some(max), None) => (max, (max / TYPICAL_OF_MAX).max(1)),
            (None, typical) => {
                let typical = typical.unwrap_or_default();
                (typical * TYPICAL_OF_MAX, typical)
            }
        };
        if typical == 0 || typical > max {
            let given = self.typical_rtt.unwrap_or(value).to_string();
            let rule = "at least 1us, and no longer than max_rtt";
            return Err(ParamError::new(KIND, "typical_rtt", given, rule));
        }
        // `tc` has these two numbers in single precision.
        let (third, tenth) = (f64::from(0.3_f32), f64::from(0.1_f32));
        let tupdate = ((max as f64 / 3.0).min(typical as f64) as u64).max(1);
        let seconds = max as f64 / 1e6;
        let tuning = Tuning {
            target: Duration::from_micros(typical),
            tupdate: Duration::from_micros(tupdate),
            alpha: tupdate as f64 / 1e6 / seconds / seconds * tenth,
            beta: third / seconds,
        };
        if tuning.alpha < 1.0 / 256.0 || tuning.beta < 1.0 / 256.0 {
            let rule = "shorter, for alpha or beta would be rounded to 0";
            return Err(ParamError::new(KIND, field, value.to_string(), rule));
        }
        Ok(tuning)
    }
}

impl Model for DualPi2Words {
    const ABOUT: Descriptor = Descriptor {
        drops_arrivals_only: false,
        one_queue: false,
        // The kernel does not say which drops were for want of room.
        drops: DropCounters::room(&[]),
        counters: Counters::Members(COUNTERS),
        layout: Layout::OwnAttributes(options),
        ..Descriptor::of(
            KIND,
            "a queue for L4S beside a classic one, coupled by one PI2 controller; in Linux since 6.17",
            "RFC 9332; tc-dualpi2(8); Linux sch_dualpi2.c",
        )
    };
    const WORDS: &'static [Word<Self>] = words! {
        ["limit"] ZeroIsUnset: PlainPackets = limit, "packets in both queues together; arrivals beyond are refused";
        ["memlimit"] ZeroIsUnset: PlainOctets = memlimit, "memory of all queued packets; default two frames for each packet of limit";
        ["target"] ZeroIsUnset: Time = target, "the delay that the controller aims at; default 15ms";
        ["tupdate"] ZeroIsUnset: Time = tupdate, "time between two updates of the probability; default 16ms";
        ["alpha"]: Real = alpha, "weight of the delay's distance from target, Hz; default 0.16";
        ["beta"]: Real = beta, "weight of the delay's change, Hz; default 3.2";
        ["step_thresh"] ZeroIsUnset: Step = step_thresh, "packets of the L queue that waited longer, or leave more behind (5p), are marked";
        ["min_qlen_step"]: PlainPackets = min_qlen_step, "step_thresh holds for packets that find so many in the L queue; 2 where one packet takes longer than step_thresh, \
             or L4S flows starve";
        ["coupling_factor"]: Number = coupling_factor, "marks of the L queue per base probability, 1 to 255";
        ["drop_on_overload", "overflow"]: Flag = drop_on_overload, "in overload, drop in the L queue, too; else only mark";
        ["drop_dequeue", "drop_enqueue"]: Flag = drop_dequeue, "drop and mark when packets leave; else when they come";
        ["classic_protection"]: Percent = classic_protection, "share that the classic queue gets at least, such as 10%";
        ["l4s_ect", "any_ect"]: Flag = l4s_ect, "ECT(1) and CE go into the L queue; else all ECN-capable packets";
        ["split_gso", "no_split_gso"]: Flag = split_gso, "split segments that offload has joined; here there are none";
        ["max_rtt"] ZeroIsUnset: Time = max_rtt, "sets target, tupdate, alpha and beta; default six times typical_rtt";
        ["typical_rtt"] ZeroIsUnset: Time = typical_rtt, "the same; default a sixth of max_rtt";
    };

    fn defaults() -> Self {
        let linux = DualPi2Params::LINUX;
        Self {
            limit: linux.limit,
            memlimit: None,
            target: None,
            tupdate: None,
            alpha: None,
            beta: None,
            step_thresh: linux.step_thresh,
            min_qlen_step: linux.min_qlen_step,
            coupling_factor: linux.coupling_factor.into(),
            drop_on_overload: linux.drop_on_overload,
            drop_dequeue: !linux.drop_enqueue,
            classic_protection: linux.classic_protection.into(),
            l4s_ect: !linux.any_ect,
            split_gso: true,
            max_rtt: None,
            typical_rtt: None,
        }
    }
    /// What follows from the round-trip times takes their place.
    fn finish(&mut self) -> Result<(), ParamError> {
        let params = self.params()?;
        (self.max_rtt, self.typical_rtt) = (None, None);
        self.memlimit = Some(params.memory_limit);
        (self.target, self.tupdate) = (Some(params.target), Some(params.tupdate));
        (self.alpha, self.beta) = (Some(gain_in_hz(params.alpha)), Some(gain_in_hz(params.beta)));
        Ok(())
    }
    fn kernel(&self) -> Result<Vec<Named>, ParamError> {
        let p = self.params()?;
        let mut all = Vec::new();
        for (name, n) in [
            ("limit", i64::from(p.limit)),
            ("memlimit_bytes", signed(p.memory_limit.get())),
            ("alpha", p.alpha.into()),
            ("beta", p.beta.into()),
            ("min_qlen_step", p.min_qlen_step.into()),
            ("coupling_factor", p.coupling_factor.into()),
            ("drop_on_overload", p.drop_on_overload.into()),
            ("drop_enqueue", p.drop_enqueue.into()),
            ("classic_protection", p.classic_protection.into()),
            ("ecn_mask", if p.any_ect { 3 } else { 1 }),
            ("split_gso", self.split_gso.into()),
        ] {
            all.push((name.to_owned(), OptionValue::Number(n)));
        }
        let times = [Value::Time(p.target), Value::Time(p.tupdate)];
        for (field, time) in ["target", "tupdate"].into_iter().zip(times) {
            all.extend(time.for_kernel(KIND, field)?);
        }
        let step = Step::value(&p.step_thresh).map_or(Ok(None), |step| step.for_kernel(KIND, "step_thresh"))?;
        all.extend(step);
        Ok(all)
    }
    fn footprint(&self) -> Footprint {
        let tupdate = self.tuning().map_or(DualPi2Params::LINUX.tupdate, |one| one.tupdate);
        Footprint::new(u64::from(self.limit), 2, 0).updating(1, tupdate)
    }
}

impl Plain for DualPi2Words {
    type Built<P: Packet> = Box<DualPi2<P>>;

    fn build<P: Packet>(&self, seed: u64) -> Self::Built<P> {
        let params = self.params().expect(CHECKED);
        Box::new(DualPi2::new(params, seed).expect(CHECKED))
    }
}

/// A time, or packets as `5p`.
enum Step {}

impl Unit for Step {
    const UNIT: &'static str = "time or packets";

    fn is_zero(text: &str) -> bool {
        tc::micros(text) == Some(0)
    }
}

impl Measure<StepThreshold> for Step {
    fn read(raw: &RawValue<'_>) -> Result<StepThreshold, ParamError> {
        let value = raw.value();
        let digits = ["packets", "packet", "pkts", "pkt", "p"]
            .iter()
            .find_map(|unit| value.strip_suffix(unit));
        match digits {
            Some(digits) => RawValue::new(KIND, "step_thresh", digits)
                .count(10)
                .map(StepThreshold::Packets),
            None => raw.duration().map(StepThreshold::Time),
        }
    }
    fn value(field: &StepThreshold) -> Option<Value> {
        Some(match *field {
            StepThreshold::Time(time) => Value::Time(time),
            StepThreshold::Packets(packets) => Value::Packets(packets),
        })
    }
}

/// A share in whole per cent, with or without the sign.
enum Percent {}

impl Unit for Percent {
    const UNIT: &'static str = "per cent";
}

impl Measure<u32> for Percent {
    fn read(raw: &RawValue<'_>) -> Result<u32, ParamError> {
        Ok((raw.percent()? * 100.0).round_ties_even() as u32)
    }
    fn value(field: &u32) -> Option<Value> {
        Some(Value::Percent(*field))
    }
}

/// As iproute2 sends it. Source: `TCA_DUALPI2_LIMIT` and so on.
fn options(options: &Options) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (place, name) in (1..).zip(["limit", "memlimit_bytes", "target_us", "tupdate_us", "alpha", "beta"]) {
        push(&mut bytes, place, &word(options, name));
    }
    for (place, name) in [(7, "step_thresh_packets"), (8, "step_thresh_us"), (9, "min_qlen_step")] {
        if options.contains_key(name) {
            push(&mut bytes, place, &word(options, name));
        }
    }
    let of_a_byte = [
        "coupling_factor",
        "drop_on_overload",
        "drop_enqueue",
        "classic_protection",
        "ecn_mask",
        "split_gso",
    ];
    for (place, name) in (10..).zip(of_a_byte) {
        push(&mut bytes, place, &[number(options, name) as u8]);
    }
    bytes
}

const COUNTERS: &[Row] = rows! {
    Probability32 => "prob";
    U32 => "delay_c" "delay_l" "pkts_in_c" "pkts_in_l" "maxq" "ecn_mark" "step_mark";
    S32 => "credit";
    U32 => "memory_used" "max_memory_used" "memory_limit";
};
