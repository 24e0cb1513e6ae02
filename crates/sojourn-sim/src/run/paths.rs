//! The ways of all traffic through the network of a scenario: the path with one bottleneck, or a topology.

use crate::identity::Identity;
use crate::network::{EgressSpec, LinkId};
use crate::places::BottlenecksByEnds;
use crate::record::PerDirection;
use crate::simulator::{Destination, SimError, Simulator};
use crate::topology::{Dumbbell, DumbbellSpec, NamedLink, Path, Topology, dumbbell};
use sojourn_scenario::{Access, BottleneckScenario, Directed, Direction, Scenario, TopologyScenario, Traffic};
use sojourn_units::{Duration, Stream};
use std::collections::{BTreeMap, BTreeSet};

/// Where the two ends of some traffic are.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a> {
    /// Station and code point, in a cell.
    pub(super) access: Access,
    /// The base RTT, which names the path through the delay box.
    pub(super) rtt: Duration,
    /// The nodes, of a topology.
    pub(super) nodes: Option<&'a [String; 2]>,
}

impl<'a> Ends<'a> {
    /// Those of `one`.
    pub(super) fn of(s: &Scenario, one: &'a dyn Traffic) -> Self {
        Self {
            access: s.access(one.identity()),
            rtt: one.rtt(),
            nodes: one.ends(),
        }
    }

    /// The identity of packets that go in `direction`. A server is another host for each base RTT, as it has an address
    /// for each on a bed of kernels; each node of a topology has hosts of its own.
    pub(super) fn identity(self, seed: u64, direction: Direction) -> Identity {
        let Access {
            station,
            client,
            server,
            dscp,
        } = self.access;
        let [near, far] = match self.nodes {
            None => [format!("client {station}"), format!("server {}", self.rtt)],
            Some([near, far]) => [format!("node {near}"), format!("node {far}")],
        };
        let hash = |side: &str, host: u16| Stream::named(seed, &format!("host {host} of {side}")).u32();
        let up = Identity {
            dscp,
            source: hash(&near, client),
            destination: hash(&far, server),
        };
        match direction {
            Direction::Up => up,
            Direction::Down => up.reversed(),
        }
    }
}

/// A network, and the ways through it.
pub(super) struct Paths {
    network: Topology,
    index: Index,
    ways: Vec<PerDirection<Vec<LinkId>>>,
    /// By path and by the hosts at its ends, if hosts remember each other.
    destinations: BTreeMap<(usize, u16, u16), PerDirection<Destination>>,
    /// The links that the record reports as the bottleneck.
    pub(super) reported: PerDirection<LinkId>,
    /// The paths of the dumbbell; none of a topology.
    pub(super) dumbbell: Vec<Path>,
}

/// Which way is whose.
enum Index {
    /// By station and, of each, by base RTT.
    Dumbbell(Vec<Duration>),
    /// By the nodes of client and server.
    Nodes(BTreeMap<[String; 2], usize>),
}

impl Paths {
    /// The network of a scenario.
    pub(super) fn new(s: &Scenario) -> Result<Self, SimError> {
        match &s.topology {
            Some(topology) => Self::of_topology(s, topology),
            None => Self::of_dumbbell(s),
        }
    }

    fn of_dumbbell(s: &Scenario) -> Result<Self, SimError> {
        let rtts = s.rtts();
        let side = |name, direction| egress(name, &s.bottleneck(direction), s.spare_acks);
        let spec = DumbbellSpec {
            edge_rate: s.edge_rate,
            edge_burst: s.edge_burst,
            edge_limit: s.edge_limit,
            rtts: rtts.clone(),
            delay_tick: s.delay_tick,
            ..DumbbellSpec::new(
                side("qdisc_up", Direction::Up)?,
                side("qdisc_down", Direction::Down)?,
                s.rtt,
            )
        };
        let Dumbbell {
            topology,
            up,
            down,
            paths,
        } = dumbbell(&spec, s.wifi.as_ref().map(|wifi| &wifi.cell));
        let ways = paths.iter().map(|path| PerDirection {
            up: path.up.links().to_vec(),
            down: path.down.links().to_vec(),
        });
        Ok(Self {
            network: topology,
            index: Index::Dumbbell(rtts),
            ways: ways.collect(),
            destinations: BTreeMap::new(),
            reported: PerDirection { up, down },
            dumbbell: paths,
        })
    }

    fn of_topology(s: &Scenario, t: &TopologyScenario) -> Result<Self, SimError> {
        let mut builder = Topology::builder();
        for node in t.nodes() {
            builder.node(node);
        }
        for link in t.directed() {
            builder.link(named_link(&link, s.spare_acks)?);
        }
        let mut index = BTreeMap::new();
        for ends in s.traffic().filter_map(Traffic::ends) {
            let next = index.len();
            if index.contains_key(ends) {
                continue;
            }
            let [client, server] = ends;
            for (name, from, to) in [("up", client, server), ("down", server, client)] {
                let route = t.route(from, to).unwrap_or_default();
                builder.route(&format!("{name} {next}"), route.iter().map(|link| link.name.as_str()));
            }
            index.insert(ends.clone(), next);
        }
        let network = builder.build()?;
        let way = |name: String| network.route(&name).unwrap_or_default().to_vec();
        let ways = (0..index.len()).map(|i| PerDirection {
            up: way(format!("up {i}")),
            down: way(format!("down {i}")),
        });
        let ways = ways.collect();
        let link = |name: &Option<String>| {
            let name = name.as_deref().unwrap_or_default();
            network.link(name).expect("a checked topology names links that it has")
        };
        let reported = PerDirection {
            up: link(&t.up),
            down: link(&t.down),
        };
        Ok(Self {
            index: Index::Nodes(index),
            ways,
            destinations: BTreeMap::new(),
            reported,
            dumbbell: Vec::new(),
            network,
        })
    }

    /// The network that a simulation is made of.
    pub(super) const fn network(&self) -> &Topology {
        &self.network
    }

    /// Has hosts remember each other from now on: client and server know each other by one address for each path.
    pub(super) fn remember(&mut self, s: &Scenario, simulator: &mut Simulator) {
        let hosts: BTreeSet<(u16, u16)> = s
            .traffic()
            .map(|one| s.access(one.identity()))
            .map(|a| (a.client, a.server))
            .collect();
        let mut both = || PerDirection {
            up: simulator.add_destination(),
            down: simulator.add_destination(),
        };
        let paths = 0..self.ways.len();
        let pairs = paths.flat_map(|path| hosts.iter().map(move |&(client, server)| (path, client, server)));
        self.destinations = pairs.map(|pair| (pair, both())).collect();
    }

    /// The number of a path.
    pub(super) fn path(&self, ends: Ends<'_>) -> usize {
        match &self.index {
            Index::Dumbbell(rtts) => {
                let i = rtts.binary_search(&ends.rtt);
                ends.access.station * rtts.len() + i.expect("every RTT in use was given to the dumbbell")
            }
            Index::Nodes(index) => *ends
                .nodes
                .and_then(|nodes| index.get(nodes))
                .expect("all traffic of a topology has nodes"),
        }
    }

    /// Where a connection goes whose data goes in `direction`.
    pub(super) fn destination(&self, ends: Ends<'_>, direction: Direction) -> Option<Destination> {
        let both = self
            .destinations
            .get(&(self.path(ends), ends.access.client, ends.access.server))?;
        Some(match direction {
            Direction::Up => both.up,
            Direction::Down => both.down,
        })
    }

    /// The way of a packet that goes in `direction`, and the way back.
    pub(super) fn ways(&self, ends: Ends<'_>, direction: Direction) -> (Vec<LinkId>, Vec<LinkId>) {
        let PerDirection { up, down } = self.ways[self.path(ends)].clone();
        match direction {
            Direction::Up => (up, down),
            Direction::Down => (down, up),
        }
    }

    /// The links of a topology that have a rate, by name.
    pub(super) fn rated(&self) -> Vec<(String, LinkId)> {
        let Index::Nodes(_) = self.index else {
            return Vec::new();
        };
        let rated = |id: LinkId| self.network.network().link(id).egress.is_some();
        let links = self.network.links().filter(|(_, id)| rated(*id));
        links.map(|(name, id)| (name.to_owned(), id)).collect()
    }

    /// The bottlenecks between the nodes of a topology: of each way the slowest link, the first of several.
    pub(super) fn bottlenecks_by_ends(&self) -> BottlenecksByEnds {
        let Index::Nodes(index) = &self.index else {
            return BottlenecksByEnds::default();
        };
        let slowest = |way: &[LinkId], otherwise: LinkId| {
            let rate = |id: &LinkId| Some(self.network.network().link(*id).egress.as_ref()?.rate);
            let rated = way.iter().filter_map(|id| Some((rate(id)?, *id)));
            rated.min_by_key(|(rate, _)| *rate).map_or(otherwise, |(_, id)| id)
        };
        let one = |(ends, i): (&[String; 2], &usize)| {
            let PerDirection { up, down } = &self.ways[*i];
            let both = [slowest(up, self.reported.up), slowest(down, self.reported.down)];
            (ends.clone(), both)
        };
        index.iter().map(one).collect()
    }
}

/// The sending side of one direction of the bottleneck, or of a link; `field` names its discipline in an error.
fn egress(field: &str, side: &BottleneckScenario, spare_acks: bool) -> Result<EgressSpec, SimError> {
    let qdisc = side.qdisc.buildable().cloned();
    Ok(EgressSpec {
        rate: side.rate,
        shaping: side.shaping(),
        qdisc: qdisc.map_err(|refusal| SimError::NotModelled(format!("{field}: {refusal}")))?,
        impairment: side.impairment,
        name: None,
        spare_acks,
    })
}

/// A link of a topology.
fn named_link(link: &Directed<'_>, spare_acks: bool) -> Result<NamedLink, SimError> {
    let mut named = NamedLink {
        delay: link.link.delay,
        tick: link.link.delay_tick,
        ..NamedLink::new(&link.name, link.from, link.to)
    };
    if let Some(side) = link.link.bottleneck() {
        named.egress = Some(EgressSpec {
            name: Some(link.name.clone()),
            ..egress(&link.name, &side, spare_acks)?
        });
    }
    Ok(named)
}
