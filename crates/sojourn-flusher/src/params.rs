//! The parameters, their presets, and their form in a file.

mod choice;
mod preset;
mod setting;

pub use choice::{
    Acknowledged, BaseKind, Clamp, Counted, FirstFlush, FlushRtt, Forced, Growth, LastFlush, Method, Miss, Restart,
    Retransmissions, SampleOf, Samples, SizeRtt, Span, Test,
};
pub use setting::Factor;

use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use setting::Setting;
use sojourn_units::{Bytes, Duration};
use std::fmt;
use thiserror::Error;

/// A parameter that cannot be used: one sentence that names the field, its value and the rule.
///
/// ```
/// use sojourn_flusher::{Flusher, FlusherParams};
/// let params = FlusherParams { max_flows: 0, ..FlusherParams::ADAPTIVE };
/// assert_eq!(Flusher::new(params).unwrap_err().to_string(), "flusher.max_flows is 0, but must be from 2 to 1000000");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}, but must be {rule}")]
pub struct ParamError {
    /// The parameter, such as `flusher.threshold`.
    pub field: String,
    /// The value as given.
    pub value: String,
    /// What the value must be.
    pub rule: String,
}

impl ParamError {
    fn new(name: &str, value: impl Into<String>, rule: impl Into<String>) -> Self {
        Self {
            field: format!("flusher.{name}"),
            value: value.into(),
            rule: rule.into(),
        }
    }
}

/// Declares the parameters once: the struct, what stands in a file, and the way between them.
macro_rules! parameters {
    ($( $(#[$doc:meta])* $name:ident: $kind:ty, )+) => {
        /// Every parameter of the flusher. `Default` is [`FlusherParams::ADAPTIVE`].
        ///
        /// In a file it is the name of a preset (`"as_described"`), or a table: `preset` names where the fields that are
        /// not given come from (`adaptive` if it is not given either), times are in `tc`'s spelling, factors are numbers
        /// of at most three decimals. A key that does not exist is refused. A text that names a `method` and no `small_packet`
        /// has none.
        ///
        /// ```
        /// use sojourn_flusher::FlusherParams;
        /// let params: FlusherParams = toml::from_str("preset = 'as_described'\nthreshold = 1.5")?;
        /// assert_eq!(params.threshold.thousandths(), 1500);
        /// assert_eq!(params.floor, FlusherParams::AS_DESCRIBED.floor);
        /// # Ok::<(), toml::de::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct FlusherParams { $( $(#[$doc])* pub $name: $kind, )+ }

        /// What stands in a file.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct File {
            preset: Option<String>,
            $( $name: Option<<$kind as Setting>::Form>, )+
        }

        impl TryFrom<File> for FlusherParams {
            type Error = ParamError;
            fn try_from(file: File) -> Result<Self, ParamError> {
                let base = file.preset.as_deref().map_or(Ok(Self::ADAPTIVE), Self::named)?;
                let mut params = Self { $( $name: match &file.$name {
                    None => base.$name,
                    Some(form) => <$kind as Setting>::read(form).map_err(|rule| {
                        ParamError::new(stringify!($name), format!("{form:?}"), rule)
                    })?,
                }, )+ };
                // A text with every parameter, from before there were some of them, means what it did.
                if file.method.is_some() {
                    let past = Self::PAST;
                    params.small_packet = file.small_packet.as_ref().and(params.small_packet);
                    params.sample_of = file.sample_of.unwrap_or(past.sample_of);
                    params.throughput_weight = file.throughput_weight.unwrap_or(past.throughput_weight);
                    params.largest_rtt = file.largest_rtt.unwrap_or(past.largest_rtt);
                }
                Ok(params)
            }
        }

        impl Serialize for FlusherParams {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let fields = [$( stringify!($name), )+].len();
                let mut out = serializer.serialize_struct("FlusherParams", fields)?;
                $(
                    if self.tells(stringify!($name)) {
                        out.serialize_field(stringify!($name), &self.$name.form())?;
                    } else {
                        out.skip_field(stringify!($name))?;
                    }
                )+
                out.end()
            }
        }
    };
}

parameters! {
    /// Whose method decides.
    method: Method,
    /// Most flows remembered; the least recently seen one makes room.
    max_flows: u32,
    /// Most segments remembered of a flow that await an acknowledgement.
    max_outstanding: u32,
    /// How long a flow is remembered after its last segment.
    flow_timeout: Duration,
    /// Longer samples are ignored and counted.
    max_rtt: Duration,
    /// Most packets of one plan, whatever the formulas say. The thesis knows no such bound.
    max_packets: u32,
    /// Length of a flush packet on the wire, IP header included. Source: seed 003 section 4.4.
    packet: Bytes,
    /// Whether [`crate::Event`]s are kept for [`crate::Flusher::poll_event`].
    events: bool,

    /// Weight of a new sample in the smoothed RTT, in eighths. Contradiction flu-x-01: Eq. 4.1 gives the old value 7/8,
    /// Listing 4.5 the new one.
    rtt_weight: u32,
    /// What to make of segments seen again.
    retransmissions: Retransmissions,
    /// Which segment an acknowledgement is matched with. Texts that name a `method` and not this have `acknowledged_end`.
    sample_of: SampleOf,
    /// How the base RTT is kept. Contradiction flu-x-15.
    base: BaseKind,
    /// After how long the base RTT is renewed, or how far back the sliding minimum looks. Source: seed 003 section 4.3.2
    /// and RFC 6817: 10 minutes.
    base_window: Duration,
    /// Which bytes count as throughput. Contradiction flu-x-03.
    throughput_counts: Counted,
    /// Which segments of an acknowledgement count. Listing 4.4 counts one and doubles the sum (contradiction flu-x-02).
    throughput_items: Acknowledged,
    /// What they are divided by. Contradiction flu-x-04.
    throughput_span: Span,
    /// The interval of [`Span::Interval`]; with [`Span::Rtt`] unused.
    throughput_interval: Duration,
    /// What the result is multiplied by. Contradiction flu-x-02: Eq. 4.2 has 1, Listing 4.4 has 2, which is
    /// right where receivers acknowledge every second packet, and twice too much where they acknowledge each.
    throughput_factor: u32,
    /// Where the next interval's sum begins. Listing 4.4, line 8, has the last item.
    throughput_restart: Restart,
    /// Weight of a new interval in the smoothed throughput, of which a flush takes the largest value, in eighths; 8 does not
    /// smooth. Source: seed 003 section 4.5.3, "the maximum value of the EWMA throughput", and Eq. 4.1 for the weight of 1.
    /// Listing 4.4 does not smooth. Texts that name a `method` and not this have 8.
    throughput_weight: u32,

    /// A queue stands when the RTT is above this times the base RTT.
    threshold: Factor,
    /// And above this. Contradiction flu-x-30: section 6.3 speaks of thresholds alone, the floor decides on short paths.
    floor: Duration,
    /// Samples in a window. Source: section 4.5.1; with one sample and one window the flusher is that of Listing 4.1
    /// (contradiction flu-x-14). With the method `adaptive` the least number of samples in a window of time.
    window_samples: u32,
    /// A window closes with the first sample that comes so long after its first one, however many there are; `None`: with
    /// `window_samples` samples. Of the tests only [`Test::FilledWindow`] knows it; not used by the method `adaptive`. Source: seed 003
    /// section 6.3, "a time limited sample size", for which it names 100 ms.
    window_time: Option<Duration>,
    /// Windows in a row that must stand above the trigger; the text's "more than 2" is 3. Contradiction flu-x-06.
    windows: u32,
    /// What is put into a window.
    samples: Samples,
    /// When a window is tested. Contradiction flu-x-05.
    test: Test,
    /// What a failed test does to the count. Contradiction flu-x-05.
    miss: Miss,
    /// A flush is due this long after the last one, whatever the RTT; `None` for never. Contradiction flu-x-08: small
    /// buffers are flushed by it though section 6.3 says the flusher stays inactive.
    forced_after: Option<Duration>,
    /// How `forced_after` acts. Contradiction flu-x-07.
    forced: Forced,
    /// Whether it runs from the last flush. Contradiction flu-x-07.
    last_flush: LastFlush,
    /// How many RTTs after a burst samples are left out. Source: section 4.5.1, "captured during a flush", which does
    /// not say when a flush ends.
    settle: Factor,

    /// Which RTT sizes a flush. Contradiction flu-x-13.
    flush_rtt: FlushRtt,
    /// By what the flood RTT grows from flush to flush. Source: section 4.5.2.
    growth: Factor,
    /// Whether growth lasts. Contradiction flu-x-10.
    growth_kept: Growth,
    /// Whether the first flush is multiplied. Contradiction flu-x-12.
    first_flush: FirstFlush,
    /// The bounds of the flood RTT. Contradiction flu-x-09.
    clamp: Clamp,
    /// Of which RTTs the largest gives the upper bound. Source: seed 003 section 4.5.3, "the maximum value of the EWMA
    /// throughput and EWMA RTT"; Listing 4.6 keeps the largest sample. Texts that name a `method` and not this have `raw`.
    largest_rtt: Samples,
    /// Which flood RTT gives the number of packets. Contradiction flu-x-11.
    size_rtt: SizeRtt,

    /// `adaptive`: length on the wire, IP header included, of the packets of bursts into a buffer that counts packets; `None`:
    /// all bursts are of packets of length `packet`, as where that is no longer.
    small_packet: Option<Bytes>,
    /// `adaptive`: as `min_window`, of a burst of small packets: that takes a few packets of a flow, and not what came behind it.
    small_window: u32,
    /// `adaptive`: length of a window in base RTTs.
    window_rtts: Factor,
    /// `adaptive`: packets that a flow must have in flight to be made to lose some. Fewer, and a loss ends in a timeout.
    min_window: u32,
    /// `adaptive`: the largest share of the link's time that flush packets may take, over the time since the last flush.
    duty: Factor,
    /// `adaptive`: as `duty`, of bursts of small packets.
    small_duty: Factor,
    /// `adaptive`: packets of a burst beyond the buffer's free space.
    margin: u32,
    /// `adaptive`: small bursts that hold the buffer full over one RTT after the first one.
    top_ups: u32,
    /// `adaptive`: packets of each.
    top_up_packets: u32,
    /// `adaptive`: share of the queue by which it must fall for a flush to have helped.
    helped: Factor,
    /// `adaptive`: flushes in a row that may fail before the path is left alone.
    max_failures: u32,
    /// `adaptive`: longest cool-down, and how long a path is left alone.
    max_cool_down: Duration,
}

impl FlusherParams {
    /// What texts mean that are older than a parameter.
    const PAST: Self = Self::AS_WRITTEN;

    /// Whether a parameter stands in the text: all do but those that are newer than texts which are kept, while they
    /// are off.
    fn tells(&self, name: &str) -> bool {
        match name {
            "window_time" => self.window_time.is_some(),
            "sample_of" => self.sample_of != Self::PAST.sample_of,
            "throughput_weight" => self.throughput_weight != Self::PAST.throughput_weight,
            "largest_rtt" => self.largest_rtt != Self::PAST.largest_rtt,
            "small_packet" | "small_window" | "small_duty" => self.small_packet.is_some(),
            _ => true,
        }
    }

    /// The names of the presets.
    pub const PRESETS: [&str; 3] = ["as_written", "as_described", "adaptive"];

    /// The preset of this name.
    ///
    /// # Errors
    /// [`ParamError`] for any other name.
    pub fn named(name: &str) -> Result<Self, ParamError> {
        match name {
            "as_written" => Ok(Self::AS_WRITTEN),
            "as_described" => Ok(Self::AS_DESCRIBED),
            "adaptive" => Ok(Self::ADAPTIVE),
            _ => {
                let rule = "\"as_written\", \"as_described\" or \"adaptive\"";
                Err(ParamError::new("preset", format!("{name:?}"), rule))
            }
        }
    }

    /// Checks every parameter.
    ///
    /// # Errors
    /// [`ParamError`] for the first that cannot be used.
    pub fn validate(&self) -> Result<(), ParamError> {
        const HOUR: Duration = Duration::from_secs(3600);
        const DAY: Duration = Duration::from_secs(86_400);
        const MILLI: Duration = Duration::from_millis(1);
        range("max_flows", self.max_flows, 2, 1_000_000)?;
        range("max_outstanding", self.max_outstanding, 16, 1_000_000)?;
        range("flow_timeout", self.flow_timeout, Duration::from_secs(1), DAY)?;
        range("max_rtt", self.max_rtt, MILLI, HOUR)?;
        range("max_packets", self.max_packets, 1, 1_000_000)?;
        range("packet", self.packet, Bytes::new(48), Bytes::new(65_535))?;
        range("rtt_weight", self.rtt_weight, 1, 8)?;
        range("base_window", self.base_window, Duration::from_secs(1), DAY)?;
        range("throughput_interval", self.throughput_interval, MILLI, HOUR)?;
        range("throughput_factor", self.throughput_factor, 1, 8)?;
        range("throughput_weight", self.throughput_weight, 1, 8)?;
        factor("threshold", self.threshold, 1001, 100_000)?;
        range("floor", self.floor, Duration::ZERO, Duration::from_secs(60))?;
        range("window_samples", self.window_samples, 1, 1000)?;
        if let Some(window) = self.window_time {
            range("window_time", window, MILLI, Duration::from_secs(60))?;
            if self.test != Test::FilledWindow {
                let rule = "off unless test is filled_window";
                return Err(ParamError::new("window_time", window.to_string(), rule));
            }
        }
        range("windows", self.windows, 1, 1000)?;
        if let Some(after) = self.forced_after {
            range("forced_after", after, Duration::from_secs(1), DAY)?;
        }
        factor("settle", self.settle, 0, 100_000)?;
        factor("growth", self.growth, 1000, 10_000)?;
        if let Some(packet) = self.small_packet {
            range("small_packet", packet, Bytes::new(48), Bytes::new(65_535))?;
        }
        factor("window_rtts", self.window_rtts, 100, 100_000)?;
        range("small_window", self.small_window, 1, 1_000_000)?;
        range("min_window", self.min_window, 1, 1_000_000)?;
        factor("duty", self.duty, 1, 1000)?;
        factor("small_duty", self.small_duty, 1, 1000)?;
        range("margin", self.margin, 0, 10_000)?;
        range("top_ups", self.top_ups, 0, 1000)?;
        range("top_up_packets", self.top_up_packets, 1, 1000)?;
        factor("helped", self.helped, 1, 1000)?;
        range("max_failures", self.max_failures, 1, 1000)?;
        range("max_cool_down", self.max_cool_down, Duration::from_secs(1), DAY)
    }
}

impl Default for FlusherParams {
    fn default() -> Self {
        Self::ADAPTIVE
    }
}

fn range<T: Copy + PartialOrd + fmt::Display>(field: &str, value: T, low: T, high: T) -> Result<(), ParamError> {
    if value < low || value > high {
        let rule = format!("from {low} to {high}");
        return Err(ParamError::new(field, value.to_string(), rule));
    }
    Ok(())
}

fn factor(field: &str, value: Factor, low: u32, high: u32) -> Result<(), ParamError> {
    range(
        field,
        value,
        Factor::from_thousandths(low),
        Factor::from_thousandths(high),
    )
}

impl<'de> Deserialize<'de> for FlusherParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = FlusherParams;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a preset, or a table of parameters")
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<FlusherParams, E> {
                FlusherParams::named(name).map_err(E::custom)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<FlusherParams, A::Error> {
                let file = File::deserialize(de::value::MapAccessDeserializer::new(map))?;
                FlusherParams::try_from(file).map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}
