//! Round-trip times from two captures.

use crate::error::{ParamError, param};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value, json};
use sojourn_trace::pairs::{ConversationReport, Pair, PairReport, PairSettings, SideCounts, packet_pairs as measure};
use sojourn_trace::{Protocol, Reader, Skip, TraceError};
use std::fs::File;
use std::io::BufReader;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// A day, which is more than any packet is under way.
const LONGEST_NS: u64 = 86_400_000_000_000;

/// Times, round-trip times and numbers of conversations of all pairs: little-endian 64, 64 and 32 bits.
type Columns<'py> = (String, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Measures the round-trip times between the points at which two captures were taken (`sojourn rtt`).
///
/// Answers a report, JSON; and of each pair when it was complete (ns since 1970, by the first capture's clock), how
/// long it is (ns), and the number of its conversation in the report: little-endian, unsigned, of 8, 8 and 4 bytes.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "Python's own interface"
)]
pub(crate) fn packet_pairs<'py>(
    py: Python<'py>,
    a: PathBuf,
    b: PathBuf,
    hosts: Vec<String>,
    ports: Vec<u16>,
    protocol: Option<&str>,
    horizon_ns: u64,
    gap_ns: u64,
) -> PyResult<Columns<'py>> {
    let settings = settings(&hosts, ports, protocol, horizon_ns, gap_ns).map_err(param)?;
    let measured = py.detach(|| {
        let mut columns = [Vec::new(), Vec::new(), Vec::new()];
        let report = measure(&|| open(&a), &|| open(&b), &settings, |pair: Pair| {
            columns[0].extend(pair.at_ns.to_le_bytes());
            columns[1].extend(pair.rtt_ns.to_le_bytes());
            columns[2].extend(pair.conversation.to_le_bytes());
        });
        report.map(|report| (value_of(&report), columns))
    });
    let (report, columns) = measured.map_err(|(which, error)| unread([&a, &b][which], &error))?;
    let [at, rtt, conversation] = columns.map(|column| PyBytes::new(py, &column));
    Ok((report.to_string(), at, rtt, conversation))
}

fn settings(
    hosts: &[String],
    ports: Vec<u16>,
    protocol: Option<&str>,
    horizon_ns: u64,
    gap_ns: u64,
) -> Result<PairSettings, String> {
    let address = |text: &String| {
        text.parse::<IpAddr>()
            .map_err(|_| format!("host is {text:?}, but must be an IP address"))
    };
    let named = |name: &str| {
        Protocol::from_name(name).ok_or_else(|| format!("protocol is {name:?}, but must be tcp, udp or icmp"))
    };
    for (field, ns) in [("horizon", horizon_ns), ("gap", gap_ns)] {
        if !(1..=LONGEST_NS).contains(&ns) {
            return Err(format!("{field} is {ns} ns, but must be from 1 ns to a day"));
        }
    }
    Ok(PairSettings {
        horizon_ns,
        gap_ns,
        hosts: hosts.iter().map(address).collect::<Result<_, _>>()?,
        ports,
        protocol: protocol.map(named).transpose()?,
    })
}

fn open(path: &Path) -> Result<Reader<'static>, TraceError> {
    let file = File::open(path).map_err(|_| TraceError::Io { records: 0 })?;
    Reader::new(BufReader::with_capacity(1 << 18, file))
}

/// The sentence on a capture that cannot be begun.
fn unread(path: &Path, error: &TraceError) -> PyErr {
    let why = match error {
        TraceError::NoCapture => "must be a capture, pcap or pcapng".to_owned(),
        error => match File::open(path) {
            Err(e) => format!("it cannot be opened: {e}"),
            Ok(_) => error.to_string(),
        },
    };
    ParamError::new_err(format!("capture is {:?}, but {why}", path.display().to_string()))
}

fn value_of(report: &PairReport) -> Value {
    json!({
        "pairs": report.pairs,
        "unpaired": report.unpaired,
        "apart": report.apart,
        "negative": report.negative,
        "offset_ns": report.offset_ns.map(|ns| ns as i64),
        "captures": report.sides.iter().map(side).collect::<Vec<_>>(),
        "flows": report.conversations.iter().map(conversation).collect::<Vec<_>>(),
    })
}

fn side(side: &SideCounts) -> Value {
    let reasons = Skip::ALL.into_iter().filter(|&skip| side.skipped.of(skip) > 0);
    let skipped: Map<String, Value> = reasons
        .map(|skip| {
            let name = match skip {
                Skip::NotTcp => "other_protocol",
                Skip::LaterFragment => "fragment",
                skip => skip.name(),
            };
            (name.to_owned(), side.skipped.of(skip).into())
        })
        .collect();
    json!({
        "frames": side.frames,
        "skipped": skipped,
        "unselected": side.unselected,
        "crowded": side.crowded,
        "packets": side.packets,
        "matched": side.matched,
        "missing": side.missing,
        "outside": side.outside,
        "ambiguous": side.ambiguous,
        "duplicates": side.duplicates,
        "first_ns": side.span.map(|(first, _)| first),
        "last_ns": side.span.map(|(_, last)| last),
        "damage": side.damage.as_ref().map(ToString::to_string),
    })
}

fn conversation(report: &ConversationReport) -> Value {
    let c = report.conversation;
    let ends = match report.low_is_near {
        Some(false) => [c.high, c.low],
        _ => [c.low, c.high],
    };
    let forth = usize::from(report.low_is_near == Some(false));
    json!({
        "protocol": c.protocol.name(),
        "near": ends[0].to_string(),
        "far": ends[1].to_string(),
        "both_ways": report.low_is_near.is_some(),
        "matched_forth": report.matched[forth],
        "matched_back": report.matched[1 - forth],
        "pairs": report.pairs,
    })
}
