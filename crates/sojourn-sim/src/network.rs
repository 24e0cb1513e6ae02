//! Nodes, links and routes: the description of a network, before it runs.

use sojourn_qdisc::QdiscSpec;
use sojourn_scenario::{Impairment, UDP_FRAME, usual_burst};
use sojourn_units::{Bytes, Duration, Rate};
use sojourn_wifi::CellSpec;
use std::collections::VecDeque;
use thiserror::Error;

/// A node of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u16);

/// A link of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub(crate) u16);

/// A cell of a [`Network`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellId(pub(crate) u16);

/// The way of one owner's packets in one direction: the number by which links and meters know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteId(pub(crate) u16);

/// The two routes of a flow, a probe, a web client, a download or a flusher's bursts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePair {
    /// Of what the opener of the conversation sends.
    pub forth: RouteId,
    /// Of what the other end answers.
    pub back: RouteId,
}

impl RoutePair {
    /// The route that the opener sends on, or the other one.
    #[must_use]
    pub const fn of(self, opener: bool) -> RouteId {
        if opener { self.forth } else { self.back }
    }

    /// Both, first that of the opener.
    #[must_use]
    pub const fn both(self) -> [RouteId; 2] {
        [self.forth, self.back]
    }
}

/// A host as another one knows it, which remembers how connections there went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination(pub(crate) u16);

/// A way through a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Which cell.
    pub cell: CellId,
    /// Who sends.
    pub from: sojourn_wifi::NodeId,
    /// To whom: one of the two is the access point.
    pub to: sojourn_wifi::NodeId,
}

pub use sojourn_scenario::Shaping;

/// The sending side of a link that has a rate.
#[derive(Clone, Debug)]
pub struct EgressSpec {
    /// Its rate.
    pub rate: Rate,
    /// How it keeps it.
    pub shaping: Shaping,
    /// The queue discipline before it.
    pub qdisc: QdiscSpec,
    /// What befalls packets that have left it: some are lost, the others take longer than the link's delay by a varying
    /// time.
    pub impairment: Impairment,
    /// The name in the record; `None` if it is not reported.
    pub name: Option<String>,
    /// Ablation: bare acknowledgements that the discipline drops go around the queue, in the place they would have
    /// had and without link time.
    pub spare_acks: bool,
}

impl EgressSpec {
    /// A token bucket of this rate, as deep as a scenario's with full frames, before this discipline; without impairment.
    #[must_use]
    pub fn new(rate: Rate, qdisc: QdiscSpec) -> Self {
        let burst = usual_burst(rate, Bytes::new(u64::from(UDP_FRAME)));
        Self {
            rate,
            shaping: Shaping::TokenBucket { burst },
            qdisc,
            impairment: Impairment::default(),
            name: None,
            spare_acks: false,
        }
    }
}

/// One direction of a connection between two nodes.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Where it begins.
    pub from: NodeId,
    /// Where it ends.
    pub to: NodeId,
    /// `None` for a link that is infinitely fast and has no queue.
    pub egress: Option<EgressSpec>,
    /// Propagation delay.
    pub delay: Duration,
    /// Packets come out of the delay at multiples of this only, as from an emulator driven by the kernel's timer
    /// tick; zero for at once.
    pub tick: Duration,
}

/// A network that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// No way leads there.
    #[error("there is no route from node {from:?} to node {to:?}")]
    NoRoute {
        /// First node.
        from: String,
        /// Last node.
        to: String,
    },
    /// A route takes no time, so that an answer would come before its question is out.
    #[error("the route from node {from:?} to node {to:?} has neither a rate nor a delay, but must have one")]
    Instant {
        /// First node.
        from: String,
        /// Last node.
        to: String,
    },
    /// More than a simulation can number.
    #[error("the network has {count} {what}, but must have at most {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        count: usize,
        /// How many are allowed.
        limit: usize,
    },
}

/// Any topology: nodes, and links with a rate, a discipline and a delay.
///
/// ```
/// use sojourn_sim::network::{EgressSpec, LinkSpec, Network, Shaping};
/// use sojourn_qdisc::QdiscSpec;
/// use sojourn_units::{Duration, Rate};
///
/// let mut net = Network::default();
/// let (a, b) = (net.add_node("a"), net.add_node("b"));
/// let egress = EgressSpec {
///     shaping: Shaping::Wire,
///     name: Some("ab".into()),
///     ..EgressSpec::new(Rate::from_mbit(10), QdiscSpec::parse("pfifo limit 100", None)?)
/// };
/// net.add_link(LinkSpec { from: a, to: b, egress: Some(egress), delay: Duration::from_millis(5), tick: Duration::ZERO });
/// net.add_link(LinkSpec { from: b, to: a, egress: None, delay: Duration::from_millis(5), tick: Duration::ZERO });
/// assert_eq!(net.route(a, b)?.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Network {
    nodes: Vec<String>,
    links: Vec<LinkSpec>,
    cells: Vec<CellSpec>,
    hops: Vec<(LinkId, Hop)>,
}

impl Network {
    /// A new node. Names are for messages; they need not differ.
    ///
    /// # Panics
    /// Beyond 65,535 nodes.
    pub fn add_node(&mut self, name: &str) -> NodeId {
        self.nodes.push(name.to_owned());
        NodeId(u16::try_from(self.nodes.len() - 1).expect("at most 65,535 nodes"))
    }

    /// A new link.
    ///
    /// # Panics
    /// Beyond 65,534 links.
    pub fn add_link(&mut self, link: LinkSpec) -> LinkId {
        self.links.push(link);
        assert!(self.links.len() < usize::from(u16::MAX), "at most 65,534 links");
        LinkId((self.links.len() - 1) as u16)
    }

    /// A new cell.
    pub fn add_cell(&mut self, cell: CellSpec) -> CellId {
        self.cells.push(cell);
        CellId((self.cells.len() - 1) as u16)
    }

    /// `link`, which has no egress of its own, leads through the air; its delay comes after that.
    pub fn lead_through(&mut self, link: LinkId, hop: Hop) {
        self.hops.push((link, hop));
    }

    /// The cells, in the order of adding.
    pub(crate) fn cells(&self) -> &[CellSpec] {
        &self.cells
    }

    /// The way through a cell that link `link` is, if it is one.
    pub(crate) fn hop(&self, link: usize) -> Option<Hop> {
        let found = self.hops.iter().rfind(|(l, _)| usize::from(l.0) == link);
        found.map(|(_, hop)| *hop)
    }

    /// The links, in the order of adding.
    #[must_use]
    pub fn links(&self) -> &[LinkSpec] {
        &self.links
    }

    /// A link.
    pub(crate) fn link(&self, id: LinkId) -> &LinkSpec {
        &self.links[usize::from(id.0)]
    }

    /// The name of a node.
    pub(crate) fn node_name(&self, id: NodeId) -> &str {
        &self.nodes[usize::from(id.0)]
    }

    /// The route of fewest links; of several, the one whose links were added first.
    ///
    /// # Errors
    /// [`NetworkError`] if there is none, or if it takes no time at all.
    pub fn route(&self, from: NodeId, to: NodeId) -> Result<Vec<LinkId>, NetworkError> {
        let mut came_by: Vec<Option<LinkId>> = vec![None; self.nodes.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (i, link) in self.links.iter().enumerate() {
                if link.from == node && link.to != from && came_by[usize::from(link.to.0)].is_none() {
                    came_by[usize::from(link.to.0)] = Some(LinkId(i as u16));
                    queue.push_back(link.to);
                }
            }
        }
        let mut route = Vec::new();
        let mut node = to;
        while node != from {
            let Some(link) = came_by[usize::from(node.0)] else {
                let [from, to] = [from, to].map(|node| self.node_name(node).to_owned());
                return Err(NetworkError::NoRoute { from, to });
            };
            route.push(link);
            node = self.link(link).from;
        }
        route.reverse();
        self.check_route(&route)?;
        Ok(route)
    }

    /// Checks that a route takes some time.
    pub(crate) fn check_route(&self, route: &[LinkId]) -> Result<(), NetworkError> {
        let takes_time = |l: &LinkId| {
            let link = self.link(*l);
            link.egress.is_some() || !link.delay.is_zero() || self.hop(usize::from(l.0)).is_some()
        };
        if route.iter().any(takes_time) {
            return Ok(());
        }
        let name = |node: Option<NodeId>| node.map_or_else(String::new, |node| self.node_name(node).to_owned());
        Err(NetworkError::Instant {
            from: name(route.first().map(|&l| self.link(l).from)),
            to: name(route.last().map(|&l| self.link(l).to)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(from: NodeId, to: NodeId, ms: u64) -> LinkSpec {
        LinkSpec {
            from,
            to,
            egress: None,
            delay: Duration::from_millis(ms),
            tick: Duration::ZERO,
        }
    }

    #[test]
    fn the_shortest_route_is_found_and_a_missing_one_named() {
        let mut net = Network::default();
        let n: Vec<NodeId> = ["a", "b", "c", "d"].map(|x| net.add_node(x)).into();
        net.add_link(plain(n[0], n[1], 1));
        let bc = net.add_link(plain(n[1], n[2], 1));
        let ac = net.add_link(plain(n[0], n[2], 9));
        assert_eq!(net.route(n[0], n[2]), Ok(vec![ac]));
        assert_eq!(net.route(n[1], n[2]), Ok(vec![bc]));
        let error = net.route(n[2], n[3]).unwrap_err().to_string();
        assert_eq!(error, "there is no route from node \"c\" to node \"d\"");
    }

    #[test]
    fn a_route_without_time_is_refused() {
        let mut net = Network::default();
        let (a, b) = (net.add_node("a"), net.add_node("b"));
        net.add_link(plain(a, b, 0));
        assert!(
            net.route(a, b)
                .unwrap_err()
                .to_string()
                .contains("neither a rate nor a delay")
        );
    }
}
