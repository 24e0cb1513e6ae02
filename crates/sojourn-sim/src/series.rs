//! Time series, sampled at a fixed interval.

use sojourn_units::{Duration, Time};

/// What is sampled of a flow: bytes delivered in the measured window so far, and the window in segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowSeries {
    pub(crate) delivered: Vec<u64>,
    pub(crate) cwnd: Vec<u32>,
}

/// What is sampled of an egress: packets queued now, and drops and departures so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinkSeries {
    pub(crate) backlog: Vec<u64>,
    pub(crate) drops: Vec<u64>,
    pub(crate) packets: Vec<u64>,
}

/// All series of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub(crate) times: Vec<Time>,
    pub(crate) flows: Vec<FlowSeries>,
    /// Airtime of each station so far, ns.
    pub(crate) airtimes: Vec<Vec<u64>>,
    /// By link; those without an egress stay empty.
    pub(crate) links: Vec<LinkSeries>,
}

impl Series {
    pub(crate) fn push_time(&mut self, now: Time) {
        self.times.push(now);
    }

    pub(crate) fn push_flow(&mut self, flow: usize, delivered: u64, cwnd: u32) {
        if flow >= self.flows.len() {
            self.flows.resize_with(flow + 1, FlowSeries::default);
        }
        self.flows[flow].delivered.push(delivered);
        self.flows[flow].cwnd.push(cwnd);
    }

    pub(crate) fn push_airtime(&mut self, station: usize, airtime: Duration) {
        if station >= self.airtimes.len() {
            self.airtimes.resize_with(station + 1, Vec::new);
        }
        self.airtimes[station].push(airtime.as_nanos());
    }

    pub(crate) fn push_link(&mut self, link: usize, backlog: u64, drops: u64, packets: u64) {
        if link >= self.links.len() {
            self.links.resize_with(link + 1, LinkSeries::default);
        }
        let s = &mut self.links[link];
        s.backlog.push(backlog);
        s.drops.push(drops);
        s.packets.push(packets);
    }
}
