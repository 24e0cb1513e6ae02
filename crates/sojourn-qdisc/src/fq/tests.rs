use super::{Fq, FqParams};
use crate::testing::{TestPacket, bench, ms};
use crate::{Packet, Qdisc as _, packet_without};
use sojourn_units::{Bytes, Duration, Rate, Time};

/// A packet of a socket.
#[derive(Clone, Copy, Debug)]
struct Paced(TestPacket, Rate);

impl Packet for Paced {
    packet_without!(ecn, dscp, hosts, ack);

    fn size(&self) -> Bytes {
        self.0.size()
    }
    fn flow_hash(&self) -> u32 {
        self.0.flow_hash()
    }
    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.1)
    }
    fn not_before(&self) -> Option<Time> {
        None
    }
}

/// Drives it as a device that is infinitely fast: when each packet left, until nothing is held.
fn departures(q: &mut Fq<Paced>, start: Time) -> Vec<(Time, u32)> {
    let (mut now, mut left) = (start, Vec::new());
    while let Some(at) = q.ready_at(now, &mut Vec::new()) {
        now = at;
        while let Some(departure) = q.dequeue(now, &mut Vec::new()) {
            left.push((now, departure.packet.flow_hash()));
        }
    }
    left
}

/// A flow's rate is its socket's to a packet, whatever the timer's slack: the drift is made up for.
#[test]
fn flows_are_paced_at_their_own_rates_without_drift() {
    let mut q = Fq::new(FqParams::default()).unwrap();
    for id in 0..90 {
        for (flow, mbit) in [(0, 12), (1, 24), (2, 48)] {
            let packet = TestPacket::new(id, 1500, flow);
            q.enqueue(Paced(packet, Rate::from_mbit(mbit)), Time::ZERO, &mut Vec::new());
        }
    }
    let left = departures(&mut q, Time::ZERO);
    assert_eq!(left.len(), 270);
    for (flow, mbit) in [(0, 12_u64), (1, 24), (2, 48)] {
        let own: Vec<Time> = left.iter().filter(|(_, f)| *f == flow).map(|(at, _)| *at).collect();
        // The first quantum of 15140 bytes is 11 packets, and 1360 bytes too much. The last packet leaves when so many
        // quanta of 3028 bytes are more than these and the 78 packets before it, each quantum in its time.
        assert_eq!(own[10], Time::ZERO);
        assert!(own[11] > Time::ZERO);
        let quanta = (1360 + 78 * 1500) / 3028 + 1;
        let ideal = Rate::from_mbit(mbit).time_to_send(Bytes::new(quanta * 3028));
        let late = own[89].since(Time::ZERO).saturating_sub(ideal);
        assert!(
            own[89] >= Time::ZERO + ideal && late <= Duration::from_micros(10),
            "{flow}: {late}"
        );
    }
}

/// Work is conserved without rates: what came leaves at once, and equal flows share.
#[test]
fn unpaced_flows_share_by_bytes() {
    let mut b = bench("fq flow_limit 4000");
    b.put_many(Time::ZERO, 3000, 500, 1);
    b.put_many(Time::ZERO, 1000, 1500, 2);
    let mut bytes = [0_u64; 3];
    for _ in 0..1000 {
        let packet = b.take(Time::ZERO).unwrap().packet;
        bytes[packet.flow as usize] += packet.size;
    }
    // A round differs by a quantum and a packet at most; the first by that of new flows.
    assert!(bytes[1].abs_diff(bytes[2]) <= 3028 + 1500, "{bytes:?}");
}

#[test]
fn a_peeked_packet_counts_until_it_leaves() {
    let mut b = bench("fq limit 1");
    b.put(ms(0), 100, 0);
    assert_eq!(b.q.peek(ms(0), &mut b.drops), Some(Bytes::new(100)));
    assert_eq!((b.packets(), b.put(ms(0), 100, 0)), (1, 1));
    assert_eq!(b.dropped(), [1]);
    assert_eq!(b.get(ms(2)), Some(0));
}

/// A packet that is far larger than a quantum costs its flow many rounds, and not as many turns of the loop.
#[test]
fn a_huge_packet_takes_no_time() {
    let mut b = bench("fq quantum 1 initial_quantum 1");
    b.put(ms(0), 4_000_000_000, 0);
    b.put(ms(0), 4_000_000_000, 1);
    b.put(ms(0), 1, 0);
    b.put(ms(0), 1, 1);
    assert_eq!(
        [b.get(ms(0)), b.get(ms(0)), b.get(ms(0)), b.get(ms(0))],
        [0, 1, 2, 3].map(Some)
    );
}

/// The timer is late by its slack, and whoever asks in between is answered.
#[test]
fn the_timers_slack_is_no_lower_bound() {
    let mut q = Fq::new(FqParams {
        timer_slack: Duration::from_millis(1),
        quantum: 1000,
        initial_quantum: 1000,
        ..FqParams::default()
    })
    .unwrap();
    for id in 0..2 {
        q.enqueue(
            Paced(TestPacket::new(id, 1000, 0), Rate::from_mbit(8)),
            ms(0),
            &mut Vec::new(),
        );
    }
    assert!(q.dequeue(ms(0), &mut Vec::new()).is_some());
    assert!(q.dequeue(ms(0), &mut Vec::new()).is_none());
    assert_eq!(q.ready_at(ms(0), &mut Vec::new()), Some(ms(2)));
    assert_eq!(q.ready_at(ms(1), &mut Vec::new()), Some(ms(1)));
    assert!(q.dequeue(ms(1), &mut Vec::new()).is_some());
}
