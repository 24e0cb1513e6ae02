//! What the captures at both ends tell: round-trip times of each flow, and which datagrams of flushes arrived.

use crate::agent::actor::{AgentError, World};
use crate::flush::config::DISCARD;
use sojourn_bed::ports;
use sojourn_trace::pairs::{PairSettings, packet_pairs};
use sojourn_trace::{Protocol, Reader, TraceError, identity};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

const SECOND: u64 = 1_000_000_000;

fn open(path: &Path) -> Result<Reader<'static>, TraceError> {
    let file = File::open(path).map_err(|_| TraceError::Io { records: 0 })?;
    Reader::new(BufReader::new(file))
}

fn unread(path: &Path, error: &TraceError) -> AgentError {
    AgentError::Plan(format!("the capture {} cannot be read: {error}", path.display()))
}

/// Of each of so many flows: when a pair of packets was complete and what their round-trip time was, by captures at
/// the client and at the server. That of a flow down is measured from the client, too.
pub(super) fn pairs(captures: [&Path; 2], flows: usize, world: &dyn World) -> Result<Vec<Vec<(i64, u64)>>, AgentError> {
    let settings = PairSettings {
        protocol: Some(Protocol::Tcp),
        ..PairSettings::default()
    };
    let mut all = Vec::new();
    let report = packet_pairs(&|| open(captures[0]), &|| open(captures[1]), &settings, |pair| {
        all.push(pair);
    });
    let report = report.map_err(|(which, error)| unread(captures[which], &error))?;
    for (side, path) in report.sides.iter().zip(captures) {
        if let Some(damage) = &side.damage {
            return Err(unread(path, damage));
        }
    }
    let mut found = vec![Vec::new(); flows];
    for pair in all {
        let c = report.conversations[pair.conversation as usize].conversation;
        // The port of the side that connected is above all of the plan's.
        let port = c.low.port().min(c.high.port());
        let flow = port.checked_sub(ports::FLOWS).map(usize::from);
        if let Some(of_flow) = flow.and_then(|flow| found.get_mut(flow)) {
            let at = world.at((pair.at_ns / SECOND).cast_signed(), (pair.at_ns % SECOND).cast_signed());
            of_flow.push((at, pair.rtt_ns));
        }
    }
    Ok(found)
}

/// Bytes on the wire of a datagram without payload: with such the hosts of a bed are introduced.
const EMPTY: u32 = 60;

/// How many datagrams of flushes are in a capture.
pub(super) fn arrived(capture: &Path) -> Result<u64, AgentError> {
    let failed = |e: TraceError| unread(capture, &e);
    let mut reader = open(capture).map_err(failed)?;
    let mut count = 0;
    while let Some(record) = reader.next().map_err(failed)? {
        if let Ok(found) = identity(record.link, record.bytes, record.wire)
            && found.conversation.protocol == Protocol::Udp
            && record.wire > EMPTY
        {
            let c = found.conversation;
            let to = if found.from_low { c.high } else { c.low };
            count += u64::from(to.port() == DISCARD);
        }
    }
    Ok(count)
}
