//! What a run looks like at a moment: packets in the queues, windows, delays. It is for those who draw a run while it
//! goes on; see [`crate::Run::watched`].
//!
//! A run that nobody watches pays one test of an `Option` for each packet that comes to a queue or leaves it.

use sojourn_units::{Duration, Rate};

/// Packets of which a [`QueueView`] tells flow and size, at most: those that came first.
pub const MOST_PACKETS: usize = 4096;

/// What stands in one queue.
///
/// In a scenario with a cell, this is what is on its way in one direction, in the queue of the wire and in the cell. The
/// packets that will leave first come first. Those in the cell count until they are delivered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueueView {
    /// For each packet, in the order of arrival: whose it is, as a number of [`Names::all`]. At most [`MOST_PACKETS`].
    pub flows: Vec<u16>,
    /// For each packet its size on the wire, bytes.
    pub sizes: Vec<u16>,
    /// For each packet how long it has stood.
    pub stood: Vec<Duration>,
    /// What came and left since the last view; not what did so in a cell. Of very many, the first.
    pub passages: Vec<PassageView>,
    /// All packets that stand, and their bytes.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets that departed since the beginning of the run.
    pub departed: u64,
    /// Packets that were dropped since then.
    pub dropped: u64,
    /// Packets that the discipline has marked since then.
    pub marked: u64,
    /// Drops since then, by the numbers of [`Names::all`].
    pub dropped_by_flow: Vec<u64>,
    /// How long the packet that departed last had stood; `None` before the first.
    pub sojourn: Option<Duration>,
    /// The state of the discipline, by the names of `tc -s`.
    pub state: Vec<(&'static str, f64)>,
    /// The rate of the link.
    pub rate: Rate,
}

/// What befell a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassageKind {
    /// It came to the queue.
    Arrival,
    /// It left the queue for the link.
    Departure,
    /// It left with a mark of congestion.
    Marked,
    /// It was dropped.
    Drop,
}

/// A packet that came to a queue, or left it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PassageView {
    /// When, since the beginning of the measured window, s; negative before.
    pub at_s: f64,
    /// Whose it is, as a number of [`Names::all`].
    pub flow: u16,
    /// What befell it.
    pub kind: PassageKind,
    /// How long it had stood; nothing for an arrival.
    pub stood: Duration,
}

/// A TCP flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowView {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Bytes of payload that its receiver has delivered since the beginning of the run.
    pub delivered: u64,
}

/// What a probe has measured.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ping {
    /// When it was sent, since the beginning of the measured window, s; negative before.
    pub at_s: f64,
    /// Its round-trip time, or its one-way delay; `None` if it was lost.
    pub delay: Option<Duration>,
}

/// A packet of a voice call.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VoicePacket {
    /// Whose it is, as a number of [`Names::all`].
    pub flow: u16,
    /// When it was sent, since the beginning of the measured window, s.
    pub at_s: f64,
    /// Its one-way delay; `None` if it was lost.
    pub delay: Option<Duration>,
}

/// A page that was loaded.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Page {
    /// When its load began, since the beginning of the measured window, s.
    pub at_s: f64,
    /// How long it took.
    pub time: Duration,
}

/// A run at a moment.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct View {
    /// Since the beginning of the measured window, s.
    pub now_s: f64,
    /// The share of the run that is done, 0 to 1.
    pub done: f64,
    /// The queue from client to server.
    pub up: QueueView,
    /// The queue from server to client.
    pub down: QueueView,
    /// The TCP flows, in the order of [`Names::flows`].
    pub flows: Vec<FlowView>,
    /// What probes have measured since the last view.
    pub pings: Vec<Ping>,
    /// How long the ping has been under way that was sent first of those that no answer has come to.
    pub waits: Option<Duration>,
    /// What became of packets of voice calls since the last view.
    pub voice: Vec<VoicePacket>,
    /// The pages that were loaded since the last view.
    pub pages: Vec<Page>,
    /// Airtime of each station since the last view; empty without a cell.
    pub airtime: Vec<Duration>,
}

/// The names of what a [`View`] numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Names {
    /// Of all that sends packets: flows, probes, web clients, downloads, and last the flusher if there is one.
    pub all: Vec<String>,
    /// Of the TCP flows.
    pub flows: Vec<String>,
    /// Of the stations of a cell.
    pub stations: Vec<String>,
}
