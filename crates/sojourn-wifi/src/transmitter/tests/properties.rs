//! What holds under random traffic and losses.

use super::*;
use proptest::prelude::*;
use sojourn_units::Stream;
use std::collections::{BTreeMap, BTreeSet};

/// A receiver's reorder buffer, and the rules that it may rely on. Fewer than 4096 frames: numbers do not wrap.
#[derive(Default)]
struct Receiver {
    start: u16,
    buffer: BTreeMap<u16, TestPacket>,
    /// Sequence numbers that arrived or were given up.
    settled: BTreeSet<u16>,
    delivered: Vec<TestPacket>,
}

impl Receiver {
    fn oldest_unsettled(&self) -> u16 {
        (0..4096).find(|s| !self.settled.contains(s)).unwrap()
    }

    fn release(&mut self) {
        while let Some(packet) = self.buffer.remove(&self.start) {
            self.delivered.push(packet);
            self.start += 1;
        }
    }

    fn arrive(&mut self, frame: &Frame<TestPacket>) {
        assert!(self.settled.insert(frame.sequence), "sent again after it arrived");
        assert!(
            (self.start..self.start + 64).contains(&frame.sequence),
            "outside of the window"
        );
        self.buffer.insert(frame.sequence, frame.packet);
        self.release();
    }

    fn move_to(&mut self, start: u16) {
        while self.start < start {
            self.delivered.extend(self.buffer.remove(&self.start));
            self.start += 1;
        }
        self.release();
    }
}

#[derive(Default)]
struct Air {
    receivers: BTreeMap<(NodeId, Tid), Receiver>,
}

impl Air {
    /// Sends the head of a category; frame i arrives unless bit i of `lost` is set.
    fn send(&mut self, b: &mut Bench, category: AccessCategory, lost: u64) {
        let Some(head) = b.t.head(category).cloned() else {
            return;
        };
        let receiver = self.receivers.entry((head.peer, head.tid)).or_default();
        let oldest = receiver.oldest_unsettled();
        let numbers: Vec<u16> = head.frames.iter().map(|f| f.sequence).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert!(
            numbers.iter().all(|s| (oldest..oldest + 64).contains(s)),
            "{oldest}: {numbers:?}"
        );
        assert!(head.single == (numbers.len() == 1) && (category != VO || head.single));

        let lost: Vec<usize> = (0..64).filter(|i| lost >> i & 1 == 1).collect();
        let (came, dropped) = (b.arrived.len(), b.drops.len());
        let completion = b.send(category, &lost);
        assert_eq!((completion.peer, completion.tid), (head.peer, head.tid));
        for (_, drop) in &b.drops[dropped..] {
            if drop.reason == DropReason::RetryLimit {
                let frame = head.frames.iter().find(|f| f.packet.id == drop.packet.id).unwrap();
                assert!(receiver.settled.insert(frame.sequence));
            }
        }
        for frame in &b.arrived[came..] {
            receiver.arrive(frame);
        }
        if let Some(start) = completion.window_start {
            assert_eq!(start, receiver.oldest_unsettled());
            receiver.move_to(start);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Put { station: u16, tid: u8, n: u64 },
    Send { category: AccessCategory, lost: u64 },
    Rate { station: u16, text: &'static str },
    Receive { station: u16, us: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let category = || prop::sample::select(AccessCategory::ALL.to_vec());
    let texts = vec!["ht mcs 15 sgi", "ht mcs 0", "ofdm 6mbit", "vht mcs 9 nss 2 80mhz sgi"];
    // Nothing lost, half, most, everything.
    let lost = prop_oneof![
        Just(0),
        any::<u64>(),
        any::<(u64, u64)>().prop_map(|(a, b)| a | b),
        Just(u64::MAX)
    ];
    let step = prop_oneof![
        6 => (0_u16..3, 0_u8..8, 1_u64..15).prop_map(|(station, tid, n)| Step::Put { station, tid, n }),
        8 => (category(), lost).prop_map(|(category, lost)| Step::Send { category, lost }),
        1 => (0_u16..3, prop::sample::select(texts)).prop_map(|(station, text)| Step::Rate { station, text }),
        1 => (0_u16..3, 0_u64..5000).prop_map(|(station, us)| Step::Receive { station, us }),
    ];
    prop::collection::vec(step, 1..300)
}

fn specs() -> impl Strategy<Value = NodeSpec> {
    let scheme = prop::sample::select(Scheme::ALL.to_vec());
    (scheme, 1_u32..150, 1_u32..4, 1_u32..65, 1_u8..6, 20_u32..300).prop_map(
        |(scheme, driver_frames, hardware_queue, aggregate_frames, retries, limit)| NodeSpec {
            scheme,
            driver_frames,
            hardware_queue,
            aggregate_frames,
            retries,
            limit,
            ..NodeSpec::ACCESS_POINT
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Conservation, the window, order within a TID, and no packet that waits for ever.
    #[test]
    fn every_packet_is_delivered_in_order_or_dropped_once(spec in specs(), steps in steps(), seed: u64) {
        let peers: Vec<PeerSpec> = RATES.iter().zip(0..).map(|(text, i)| PeerSpec::new(node(i), rate(text))).collect();
        let (mut b, mut air) = (Bench::new(&spec, &peers), Air::default());
        for step in steps {
            match step {
                Step::Put { station, tid, n } => b.put(station, tid, n),
                Step::Send { category, lost } => air.send(&mut b, category, lost),
                Step::Rate { station, text } => b.t.set_rate(node(station), rate(text)),
                Step::Receive { station, us } => b.t.on_receive(node(station), BE, Duration::from_micros(us), b.now),
            }
            prop_assert_eq!(b.next_id, b.t.packets() + (b.arrived.len() + b.drops.len()) as u64);
            for category in AccessCategory::ALL {
                prop_assert!(b.t.hardware_queue(category) <= spec.hardware_queue as usize);
            }
        }
        // Everything leaves, however much is lost.
        let (mut stream, mut sent) = (Stream::new(seed), 0);
        while let Some(category) = AccessCategory::ALL.into_iter().find(|&c| b.t.head(c).is_some()) {
            air.send(&mut b, category, stream.u64() & stream.u64());
            sent += 1;
            prop_assert!(sent <= b.next_id * u64::from(spec.retries));
        }
        prop_assert_eq!(b.t.packets(), 0);

        let (mut count, mut seen) = (0, BTreeSet::new());
        for ((peer, tid), receiver) in &air.receivers {
            prop_assert!(receiver.buffer.is_empty(), "the receiver waits for a frame that will not come");
            prop_assert!(receiver.delivered.is_sorted_by(|a, b| a.id < b.id), "{peer:?} {tid:?} out of order");
            count += receiver.delivered.len();
            seen.extend(receiver.delivered.iter().map(|p| p.id));
        }
        seen.extend(b.drops.iter().map(|(_, drop)| drop.packet.id));
        prop_assert_eq!(count, b.arrived.len());
        prop_assert_eq!(seen.len() as u64, b.next_id, "each once");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Any rates from 6.5 to 866.7 Mbit/s, any weights, frames lost at random.
    #[test]
    fn airtime_is_shared_by_weight_whatever_the_rates_and_losses(
        stations in prop::collection::vec((any::<prop::sample::Index>(), 128_u32..1025, 0.0_f64..0.2), 2..6),
        weighted: bool, seed: u64,
    ) {
        let rates: Vec<PhyRate> = PhyRate::all()
            .filter(|r| (6_500_000..=866_700_000).contains(&r.nominal().as_bps()))
            .collect();
        let peers: Vec<PeerSpec> = stations.iter().zip(0..).map(|((at, weight, _), i)| PeerSpec {
            weight: if weighted { *weight } else { crate::DEFAULT_WEIGHT },
            ..PeerSpec::new(node(i), *at.get(&rates))
        }).collect();
        let (mut b, mut stream) = (Bench::new(&NodeSpec::ACCESS_POINT, &peers), Stream::new(seed));
        let total: u32 = peers.iter().map(|p| p.weight).sum();
        let least = peers.iter().map(|p| p.weight).min().unwrap();
        let end = Time::ZERO + Duration::from_secs_f64(4.0 * f64::from(total) / f64::from(least));
        while b.now < end {
            for station in 0..peers.len() as u16 {
                let queued = b.t.tid_backlog(node(station), tid(0)).packets;
                if queued < 64 {
                    b.put(station, 0, 128);
                }
            }
            let head = b.t.head(BE).unwrap();
            let error = stations[usize::from(head.peer.0 - 1)].2;
            let lost: Vec<usize> = (0..head.frames.len()).filter(|_| stream.unit() < error).collect();
            b.send(BE, &lost);
            b.drops.clear();
            b.arrived.clear();
        }
        let used: Vec<f64> = peers.iter().map(|p| b.t.peer_stats(p.node).airtime_tx.as_secs_f64()).collect();
        let all: f64 = used.iter().sum();
        for (used, peer) in used.iter().zip(&peers) {
            let (share, fair) = (used / all, f64::from(peer.weight) / f64::from(total));
            prop_assert!((share / fair - 1.0).abs() < 0.01, "{peer:?} {share}, not {fair}");
        }
    }
}
