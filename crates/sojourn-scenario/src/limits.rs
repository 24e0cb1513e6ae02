//! What is refused because no machine should be asked for it. All such limits are here, with their reasons.
//!
//! None depends on the machine, so a scenario is valid everywhere or nowhere. Whoever has more memory than most may allow more
//! for one command ([`Limits`]); a limit on the text or on a list has no such way around it.

use crate::cost::Cost;
use crate::traffic::KINDS;
use crate::{ScenarioError, fail};
use serde_json::Value;
use sojourn_units::parse_bytes;

/// Bytes of a scenario's text. One with 10,000 flows, all their keys written out, has 4 MB. Reading takes some twenty times as
/// much memory as the text has bytes.
const TEXT_MAX: usize = 16 << 20;

/// All traffic together. Routes are numbered with 16 bits, and each takes two.
pub(crate) const FLOWS_MAX: usize = 10_000;

/// Entries of `wifi.stations` and `wifi.groups` that are read at all; the cell has its own, smaller bounds.
pub(crate) const STATIONS_MAX: usize = 10_000;
pub(crate) const GROUPS_MAX: usize = 10_000;

/// Most bins of a series, and events of one kind that the text sets the rate of. More points than any figure shows.
pub(crate) const BINS_MAX: u64 = 1_000_000;

/// Memory that one run may take, in tc's spelling of sizes.
const MEMORY: &str = "SOJOURN_MEMORY";
/// Packets that one run may have.
const PACKETS: &str = "SOJOURN_PACKETS";

/// A variable of the environment; `None` if it is not set, or empty.
fn variable(name: &str) -> Result<Option<String>, String> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(format!("{name} is not text, but must be in UTF-8")),
    }
}

/// What a run may come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory, bytes.
    pub memory: u64,
    /// Packets offered to the network, and what takes as long as one.
    pub packets: u64,
}

impl Limits {
    /// Where nothing else is said.
    ///
    /// 4 GB: a small machine has 8, on which two runs go side by side. The runs of the papers need a hundredth of it.
    ///
    /// 10^11 packets take a core about a day: an hour in both directions at 100 Gbit/s is within it, a day at 100 Mbit/s takes a
    /// fiftieth. What needs more is more likely a slip of the unit than meant; time is not scarce, so nothing else is refused for it.
    pub const DEFAULT: Self = Self {
        memory: 4_000_000_000,
        packets: 100_000_000_000,
    };

    /// The usual limits, with those that the environment sets instead (`SOJOURN_MEMORY`, `SOJOURN_PACKETS`): what is valid
    /// depends on what a program is told, never on the machine.
    ///
    /// # Errors
    /// A sentence, if the environment has something else than a size and a number.
    pub fn allowed() -> Result<Self, String> {
        let mut limits = Self::DEFAULT;
        if let Some(text) = variable(MEMORY)? {
            limits.memory = parse_bytes(&text).map_err(|e| format!("{MEMORY}: {e}"))?.get();
        }
        if let Some(text) = variable(PACKETS)? {
            let rule = "a whole number of packets, such as 1000000000000";
            let number = text.parse();
            limits.packets = number.map_err(|_| format!("{PACKETS} is {text:?}, but must be {rule}"))?;
        }
        Ok(limits)
    }

    /// Refuses a run that needs more.
    ///
    /// # Errors
    /// [`ScenarioError`]: what needs most, how much, and what would make it less.
    pub(crate) fn check(&self, cost: &Cost) -> Result<(), ScenarioError> {
        if cost.packets > self.packets {
            return Err(ScenarioError::because(format!(
                "this run has about {} packets, but at most {} are allowed, which take a day: shorten duration or lower the rates",
                count(cost.packets),
                count(self.packets)
            )));
        }
        if cost.memory <= self.memory {
            return Ok(());
        }
        let most = cost.parts.iter().max_by_key(|part| part.bytes);
        let (what, bytes, remedy) = most.map_or(("this run", cost.memory, "shorten duration"), |part| {
            (part.what.as_str(), part.bytes, part.remedy)
        });
        // Where one part is nearly all of it, the rest only distracts.
        let rest = if bytes > self.memory {
            String::new()
        } else {
            format!(" of the {} of this run", size(cost.memory))
        };
        Err(ScenarioError::because(format!(
            "{what} need about {}{rest}, but at most {} are allowed: {remedy}",
            size(bytes),
            size(self.memory)
        )))
    }
}

/// The limits by name, for the table of docs/limits.md.
pub const NAMED: [(&str, u64); 7] = [
    ("memory of a run", Limits::DEFAULT.memory),
    ("packets of a run", Limits::DEFAULT.packets),
    (KINDS, FLOWS_MAX as u64),
    ("entries of wifi.stations", STATIONS_MAX as u64),
    ("entries of wifi.groups", GROUPS_MAX as u64),
    ("bins of a series", BINS_MAX),
    ("bytes of a scenario", TEXT_MAX as u64),
];

/// Refuses a text that is too long to be read.
pub(crate) fn check_text(json: &str) -> Result<(), ScenarioError> {
    if json.len() > TEXT_MAX {
        let found = format!("a text of {} bytes", json.len());
        return fail("scenario", found, format!("at most {TEXT_MAX} bytes"));
    }
    Ok(())
}

/// Refuses a list that is too long, before anything is made of its entries.
pub(crate) fn check_list(field: &str, value: Option<&Value>, most: usize) -> Result<(), ScenarioError> {
    let length = value.and_then(Value::as_array).map_or(0, Vec::len);
    if length > most {
        return fail(
            field,
            format!("a list of {length}"),
            format!("a list of at most {most}"),
        );
    }
    Ok(())
}

/// A number of bytes for people.
fn size(bytes: u64) -> String {
    let units = [
        (1_000_000_000_000, "TB"),
        (1_000_000_000, "GB"),
        (1_000_000, "MB"),
        (1_000, "kB"),
    ];
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| bytes >= *unit)
        .unwrap_or((1, "bytes"));
    let number = format!("{:.1}", bytes as f64 / unit as f64);
    format!("{} {name}", number.trim_end_matches(".0"))
}

/// A large number for people: with a power of ten where it is hard to read otherwise.
fn count(n: u64) -> String {
    if n < 10_000_000 {
        return n.to_string();
    }
    let exponent = n.ilog10();
    let mantissa = format!("{:.1}", n as f64 / 10u64.pow(exponent) as f64);
    match mantissa.trim_end_matches(".0") {
        "1" => format!("10^{exponent}"),
        mantissa => format!("{mantissa} * 10^{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        let sizes = [
            (999, "999 bytes"),
            (1_000, "1 kB"),
            (4_000_000_000, "4 GB"),
            (14_449_000_000, "14.4 GB"),
        ];
        for (bytes, text) in sizes {
            assert_eq!(size(bytes), text);
        }
        for (n, text) in [
            (12, "12"),
            (10_000_000, "10^7"),
            (100_000_000_000, "10^11"),
            (1_234_000_000, "1.2 * 10^9"),
        ] {
            assert_eq!(count(n), text);
        }
    }
}
