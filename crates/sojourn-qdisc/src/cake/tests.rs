use super::cobalt::{Cobalt, CobaltParams};
use super::*;
use crate::grammar::model::Model as _;
use crate::testing::{Bench, TestPacket, bench};
use crate::{Discipline, Dropped, QdiscSpec, band_of_dscp, packet_without, priority_of_dscp};
use sojourn_units::Duration;

/// A packet of a conversation between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Between {
    id: u64,
    size: u64,
    flow: u32,
    source: u32,
    destination: u32,
    dscp: u8,
}

impl Packet for Between {
    packet_without!(ecn, ack, socket);

    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
    fn source(&self) -> u32 {
        self.source
    }
    fn destination(&self) -> u32 {
        self.destination
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.dscp = dscp;
    }
    fn band(&self) -> u8 {
        band_of_dscp(self.dscp)
    }
    fn priority(&self) -> u8 {
        priority_of_dscp(self.dscp)
    }
}

fn cake<P: Packet>(words: &str) -> crate::AnyQdisc<P> {
    let text = format!("cake {words}");
    QdiscSpec::parse(&text, None)
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .build(1)
}

fn params(words: &str) -> CakeParams {
    let words: Vec<&str> = words.split_whitespace().collect();
    CakeSpec::parse(&words)
        .unwrap_or_else(|e| panic!("{words:?}: {e}"))
        .params
}

/// The words of tc-cake(8) of iproute2 6.1, each as in its synopsis, and those of its section on overhead.
const MANUAL: &[&str] = &[
    "bandwidth 10mbit",
    "unlimited",
    "autorate-ingress",
    "rtt 20ms",
    "datacentre",
    "lan",
    "metro",
    "regional",
    "internet",
    "oceanic",
    "satellite",
    "interplanetary",
    "besteffort",
    "diffserv8",
    "diffserv4",
    "diffserv3",
    "precedence",
    "flowblind",
    "srchost",
    "dsthost",
    "hosts",
    "flows",
    "dual-srchost",
    "dual-dsthost",
    "triple-isolate",
    "nat",
    "nonat",
    "wash",
    "nowash",
    "split-gso",
    "no-split-gso",
    "ack-filter",
    "ack-filter-aggressive",
    "no-ack-filter",
    "memlimit 4mb",
    "fwmark 0xff",
    "atm",
    "ptm",
    "noatm",
    "raw",
    "conservative",
    "overhead 18",
    "overhead -10",
    "mpu 64",
    "ingress",
    "egress",
    "pppoa-vcmux",
    "pppoa-llc",
    "pppoe-vcmux",
    "pppoe-llcsnap",
    "bridged-vcmux",
    "bridged-llcsnap",
    "ipoa-vcmux",
    "ipoa-llcsnap",
    "pppoe-ptm",
    "bridged-ptm",
    "docsis",
    "ethernet",
    "ether-vlan",
];

#[test]
fn every_word_of_the_manual_is_accepted_or_refused_with_a_sentence_that_says_why() {
    let refusal = |needs: &str, word: &str| format!("cake.{word} needs a kernel's {needs}: use the linux back end");
    for words in MANUAL {
        let text = format!("cake {words}");
        let kernel = Discipline::parse(&text, None).unwrap_or_else(|e| panic!("{text}: {e}"));
        let found = QdiscSpec::parse(&text, None);
        match *words {
            "nat" => assert_eq!(found.unwrap_err().to_string(), refusal("connection tracking", "nat")),
            "fwmark 0xff" => assert_eq!(found.unwrap_err().to_string(), refusal("firewall marks", "fwmark")),
            _ => {
                assert_eq!(found.as_ref().ok(), kernel.modelled(), "{text}");
                let mut q = cake::<TestPacket>(words);
                q.enqueue(TestPacket::new(0, 100, 0), Time::ZERO, &mut Vec::new());
                assert!(q.dequeue(Time::ZERO, &mut Vec::new()).is_some(), "{text}");
            }
        }
        assert_eq!(Discipline::parse(&kernel.to_string(), None), Ok(kernel), "{text}");
    }
    // `fwmark 0` looks at no bit.
    assert!(QdiscSpec::parse("cake nonat fwmark 0", None).is_ok());
}

#[test]
fn what_is_left_out_has_the_defaults_of_the_list() {
    let spec = crate::kinds().into_iter().find(|kind| kind.kind == "cake").unwrap();
    let bare = params("");
    for parameter in &spec.parameters {
        let Some(default) = &parameter.default else { continue };
        let words = match parameter.unit {
            "flag" => default.clone(),
            _ => format!("{} {default}", parameter.name),
        };
        // Any overhead, 0 too, is counted from the IP header on.
        let expected = CakeParams {
            from_ip_header: parameter.name == "overhead",
            ..bare
        };
        assert_eq!(params(&words), expected, "{words}");
    }
    assert_eq!(bare, CakeParams::LINUX);
    assert_eq!(params("rtt 10us").target, Duration::from_micros(1));
}

/// The hosts and flows whose packets share a queue, in each mode.
#[test]
fn a_flow_is_what_the_mode_says() {
    // Two sources, two destinations, two conversations for each pair: eight flows.
    for (mode, flows) in [
        ("flowblind", 1.0),
        ("srchost", 2.0),
        ("dsthost", 2.0),
        ("hosts", 4.0),
        ("flows", 8.0),
        ("dual-srchost", 8.0),
        ("dual-dsthost", 8.0),
        ("triple-isolate", 8.0),
    ] {
        let mut q = cake::<Between>(&format!("besteffort {mode}"));
        for flow in 0..16_u32 {
            let (source, destination) = (100 + flow % 2, 200 + flow / 2 % 2 * 4);
            let packet = Between {
                id: 0,
                size: 100,
                flow: 1000 + 16 * (flow % 8),
                source,
                destination,
                dscp: 0,
            };
            q.enqueue(packet, Time::ZERO, &mut Vec::new());
        }
        let all = q.extra_stats();
        let sparse = all.iter().find(|(name, _)| *name == "tin0_sparse_flows").unwrap().1;
        assert!((sparse - flows).abs() < 1e-9, "{mode}: {sparse}");
    }
}

/// What each of `sources` (a host and a code point a flow) sends if all always have packets, of the whole.
fn shares(words: &str, sources: &[(u32, u8)], packets: u64) -> Vec<f64> {
    let mut q = cake::<Between>(words);
    let mut drops: Vec<Dropped<Between>> = Vec::new();
    let mut now = Time::ZERO;
    let mut sent = vec![0.0; sources.len()];
    let offer = |q: &mut crate::AnyQdisc<Between>, i: usize, now, drops: &mut Vec<_>| {
        let (source, dscp) = sources[i];
        let packet = Between {
            id: i as u64,
            size: 1000,
            flow: 7 * i as u32 + 1,
            source,
            destination: 50 + i as u32,
            dscp,
        };
        q.enqueue(packet, now, drops);
    };
    for i in 0..sources.len() {
        for _ in 0..30 {
            offer(&mut q, i, now, &mut drops);
        }
    }
    for _ in 0..packets {
        now = q.ready_at(now, &mut drops).unwrap();
        if let Some(left) = q.dequeue(now, &mut drops) {
            sent[left.packet.id as usize] += 1.0;
            offer(&mut q, left.packet.id as usize, now, &mut drops);
        }
        for drop in std::mem::take(&mut drops) {
            offer(&mut q, drop.packet.id as usize, now, &mut drops);
        }
    }
    let all: f64 = sent.iter().sum();
    sent.iter().map(|n| n / all).collect()
}

#[test]
fn hosts_get_equal_shares_whatever_the_number_of_their_flows() {
    let sources = [(1, 0), (1, 0), (1, 0), (2, 0)];
    for (mode, expected) in [
        ("flows", [0.25; 4]),
        ("dual-srchost", [1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5]),
        ("triple-isolate", [1.0 / 6.0, 1.0 / 6.0, 1.0 / 6.0, 0.5]),
        ("dual-dsthost", [0.25; 4]),
    ] {
        for rate in ["unlimited", "bandwidth 50mbit"] {
            let found = shares(&format!("besteffort rtt 10s {rate} {mode}"), &sources, 40_000);
            for (share, expected) in found.iter().zip(expected) {
                assert!((share - expected).abs() < 0.005, "{mode}: {found:?}");
            }
        }
    }
}

/// With a shaper a tin goes before the lower ones up to its threshold: bulk 1/16, video 1/2, voice 1/4 of the rate, and
/// the rest is for best effort. Without one they have the weights 1024, 64, 512, 256.
#[test]
fn tins_that_are_all_full_share_by_their_thresholds_or_weights() {
    let sources = [(1, 0), (2, 8), (3, 34), (4, 46)];
    let shaped = shares("bandwidth 50mbit diffserv4 rtt 10s", &sources, 40_000);
    for (share, expected) in shaped.iter().zip([3.0 / 16.0, 1.0 / 16.0, 0.5, 0.25]) {
        assert!((share - expected).abs() < 0.005, "{shaped:?}");
    }
    let weighted = shares("diffserv4 rtt 10s", &sources, 40_000);
    for (share, expected) in weighted.iter().zip([1024.0, 64.0, 512.0, 256.0]) {
        assert!((share - expected / 1856.0).abs() < 0.005, "{weighted:?}");
    }
}

#[test]
fn a_tin_that_is_alone_has_the_whole_rate() {
    for dscp in [0, 8, 34, 46] {
        let mut q = cake::<Between>("bandwidth 8mbit diffserv4");
        for id in 0..100 {
            let packet = Between {
                id,
                size: 1000,
                flow: 1,
                source: 1,
                destination: 2,
                dscp,
            };
            q.enqueue(packet, Time::ZERO, &mut Vec::new());
        }
        let mut drops: Vec<Dropped<Between>> = Vec::new();
        let (mut now, mut sent) = (Time::ZERO, 0);
        while let Some(at) = q.ready_at(now, &mut drops) {
            now = at;
            sent += u64::from(q.dequeue(now, &mut drops).is_some());
        }
        // A packet a millisecond, the first at 0.
        assert_eq!(now, Time::from_millis(sent - 1), "{dscp}");
    }
}

/// BLUE drops a packet with a probability that each overflow makes 1/256 greater, and idleness 1/4096 smaller.
#[test]
fn blue_drops_with_its_probability() {
    let p = CobaltParams {
        interval: u64::from(u32::MAX),
        target: 5_000_000,
        mtu_time: 0,
    };
    let (mut cobalt, mut stream) = (Cobalt::NEW, Stream::new(7));
    assert!(cobalt.queue_full(&p, 0));
    for n in 1..64 {
        assert!(!cobalt.queue_full(&p, n * 5_000_000 + n));
        assert!(!cobalt.queue_full(&p, n * 5_000_000 + n + 5_000_000));
    }
    assert_eq!(cobalt.p_drop, 64 << 24);
    let mut now = 10_000_000_000;
    let drops = (0..20_000)
        .filter(|_| cobalt.judge(&p, now, 0, 0, &mut stream, || true).drop)
        .count();
    // A quarter, within four standard deviations.
    assert!((drops as f64 - 5000.0).abs() < 4.0 * 61.3, "{drops}");
    let mut steps = 0;
    while cobalt.p_drop != 0 {
        now += 5_000_001;
        steps += 1;
        assert_eq!(cobalt.queue_empty(&p, now), cobalt.p_drop == 0);
        assert!(!cobalt.queue_empty(&p, now + 5_000_000));
    }
    assert_eq!(steps, 64 * 16);
}

/// The memory of a bandwidth: four times what it sends in an RTT, from 4 MiB up, and at most that of 10240 frames.
#[test]
fn the_memory_follows_from_bandwidth_and_rtt() {
    let most = 10_240.0 * 1514.0;
    for (words, expected) in [
        ("unlimited", most),
        ("bandwidth 8mbit", 4_194_304.0),
        // 12.5 MB a second, 0.2 s, times 4.
        ("bandwidth 100mbit rtt 200ms", 10_000_000.0),
        ("bandwidth 1gbit", most),
        ("bandwidth 1gbit memlimit 32mb", 33_554_432.0),
        ("memlimit 0", most),
    ] {
        let found = bench(&format!("cake {words}")).extra("memory_limit");
        assert!((found - expected).abs() < 1e-9, "{words}: {found}");
    }
}

/// A queue whose state is to be remembered stays among the decaying ones until that has counted down.
///
/// The target is 1 ms, the interval 20 ms. Packet 0 is above the target at 5 ms, packet 1 dropped at 6 ms. The count is 2
/// and the next signal due 14.13 ms after 5 ms. From then on the count falls to 1 for 20 ms and to 0 for 20 ms: until
/// 59.13 ms.
#[test]
fn a_queue_decays_and_is_forgotten() {
    let mut b = bench("cake besteffort flows rtt 20ms");
    b.put_many(Time::ZERO, 3, 1000, 1);
    for at in [5, 6] {
        b.get(Time::from_millis(at));
    }
    assert_eq!((b.dropped(), b.packets()), (vec![1], 0));
    // Packets of another flow make the first one's queue be looked at.
    let mut at = 7;
    b.put(Time::from_millis(at), 100, 2);
    b.get(Time::from_millis(at));
    let flows = |b: &Bench| b.extra("tin0_sparse_flows") + b.extra("tin0_bulk_flows");
    assert!((flows(&b) - 2.0).abs() < 1e-9);
    while flows(&b) > 1.5 {
        at += 1;
        b.put(Time::from_millis(at), 100, 2);
        b.get(Time::from_millis(at));
        assert!(at < 100);
    }
    assert_eq!(at, 60);
}
