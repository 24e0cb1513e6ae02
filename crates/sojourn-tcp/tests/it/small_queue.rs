//! Bulk senders behind a slow device of their own: 20 Mbit/s, on a path of 50 ms that loses nothing.

use sojourn_tcp::{Device, Endpoint, Segment, TcpParams, Variant};
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

const STEP: Duration = Duration::from_micros(100);
/// What a full segment of 1514 bytes takes the device, in whole steps.
const SENDING: Duration = Duration::from_micros(600);
const HALF: Duration = Duration::from_millis(25);
/// Memory of a segment in Linux 6.1: a head of 512 bytes, its `sk_buff` of 256, and 1448 bytes of payload.
const SEGMENT: u64 = 2216;

struct Path {
    now: Time,
    sender: Endpoint,
    receiver: Endpoint,
    device: VecDeque<Segment>,
    /// When the device has sent the first of them.
    done_at: Time,
    /// Until then it sends nothing.
    stalled_until: Time,
    forth: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Segment)>,
}

impl Path {
    fn new(variant: Variant, device: Device) -> Self {
        let params = TcpParams {
            variant,
            ..TcpParams::default()
        };
        let mut sender = Endpoint::client(&params).unwrap();
        sender.set_device(device);
        sender.write(1 << 40);
        sender.connect(Time::ZERO);
        Self {
            now: Time::ZERO,
            sender,
            receiver: Endpoint::server(&params).unwrap(),
            device: VecDeque::new(),
            done_at: Time::ZERO,
            stalled_until: Time::ZERO,
            forth: VecDeque::new(),
            back: VecDeque::new(),
        }
    }

    /// Data segments in the device.
    fn held(&self) -> u64 {
        self.device.iter().filter(|s| s.len > 0).count() as u64
    }

    fn step(&mut self) {
        self.now += STEP;
        let now = self.now;
        if !self.device.is_empty() && self.done_at <= now && self.stalled_until <= now {
            let segment = self.device.pop_front().unwrap();
            self.done_at = now + SENDING;
            if segment.len > 0 {
                self.sender.on_device_released(Some(segment.seq));
            }
            self.forth.push_back((now + HALF, segment));
        }
        while self.forth.front().is_some_and(|(at, _)| *at <= now) {
            let (_, segment) = self.forth.pop_front().unwrap();
            self.receiver.on_segment(&segment, now);
        }
        self.receiver.on_timeout(now);
        while let Some(answer) = self.receiver.poll_transmit(now) {
            self.back.push_back((now + HALF, answer));
        }
        while self.back.front().is_some_and(|(at, _)| *at <= now) {
            let (_, segment) = self.back.pop_front().unwrap();
            self.sender.on_segment(&segment, now);
        }
        self.sender.on_timeout(now);
        while let Some(segment) = self.sender.poll_transmit(now) {
            if self.device.is_empty() {
                self.done_at = now + SENDING;
            }
            if segment.len > 0 {
                self.sender.on_device_took(Some(segment.seq));
            }
            self.device.push_back(segment);
        }
    }

    /// What the device may hold by the formula: the pacing rate shifted right, in segments, and the one that goes
    /// beyond.
    fn allowed(&self, shift: u32) -> u64 {
        let sender = self.sender.sender();
        let cwnd = u64::from(sender.cwnd());
        let starting = sender
            .ssthresh()
            .is_none_or(|threshold| cwnd < u64::from(threshold / 2));
        let window = 1448 * cwnd * if starting { 200 } else { 120 } / 100;
        let rate = window * 1_000_000_000 / sender.srtt().expect("it has sent").as_nanos();
        ((rate >> shift).max(2 * SEGMENT) - 1) / SEGMENT + 1
    }
}

/// The path after three seconds, when slow start is over and the queue is what it stays.
fn settled(variant: Variant, device: Device) -> Path {
    let mut path = Path::new(variant, device);
    while path.now < Time::from_secs(3) {
        path.step();
    }
    path
}

#[test]
fn a_wire_of_20_mbit_holds_two_segments_of_linux_6_1() {
    // 1.2 windows of some 120 segments in 51 ms are 4.1 MB/s: a 1024th of that is 1.8 segments, and two are the least.
    let mut path = settled(Variant::Linux61, Device::Wire);
    for _ in 0..20_000 {
        path.step();
        assert_eq!(path.held(), 2);
    }
}

#[test]
fn a_wireless_device_holds_8_ms_at_the_pacing_rate_of_linux_6_1() {
    let mut path = settled(Variant::Linux61, Device::Wireless);
    for _ in 0..20_000 {
        path.step();
        let (held, allowed) = (path.held(), path.allowed(7));
        assert!(held.abs_diff(allowed) <= 1, "{held} of {allowed}");
        assert!(allowed > 10, "more than the least: {allowed}");
    }
}

#[test]
fn any_device_holds_31_segments_of_linux_3_14() {
    for device in [Device::Wire, Device::Wireless] {
        let mut path = settled(Variant::Linux314, device);
        for _ in 0..20_000 {
            path.step();
            assert_eq!(path.held(), 31);
        }
    }
}

#[test]
fn the_link_stays_busy() {
    let mut path = settled(Variant::Linux61, Device::Wire);
    let before = path.receiver.receiver().bytes_in_order();
    let begun = path.now;
    while path.now < begun + Duration::from_secs(3) {
        path.step();
    }
    assert_eq!(path.receiver.receiver().bytes_in_order() - before, 5_000 * 1448);
}

/// What the sender counted while its device held everything for a second: time-outs, retransmissions, probes.
fn counted_in_a_stall(variant: Variant) -> (u64, u64, u64) {
    let mut path = settled(variant, Device::Wireless);
    let before = *path.sender.sender().stats();
    path.stalled_until = path.now + Duration::from_secs(1);
    while path.now < path.stalled_until {
        path.step();
    }
    let after = path.sender.sender().stats();
    let counted = (
        after.timeouts - before.timeouts,
        after.retransmissions - before.retransmissions,
        after.loss_probes - before.loss_probes,
    );
    // Whatever it did, it goes on.
    let received = path.receiver.receiver().bytes_in_order();
    while path.now < path.stalled_until + Duration::from_secs(2) {
        path.step();
    }
    assert!(path.receiver.receiver().bytes_in_order() > received + 2_000 * 1448);
    counted
}

#[test]
fn what_its_own_device_holds_linux_6_1_does_not_send_again() {
    // Source: `skb_still_in_host_queue`. The time-outs go off, and double: 0.25 and 0.5 s.
    let (timeouts, retransmissions, probes) = counted_in_a_stall(Variant::Linux61);
    assert!((1..=3).contains(&timeouts), "{timeouts}");
    assert_eq!((retransmissions, probes), (0, 0));
}

#[test]
fn linux_3_14_sends_it_again() {
    let (timeouts, retransmissions, _) = counted_in_a_stall(Variant::Linux314);
    assert!(timeouts >= 1 && retransmissions >= 1, "{timeouts}, {retransmissions}");
}
