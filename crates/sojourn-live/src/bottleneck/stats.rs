//! What a bottleneck did, as `tc -s qdisc` prints it, and as JSON.

use super::lateness::Punctuality;
use super::way::Way;
use serde::Serialize;
use sojourn_qdisc::DropReason;
use sojourn_units::format_duration;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a bottleneck did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Since its beginning, s.
    pub seconds: f64,
    /// How long before something was due it waited awake, microseconds.
    pub busy_poll_us: u64,
    /// Whether its thread had the highest priority that a user can give.
    pub prior: bool,
    /// How late a thread woke up that did nothing else, if that was measured (`packets` are wake-ups).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Punctuality>,
    /// Client to server.
    pub up: Direction,
    /// Server to client.
    pub down: Direction,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Shaper, discipline and delay, as `tc -s -j qdisc` has them.
    pub qdiscs: Vec<Entry>,
    /// How late its packets left.
    pub lateness: Punctuality,
    /// Packets that came and are not forwarded by a router, such as multicast.
    pub not_forwarded: u64,
    /// Packets that the host at the end did not take.
    pub not_written: u64,
}

/// One discipline, with the names of `tc -s -j qdisc`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// Its kind.
    pub kind: &'static str,
    /// Its handle.
    pub handle: &'static str,
    /// Whether it is the root; else the one before it is its parent.
    pub root: bool,
    /// As one would type it.
    pub options: String,
    /// Bytes sent.
    pub bytes: u64,
    /// Packets sent.
    pub packets: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Times it had to wait for tokens, or an AQM marked.
    pub overlimits: u64,
    /// Bytes queued.
    pub backlog: u64,
    /// Packets queued.
    pub qlen: u64,
    /// Drops by reason, where there are any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub drops_by_reason: BTreeMap<&'static str, u64>,
    /// Packets marked with congestion experienced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<u64>,
    /// Counters of its kind.
    #[serde(flatten)]
    pub extra: BTreeMap<&'static str, f64>,
}

impl Direction {
    /// What a way did; the last are packets not forwarded and not written.
    #[must_use]
    pub fn of(way: &Way, lateness: Punctuality, [not_forwarded, not_written]: [u64; 2]) -> Self {
        let (settings, carried, stats, backlog) = (way.settings(), way.carried(), way.stats(), way.backlog());
        let (kind, words) = settings.shaper();
        let shaper = Entry {
            kind,
            handle: "1:",
            root: true,
            options: format!("{words} replaced {}", carried.replaced),
            bytes: carried.bytes,
            packets: carried.packets,
            drops: stats.dropped(),
            overlimits: stats.overlimits,
            backlog: backlog.bytes.get(),
            qlen: backlog.packets,
            ..Entry::default()
        };
        let text = settings.qdisc.to_string();
        let discipline = Entry {
            kind: settings.qdisc.kind(),
            handle: "10:",
            root: false,
            options: text.split_once(' ').map_or("", |(_, words)| words).to_owned(),
            bytes: stats.sent_bytes,
            packets: stats.sent_packets,
            drops: stats.dropped(),
            overlimits: stats.marks,
            backlog: backlog.bytes.get(),
            qlen: backlog.packets,
            drops_by_reason: DropReason::OF_A_QDISC
                .iter()
                .map(|reason| (reason.name(), stats.drops[reason.index()]))
                .filter(|(_, drops)| *drops > 0)
                .collect(),
            marks: Some(stats.marks),
            extra: way.extra_stats().into_iter().collect(),
        };
        let behind = Entry {
            kind: "netem",
            handle: "20:",
            root: false,
            options: format!("delay {} loss {}", format_duration(settings.delay), settings.loss),
            bytes: carried.bytes,
            packets: carried.packets - carried.lost,
            drops: carried.lost,
            qlen: way.under_way() as u64,
            ..Entry::default()
        };
        Self {
            qdiscs: vec![shaper, discipline, behind],
            lateness,
            not_forwarded,
            not_written,
        }
    }

    fn write(&self, name: &str, text: &mut String) {
        for entry in &self.qdiscs {
            let place = if entry.root { "root" } else { "parent 1:1" };
            let _ = writeln!(
                text,
                "qdisc {} {} dev {name} {place} {}",
                entry.kind, entry.handle, entry.options
            );
            let _ = writeln!(
                text,
                " Sent {} bytes {} pkt (dropped {}, overlimits {} requeues 0)",
                entry.bytes, entry.packets, entry.drops, entry.overlimits
            );
            let _ = writeln!(text, " backlog {}b {}p requeues 0", entry.backlog, entry.qlen);
            let mut words: Vec<String> = entry
                .drops_by_reason
                .iter()
                .map(|(reason, drops)| format!("drops_{reason} {drops}"))
                .collect();
            words.extend(entry.marks.filter(|m| *m > 0).map(|marks| format!("marks {marks}")));
            words.extend(entry.extra.iter().map(|(name, value)| format!("{name} {value}")));
            for line in words.chunks(5) {
                let _ = writeln!(text, "  {}", line.join(" "));
            }
        }
    }

    fn write_lateness(&self, name: &str, text: &mut String) {
        let late = &self.lateness;
        let _ = write!(
            text,
            "{name}: {} packets left late by {:.1} us (p50), {:.1} us (p99), {:.1} us (p99.9), {:.1} us (max)",
            late.packets, late.p50_us, late.p99_us, late.p999_us, late.max_us
        );
        for (number, what) in [(self.not_forwarded, "not forwarded"), (self.not_written, "not taken")] {
            if number > 0 {
                let _ = write!(text, "; {number} {what}");
            }
        }
        text.push('\n');
    }
}

impl Report {
    /// As `tc -s qdisc` prints it: directions are devices.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.up.write("up", &mut text);
        self.down.write("down", &mut text);
        text
    }

    /// How punctual it was, a line for each direction.
    #[must_use]
    pub fn timing(&self) -> String {
        let mut text = String::new();
        self.up.write_lateness("up", &mut text);
        self.down.write_lateness("down", &mut text);
        if let Some(floor) = &self.floor {
            let _ = writeln!(
                text,
                "floor: a thread that only sleeps woke up late by {:.1} us (p50), {:.1} us (p99), {:.1} us (p99.9), {:.1} us (max)",
                floor.p50_us, floor.p99_us, floor.p999_us, floor.max_us
            );
        }
        text
    }

    /// As one JSON object.
    ///
    /// # Panics
    /// Never: it has numbers and strings only.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("numbers and strings only")
    }
}
