//! Ready-made networks. Each is one function; any other is built with [`Network`].

use crate::network::{EgressSpec, Hop, LinkId, LinkSpec, Network, NodeId, Shaping};
use sojourn_qdisc::QdiscSpec;
use sojourn_scenario::Impairment;
use sojourn_units::{Bytes, Duration, Rate};
use sojourn_wifi::{CellSpec, NodeId as WifiNode};

/// One direction of the bottleneck.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// Its rate.
    pub rate: Rate,
    /// Depth of the token bucket.
    pub burst: Bytes,
    /// The discipline under test.
    pub qdisc: QdiscSpec,
    /// What befalls packets after it.
    pub impairment: Impairment,
}

/// The parameters of [`dumbbell`].
#[derive(Clone, Debug)]
pub struct DumbbellSpec {
    /// Client to server.
    pub up: Bottleneck,
    /// Server to client.
    pub down: Bottleneck,
    /// Rate of the links between hosts and routers; `None` for infinitely fast ones.
    pub edge_rate: Option<Rate>,
    /// Depth of their token buckets; `None` for wires.
    pub edge_burst: Option<Bytes>,
    /// Packets that the FIFO before each of them holds.
    pub edge_limit: u32,
    /// The base round-trip times of the flows, each once.
    pub rtts: Vec<Duration>,
    /// See [`LinkSpec::tick`]; of the delay box.
    pub delay_tick: Duration,
    /// See [`EgressSpec::spare_acks`].
    pub spare_acks: bool,
}

/// The two ways between client and server for flows of one base RTT.
#[derive(Clone, Debug)]
pub struct Path {
    /// Client to server.
    pub up: Vec<LinkId>,
    /// Server to client.
    pub down: Vec<LinkId>,
}

/// The five-node path: client, router (upstream bottleneck), delay box, router (downstream bottleneck), server.
///
/// Source: seed 000, Figure 1. The delay box holds every packet for half the flow's RTT in each direction; flows of
/// different RTTs take parallel links through it, as netem's classes do. Answers the network and, for each of
/// `spec.rtts`, its path. An odd nanosecond of an RTT goes to the upstream half.
///
/// # Panics
/// Never: the discipline of the edges is valid.
#[must_use]
pub fn dumbbell(spec: &DumbbellSpec) -> (Network, Vec<Path>) {
    build(spec, None)
}

/// The same path with a cell at its near end: each client is a station, and the first router the access point. The links between
/// client and router are through the air; `spec.edge_rate` is that of the server's.
///
/// Source: seed 002 section 4 (a server behind the access point), seed 000 section 7. Answers the network and the paths of
/// the first station for each of `spec.rtts`, then those of the next.
///
/// # Panics
/// If the cell has no station.
#[must_use]
pub fn wifi_dumbbell(spec: &DumbbellSpec, cell: &CellSpec) -> (Network, Vec<Path>) {
    build(spec, Some(cell))
}

/// Both. The first client's links have the same numbers with a cell as without; those of others come last.
fn build(spec: &DumbbellSpec, cell: Option<&CellSpec>) -> (Network, Vec<Path>) {
    let mut net = Network::default();
    let [client, r1, middle, r2, server] = ["client", "r1", "delay", "r2", "server"].map(|n| net.add_node(n));
    let cell = cell.map(|cell| (net.add_cell(cell.clone()), cell.stations.len() as u16));
    let edge = |net: &mut Network, from, to| {
        let egress = spec.edge_rate.map(|rate| EgressSpec {
            rate,
            shaping: spec
                .edge_burst
                .map_or(Shaping::Wire, |burst| Shaping::TokenBucket { burst }),
            qdisc: QdiscSpec::parse(&format!("pfifo limit {}", spec.edge_limit), None).expect("a plain FIFO is valid"),
            name: None,
            spare_acks: false,
        });
        net.add_link(LinkSpec {
            from,
            to,
            egress,
            delay: Duration::ZERO,
            tick: Duration::ZERO,
        })
    };
    let bottleneck = |net: &mut Network, from, to, b: &Bottleneck, name: &str| {
        let egress = EgressSpec {
            rate: b.rate,
            shaping: Shaping::TokenBucket { burst: b.burst },
            qdisc: b.qdisc.clone(),
            name: Some(name.to_owned()),
            spare_acks: spec.spare_acks,
        };
        let link = net.add_link(LinkSpec {
            from,
            to,
            egress: Some(egress),
            delay: Duration::ZERO,
            tick: Duration::ZERO,
        });
        if !b.impairment.is_none() {
            net.impair(link, b.impairment);
        }
        link
    };
    let access = |net: &mut Network, from: NodeId, to: NodeId, up: bool, station: u16| {
        let Some((cell, _)) = cell else {
            return edge(net, from, to);
        };
        let link = net.add_link(LinkSpec {
            from,
            to,
            egress: None,
            delay: Duration::ZERO,
            tick: Duration::ZERO,
        });
        let (ap, station) = (WifiNode::ACCESS_POINT, WifiNode::of_station(station));
        let (from, to) = if up { (station, ap) } else { (ap, station) };
        net.lead_through(link, Hop { cell, from, to });
        link
    };
    let from_client = access(&mut net, client, r1, true, 0);
    let up = bottleneck(&mut net, r1, middle, &spec.up, "up");
    let to_server = edge(&mut net, r2, server);
    let from_server = edge(&mut net, server, r2);
    let down = bottleneck(&mut net, r2, middle, &spec.down, "down");
    let to_client = access(&mut net, r1, client, false, 0);
    let lines: Vec<(LinkId, LinkId)> = spec
        .rtts
        .iter()
        .map(|&rtt| {
            let half = rtt / 2;
            let rest = rtt.saturating_sub(half);
            let forth = net.add_link(LinkSpec {
                from: middle,
                to: r2,
                egress: None,
                delay: rest,
                tick: spec.delay_tick,
            });
            let back = net.add_link(LinkSpec {
                from: middle,
                to: r1,
                egress: None,
                delay: half,
                tick: spec.delay_tick,
            });
            (forth, back)
        })
        .collect();
    let mut clients = vec![(from_client, to_client)];
    for station in 1..cell.map_or(1, |(_, stations)| stations) {
        let client = net.add_node("client");
        let from = access(&mut net, client, r1, true, station);
        clients.push((from, access(&mut net, r1, client, false, station)));
    }
    let of_client = |(from_client, to_client)| {
        lines.iter().map(move |&(forth, back)| Path {
            up: vec![from_client, up, forth, to_server],
            down: vec![from_server, down, back, to_client],
        })
    };
    (net, clients.into_iter().flat_map(of_client).collect())
}
