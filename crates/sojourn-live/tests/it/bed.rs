//! Jobs for the agent: a row of hosts, and netlink messages written by hand (`linux/rtnetlink.h`,
//! `linux/pkt_sched.h`).

use serde_json::{Value, json};
use std::fmt::Write as _;

/// `NLM_F_REQUEST | NLM_F_ACK`.
const REQUEST: u16 = 5;
/// `NLM_F_CREATE | NLM_F_EXCL`.
const NEW: u16 = 0x600;
const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const NEW_QDISC: u16 = 36;
const CLIENT: [u8; 4] = [10, 0, 1, 1];
const SERVER: [u8; 4] = [10, 0, 4, 11];

/// What a test wants of its bed.
pub(crate) struct Bed {
    /// Rate of both bottlenecks, bit/s.
    pub(crate) rate: u32,
    /// The discipline under test: a kind that needs no parameters, or pfifo.
    pub(crate) kind: &'static str,
    /// Its `TCA_OPTIONS`, if it has some.
    pub(crate) options: Option<Vec<u8>>,
    /// Round-trip time, nanoseconds; 0 leaves the host with the delay out.
    pub(crate) rtt_ns: u32,
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// An attribute with others inside, and `NLA_F_NESTED`, on which generic netlink insists.
fn nested(kind: u16, value: &[u8]) -> Vec<u8> {
    attribute(kind | 0x8000, value)
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_ne_bytes()).collect()
}

fn name(text: &str) -> Vec<u8> {
    format!("{text}\0").into_bytes()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, b| {
        write!(text, "{b:02x}").expect("a string grows");
        text
    })
}

fn message(kind: u16, flags: u16, parts: &[Vec<u8>]) -> String {
    let body = parts.concat();
    let mut bytes = words(&[16 + body.len() as u32]);
    bytes.extend(kind.to_ne_bytes());
    bytes.extend((flags | REQUEST).to_ne_bytes());
    bytes.extend(words(&[1, 0]));
    bytes.extend(body);
    hex(&bytes)
}

fn step(host: &str, says: &str, netlink: &str) -> Value {
    json!({"host": host, "says": says, "netlink": netlink})
}

/// `struct ifinfomsg` of a device; `up` sets `IFF_UP`.
fn link(index: u32, up: bool) -> Vec<u8> {
    words(&[0, index, u32::from(up), u32::from(up)])
}

fn discipline(host: &str, index: u32, (handle, parent): (u32, u32), kind: &str, options: Option<&[u8]>) -> Value {
    let body = [
        words(&[0, index, handle << 16, parent, 0]),
        attribute(1, &name(kind)),
        options.map_or_else(Vec::new, |o| attribute(2, o)),
    ];
    step(host, &format!("add {kind}"), &message(NEW_QDISC, NEW, &body))
}

/// A step that clears features of a device (`ETHTOOL_MSG_FEATURES_SET`), so that each frame is one segment.
fn no_offload(host: &str, device: &str) -> Value {
    let features = [
        "tx-tcp-segmentation",
        "tx-tcp-mangleid-segmentation",
        "tx-generic-segmentation",
        "rx-gro",
    ];
    let bits: Vec<u8> = features
        .iter()
        .flat_map(|f| nested(1, &attribute(2, &name(f))))
        .collect();
    let body = [
        vec![12, 1, 0, 0],
        nested(1, &attribute(2, &name(device))),
        nested(3, &nested(3, &bits)),
    ];
    let says = format!("switch the offload of {device} off");
    json!({"host": host, "says": says, "genetlink": "ethtool", "message": message(0, 0, &body)})
}

impl Bed {
    fn hosts(&self) -> Vec<&'static str> {
        let mut hosts = vec!["client", "r1", "delay", "r2", "server"];
        hosts.retain(|&h| h != "delay" || self.rtt_ns > 0);
        hosts
    }

    /// Devices are called by the host they lead to; those towards the server come first, by number 2, else 3.
    fn steps(&self) -> Vec<Value> {
        let hosts = self.hosts();
        let mut steps: Vec<Value> = hosts
            .iter()
            .map(|h| step(h, "bring up lo", &message(NEW_LINK, 0, &[link(1, true)])))
            .collect();
        for (i, pair) in hosts.windows(2).enumerate() {
            let (left, right) = (pair[0], pair[1]);
            let (index, peer_index) = (if i == 0 { 2 } else { 3 }, 2);
            let namespace = attribute(28, &words(&[101 + i as u32]));
            let peer = [link(peer_index, false), attribute(3, &name(left)), namespace].concat();
            let info = [attribute(1, b"veth"), attribute(2, &attribute(1, &peer))].concat();
            let body = [link(index, false), attribute(3, &name(right)), attribute(18, &info)];
            steps.push(step(
                left,
                &format!("add the link {left}-{right}"),
                &message(NEW_LINK, NEW, &body),
            ));
            let net = if i + 2 == hosts.len() { 4 } else { i as u8 + 1 };
            for (host, device, index, last) in [(left, right, index, 1), (right, left, peer_index, 2)] {
                let last = if host == "server" { SERVER[3] } else { last };
                let address = [10, 0, net, last];
                let body = [
                    words(&[u32::from_ne_bytes([2, 24, 0, 0]), index]),
                    attribute(2, &address),
                    attribute(1, &address),
                ];
                steps.push(step(host, "add an address", &message(NEW_ADDRESS, NEW, &body)));
                steps.push(step(
                    host,
                    "bring a link up",
                    // `IFLA_GSO_MAX_SEGS`: no trains of segments.
                    &message(NEW_LINK, 0, &[link(index, true), attribute(40, &words(&[1]))]),
                ));
                steps.push(no_offload(host, device));
            }
        }
        Self::routes(&hosts, &mut steps);
        self.queues(&hosts, &mut steps);
        steps
    }

    fn routes(hosts: &[&str], steps: &mut Vec<Value>) {
        let last = hosts.len() - 1;
        let mut route = |host: &str, target: Option<[u8; 4]>, gateway: [u8; 4]| {
            let length = if target.is_some() { 24 } else { 0 };
            let target = target.map_or_else(Vec::new, |t| attribute(1, &t));
            let body = [
                vec![2, length, 0, 0, 254, 3, 0, 1],
                words(&[0]),
                target,
                attribute(5, &gateway),
            ];
            steps.push(step(host, "add a route", &message(NEW_ROUTE, NEW, &body)));
        };
        for (i, host) in hosts.iter().enumerate() {
            // The net towards the server has number i + 1, or 4 for the last; the neighbour has .2 there (the server
            // .11).
            if i < last {
                let net = if i + 1 == last { 4 } else { i as u8 + 1 };
                if i == 0 {
                    route(host, None, [10, 0, net, 2]);
                } else if i + 1 < last {
                    route(host, Some([10, 0, 4, 0]), [10, 0, net, 2]);
                }
            }
            if i > 0 {
                let net = if i == last { 4 } else { i as u8 };
                if i == last {
                    route(host, None, [10, 0, net, 1]);
                } else if i > 1 {
                    route(host, Some([10, 0, 1, 0]), [10, 0, net, 1]);
                }
            }
        }
        for host in &hosts[1..last] {
            steps.push(json!({"host": host, "says": "forward", "sysctl": "net/ipv4/ip_forward", "value": "1"}));
        }
    }

    fn queues(&self, hosts: &[&str], steps: &mut Vec<Value>) {
        let bytes = self.rate / 8;
        // struct tc_tbf_qopt: the link layer is Ethernet, so the kernel needs no table; the burst is two frames.
        let ethernet = u32::from_ne_bytes([0, 1, 0, 0]);
        let buffer = (3028_u64 * 1_000_000_000 / u64::from(bytes) / 64) as u32;
        let tbf = attribute(1, &words(&[ethernet, 0, bytes, 0, 0, 0, 10_000_000, buffer, 0]));
        for (host, index) in [("r1", 3), ("r2", 2)] {
            steps.push(discipline(host, index, (1, u32::MAX), "tbf", Some(&tbf)));
            steps.push(discipline(
                host,
                index,
                (0x10, 1 << 16),
                self.kind,
                self.options.as_deref(),
            ));
        }
        if hosts.contains(&"delay") {
            // struct tc_netem_qopt, in ticks of 64 ns.
            let netem = words(&[self.rtt_ns / 2 / 64, 100_000, 0, 0, 0, 0]);
            for index in [2, 3] {
                steps.push(discipline("delay", index, (1, u32::MAX), "netem", Some(&netem)));
            }
        }
    }

    /// The job of this bed with `flows`.
    pub(crate) fn job(&self, duration_ns: u64, flows: &Value) -> Value {
        let hosts = self.hosts();
        let (up, down) = if hosts.contains(&"delay") {
            ("delay", "delay")
        } else {
            ("r2", "r1")
        };
        let dotted = |a: [u8; 4]| std::net::Ipv4Addr::from(a).to_string();
        json!({
            "format": "sojourn-job/1",
            "modules": [],
            "bed": {
                "namespaces": hosts,
                "steps": self.steps(),
                "clients": [dotted(CLIENT)],
                "server": [dotted(SERVER)],
                "watch": {
                    "up": {"host": "r1", "in": "client", "out": up},
                    "down": {"host": "r2", "in": "server", "out": down},
                },
            },
            "load": {
                "format": "sojourn-load/2", "seed": 1, "lead_ns": 0, "duration_ns": duration_ns,
                "interval_ns": 200_000_000, "paths": [self.rtt_ns.max(1)], "flows": flows, "probes": [], "web": [],
            },
            "watch_packets": false,
        })
    }
}

/// A CUBIC flow of a plan.
pub(crate) fn flow(name: &str, direction: &str, bytes: Option<u64>) -> Value {
    json!({
        "spec": {"name": name, "direction": direction, "congestion_control": "cubic", "bytes": bytes},
        "path": 0, "start_ns": 0,
    })
}
