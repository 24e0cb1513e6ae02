//! The five-node path: one bottleneck in each direction.

use super::{NamedLink, Topology};
use crate::network::{CellId, EgressSpec, Hop, LinkId, Shaping};
use sojourn_qdisc::QdiscSpec;
use sojourn_scenario::EDGE_LIMIT;
use sojourn_units::{Bytes, Duration, Rate};
use sojourn_wifi::{CellSpec, NodeId as WifiNode};

/// The parameters of [`dumbbell()`].
#[derive(Clone, Debug)]
pub struct DumbbellSpec {
    /// The bottleneck from client to server.
    pub up: EgressSpec,
    /// That from server to client.
    pub down: EgressSpec,
    /// Rate of the links between hosts and routers; `None` for infinitely fast ones.
    pub edge_rate: Option<Rate>,
    /// Depth of their token buckets; `None` for wires.
    pub edge_burst: Option<Bytes>,
    /// Packets that the FIFO before each of them holds.
    pub edge_limit: u32,
    /// The base round-trip times of the flows, each once.
    pub rtts: Vec<Duration>,
    /// See [`crate::network::LinkSpec::tick`]; of the delay box.
    pub delay_tick: Duration,
}

impl DumbbellSpec {
    /// One with infinitely fast links at its edges, and flows of one base RTT.
    #[must_use]
    pub fn new(up: EgressSpec, down: EgressSpec, rtt: Duration) -> Self {
        Self {
            up,
            down,
            edge_rate: None,
            edge_burst: None,
            edge_limit: EDGE_LIMIT,
            rtts: vec![rtt],
            delay_tick: Duration::ZERO,
        }
    }
}

/// The links from a host to another one, by what they are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// From the sending host to its router.
    pub first: LinkId,
    /// Through the queue under test.
    pub bottleneck: LinkId,
    /// Through the delay box.
    pub delay: LinkId,
    /// From the other router to the receiving host.
    pub last: LinkId,
}

impl Way {
    /// All of them, in order.
    #[must_use]
    pub const fn links(self) -> [LinkId; 4] {
        [self.first, self.bottleneck, self.delay, self.last]
    }

    /// Those from the sender's router on.
    #[must_use]
    pub const fn from_router(self) -> [LinkId; 3] {
        [self.bottleneck, self.delay, self.last]
    }
}

/// The two ways between a client and the server for flows of one base RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Client to server.
    pub up: Way,
    /// Server to client.
    pub down: Way,
}

/// The five-node path, and what its links are for.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    /// The network.
    pub topology: Topology,
    /// The upstream bottleneck.
    pub up: LinkId,
    /// The downstream bottleneck.
    pub down: LinkId,
    /// The paths of the first client for each of [`DumbbellSpec::rtts`], then those of the next client.
    pub paths: Vec<Path>,
}

/// The five-node path: client, router (upstream bottleneck), delay box, router (downstream bottleneck), server.
///
/// Source: seed 000, Figure 1. The delay box holds every packet for half the flow's RTT in each direction; flows of
/// different RTTs take parallel links through it, as netem's classes do. An odd nanosecond of an RTT goes to the
/// upstream half.
///
/// With a cell, each client is a station and the first router the access point (seed 002 section 4, seed 000 section
/// 7). The links between clients and router are then through the air; `spec.edge_rate` is that of the server's.
///
/// The links are called `up` and `down` (the bottlenecks), `client out`, `client in`, `server in`, `server out`, and
/// `delay up 50ms` and `delay down 50ms` for each RTT; the routes `client up 50ms` and `client down 50ms`. Stations
/// after the first one have `station 1` in place of `client`.
///
/// # Panics
/// If an RTT occurs twice.
#[must_use]
pub fn dumbbell(spec: &DumbbellSpec, cell: Option<&CellSpec>) -> Dumbbell {
    let mut t = Topology::builder();
    for node in ["client", "r1", "delay", "r2", "server"] {
        t.node(node);
    }
    let edge = |name: &str, from: &str, to: &str| NamedLink {
        egress: edge(spec),
        ..NamedLink::new(name, from, to)
    };
    let access = |station: u16, name: &str, out: bool| {
        let (name, node) = (format!("{name} {}", if out { "out" } else { "in" }), name);
        let (from, to) = if out { (node, "r1") } else { ("r1", node) };
        match cell {
            None => edge(&name, from, to),
            Some(_) => NamedLink {
                hop: Some(hop(station, out)),
                ..NamedLink::new(&name, from, to)
            },
        }
    };
    // The first client's links have the same numbers with a cell as without, and so have their random streams; those of
    // others come last.
    t.link(access(0, FIRST, true))
        .link(bottleneck(&spec.up, "up", "r1"))
        .link(edge("server in", "r2", "server"))
        .link(edge("server out", "server", "r2"))
        .link(bottleneck(&spec.down, "down", "r2"))
        .link(access(0, FIRST, false));
    for rtt in &spec.rtts {
        let half = *rtt / 2;
        for (name, to, delay) in [("up", "r2", rtt.saturating_sub(half)), ("down", "r1", half)] {
            t.link(NamedLink {
                delay,
                tick: spec.delay_tick,
                ..NamedLink::new(&format!("delay {name} {rtt}"), "delay", to)
            });
        }
    }
    let mut clients = vec![FIRST.to_owned()];
    if let Some(cell) = cell {
        t.cell(cell.clone());
        for station in 1..cell.stations.len() as u16 {
            let name = format!("station {station}");
            t.node(&name)
                .link(access(station, &name, true))
                .link(access(station, &name, false));
            clients.push(name);
        }
    }
    let mut names = Vec::new();
    for (client, rtt) in clients.iter().flat_map(|c| spec.rtts.iter().map(move |rtt| (c, rtt))) {
        let both = ["up", "down"].map(|direction| format!("{client} {direction} {rtt}"));
        let (out, into) = (format!("{client} out"), format!("{client} in"));
        t.route(&both[0], [&*out, "up", &format!("delay up {rtt}"), "server in"])
            .route(&both[1], ["server out", "down", &format!("delay down {rtt}"), &*into]);
        names.push(both);
    }
    let topology = t
        .build()
        .expect("the five-node path is connected, and each RTT is in it once");
    let way = |name: &String| match topology.route(name) {
        Some(&[first, bottleneck, delay, last]) => Way {
            first,
            bottleneck,
            delay,
            last,
        },
        _ => unreachable!("a way has four links"),
    };
    let [up, down] = ["up", "down"].map(|name| topology.link(name).expect("it was added"));
    let paths = names
        .iter()
        .map(|[up, down]| Path {
            up: way(up),
            down: way(down),
        })
        .collect();
    Dumbbell {
        topology,
        up,
        down,
        paths,
    }
}

/// The name of the first client.
const FIRST: &str = "client";

/// What the links between hosts and routers have.
fn edge(spec: &DumbbellSpec) -> Option<EgressSpec> {
    let fifo = QdiscSpec::parse(&format!("pfifo limit {}", spec.edge_limit), None).expect("a plain FIFO is valid");
    let bucket = |burst| Shaping::TokenBucket { burst };
    spec.edge_rate.map(|rate| EgressSpec {
        shaping: spec.edge_burst.map_or(Shaping::Wire, bucket),
        ..EgressSpec::new(rate, fifo)
    })
}

fn bottleneck(side: &EgressSpec, name: &str, from: &str) -> NamedLink {
    NamedLink {
        egress: Some(EgressSpec {
            name: Some(name.to_owned()),
            ..side.clone()
        }),
        ..NamedLink::new(name, from, "delay")
    }
}

/// The way of a station through the only cell, to its access point or back.
fn hop(station: u16, out: bool) -> Hop {
    let (ap, station) = (WifiNode::ACCESS_POINT, WifiNode::of_station(station));
    let (from, to) = if out { (station, ap) } else { (ap, station) };
    Hop {
        cell: CellId(0),
        from,
        to,
    }
}
