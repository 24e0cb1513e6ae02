//! How a direction is set, and changes of it as text.

use sojourn_qdisc::{DeliveryTrace, QdiscSpec};
use sojourn_units::{Bytes, Duration, Rate, format_rate, parse_bytes, parse_duration, parse_rate};
use std::fmt;

/// How one direction is set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The shaper's rate; with a trace, its mean.
    pub rate: Rate,
    /// The trace that the link follows in place of a rate.
    pub trace: Option<DeliveryTrace>,
    /// Depth of its bucket.
    pub burst: Bytes,
    /// The discipline under test.
    pub qdisc: QdiscSpec,
    /// The constant delay behind the shaper.
    pub delay: Duration,
    /// The share of packets that is lost behind the shaper, at random.
    pub loss: Share,
}

/// A share of packets, in parts of 2^32, as netem has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share(u32);

impl Share {
    /// A share in parts of 2^32; 0 for none.
    #[must_use]
    pub const fn from_parts(parts: u32) -> Self {
        Self(parts)
    }

    /// The parts of 2^32.
    #[must_use]
    pub const fn parts(self) -> u32 {
        self.0
    }

    /// Reads a percentage such as `0.5%`.
    ///
    /// # Errors
    /// One sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').and_then(|n| n.parse::<f64>().ok());
        match number {
            Some(percent) if (0.0..=100.0).contains(&percent) => {
                Ok(Self((percent / 100.0 * f64::from(u32::MAX)).round() as u32))
            }
            _ => Err(format!("loss is {text:?}, but must be a percentage from 0% to 100%")),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", f64::from(self.0) / f64::from(u32::MAX) * 100.0)
    }
}

/// The longest delay.
const LONGEST_DELAY: Duration = Duration::from_secs(60);

/// The depth of a bucket that nothing is said of: it lets the largest packet out, and no two at once.
#[must_use]
pub const fn default_burst(mtu: u32, overhead: u32) -> Bytes {
    Bytes::new(mtu as u64 + overhead as u64)
}

impl Settings {
    /// Without delay and loss.
    #[must_use]
    pub fn new(rate: Rate, burst: Bytes, qdisc: QdiscSpec) -> Self {
        Self {
            rate,
            trace: None,
            burst,
            qdisc,
            delay: Duration::ZERO,
            loss: Share::default(),
        }
    }

    /// The kind of its shaper and its numbers, as `tc -s qdisc` has them.
    #[must_use]
    pub fn shaper(&self) -> (&'static str, String) {
        let rate = format_rate(self.rate);
        match &self.trace {
            None => ("tbf", format!("rate {rate} burst {}", self.burst)),
            Some(trace) => ("trace", format!("{trace} rate {rate}")),
        }
    }

    /// Checks what the parts must be together, for packets of at most `largest` bytes on the link.
    ///
    /// # Errors
    /// One sentence.
    pub fn check(&self, largest: Bytes) -> Result<(), String> {
        if self.burst < largest {
            return Err(format!(
                "burst is {}, but must be at least {largest}, the largest packet on the link",
                self.burst
            ));
        }
        sojourn_qdisc::TbfParams {
            rate: self.rate,
            burst: self.burst,
            limit: Bytes::new(1),
        }
        .validate()
        .map_err(|e| e.to_string())?;
        if self.delay > LONGEST_DELAY {
            return Err(format!("delay is {}, but must be at most {LONGEST_DELAY}", self.delay));
        }
        Ok(())
    }

    /// These settings with one field changed: `rate`, `burst`, `qdisc`, `delay` or `loss`.
    ///
    /// # Errors
    /// One sentence for a field that there is not, or a value that cannot be.
    pub fn changed(&self, field: &str, value: &str, largest: Bytes) -> Result<Self, String> {
        if let Some(trace) = self.trace.as_ref().filter(|_| ["rate", "burst"].contains(&field)) {
            return Err(format!(
                "{field} is {value:?}, but must be left alone: the link follows the trace \"{trace}\""
            ));
        }
        let mut settings = self.clone();
        let says = |e: &dyn fmt::Display| format!("{field}: {e}");
        match field {
            "rate" => settings.rate = parse_rate(value).map_err(|e| says(&e))?,
            "burst" => settings.burst = parse_bytes(value).map_err(|e| says(&e))?,
            "qdisc" => settings.qdisc = QdiscSpec::parse(value, Some(self.rate)).map_err(|e| says(&e))?,
            "delay" => settings.delay = parse_duration(value).map_err(|e| says(&e))?,
            "loss" => settings.loss = Share::parse(value)?,
            _ => {
                return Err(format!(
                    "field is {field:?}, but must be rate, burst, qdisc, delay or loss, with up. or down. before it for one \
                     direction"
                ));
            }
        }
        settings.check(largest)?;
        Ok(settings)
    }
}

/// A change of one field, of one direction or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Whether it is of the direction up, and of the direction down.
    pub directions: [bool; 2],
    /// The field.
    pub field: String,
    /// Its new value.
    pub value: String,
}

impl Change {
    /// Reads a key such as `up.rate`, `down.qdisc` or `delay`, and a value.
    #[must_use]
    pub fn new(key: &str, value: &str) -> Self {
        let (directions, field) = match key.split_once('.') {
            Some(("up", field)) => ([true, false], field),
            Some(("down", field)) => ([false, true], field),
            _ => ([true, true], key),
        };
        Self {
            directions,
            field: field.to_owned(),
            value: value.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGEST: Bytes = Bytes::new(1514);

    fn settings() -> Settings {
        let qdisc = QdiscSpec::parse("fq_codel", None).unwrap();
        Settings::new(Rate::from_mbit(10), default_burst(1500, 14), qdisc)
    }

    #[test]
    fn each_field_can_be_changed() {
        let with = |field, value| settings().changed(field, value, LARGEST).unwrap();
        assert_eq!(with("rate", "5mbit").rate, Rate::from_mbit(5));
        assert_eq!(with("burst", "3028b").burst, Bytes::new(3028));
        assert_eq!(with("qdisc", "pfifo limit 5").qdisc.to_string(), "pfifo limit 5");
        assert_eq!(with("delay", "25ms").delay, Duration::from_millis(25));
        assert_eq!(with("loss", "50%").loss, Share::from_parts(1 << 31));
    }

    #[test]
    fn what_cannot_be_is_refused_in_one_sentence() {
        for (field, value, sentence) in [
            (
                "loss",
                "101%",
                "loss is \"101%\", but must be a percentage from 0% to 100%",
            ),
            ("loss", "3", "loss is \"3\", but must be a percentage from 0% to 100%"),
            ("delay", "61s", "delay is 61s, but must be at most 60s"),
            (
                "burst",
                "1513b",
                "burst is 1513b, but must be at least 1514b, the largest packet on the link",
            ),
        ] {
            assert_eq!(settings().changed(field, value, LARGEST).unwrap_err(), sentence);
        }
        let error = settings().changed("colour", "red", LARGEST).unwrap_err();
        assert!(
            error.starts_with("field is \"colour\", but must be rate, burst"),
            "{error}"
        );
        assert!(settings().changed("rate", "0mbit", LARGEST).is_err());
        assert!(settings().changed("qdisc", "fq_coddle", LARGEST).is_err());
    }

    #[test]
    fn a_key_names_one_direction_or_none() {
        assert_eq!(Change::new("up.rate", "1mbit").directions, [true, false]);
        assert_eq!(Change::new("down.qdisc", "pie").directions, [false, true]);
        let both = Change::new("delay", "1ms");
        assert_eq!((both.directions, both.field.as_str()), ([true, true], "delay"));
        assert_eq!(Change::new("left.rate", "1mbit").field, "left.rate");
    }
}
