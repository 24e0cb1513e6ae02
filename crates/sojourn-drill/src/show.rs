//! Segments as scripts write them, for sentences.

use crate::script::{Packet, TcpOption, field_names};
use sojourn_units::{Ecn, Time};
use std::fmt;

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(ecn) = self.ecn.filter(|ecn| *ecn != Ecn::NotEct) {
            write!(f, "[{ecn}] ")?;
        }
        let end = self.start.wrapping_add(self.len);
        write!(f, "{} {}:{end}({})", self.flags, self.start, self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                let texts: Vec<String> = options.iter().map(ToString::to_string).collect();
                write!(f, " <{}>", texts.join(","))
            }
        }
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nop => f.write_str("nop"),
            Self::End => f.write_str("eol"),
            Self::Mss(n) => write!(f, "mss {n}"),
            Self::SackOk => f.write_str("sackOK"),
            Self::Timestamps(value, echo) => write!(f, "TS val {value} ecr {echo}"),
            Self::WindowScale(n) => write!(f, "wscale {n}"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(start, end)| write!(f, " {start}:{end}"))
            }
            Self::FastOpen(cookie) => named(f, "FO", cookie),
            Self::FastOpenExperiment(cookie) => named(f, "FOEXP", cookie),
            Self::AccEcn(order, fields) => {
                f.write_str("ECN")?;
                let mut named = field_names(*order).into_iter().zip(fields);
                named.try_for_each(|(name, value)| write!(f, " {name} {value}"))
            }
            Self::Md5(digest) => named(f, "md5", digest),
            Self::Other(word) => f.write_str(word),
        }
    }
}

/// An option with bytes, which are written in hexadecimal digits.
fn named(f: &mut fmt::Formatter<'_>, name: &str, bytes: &[u8]) -> fmt::Result {
    f.write_str(name)?;
    if !bytes.is_empty() {
        f.write_str(" ")?;
    }
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Seconds with six digits.
pub(crate) fn seconds(at: Time) -> String {
    format!("{:.6}", at.as_secs_f64())
}
