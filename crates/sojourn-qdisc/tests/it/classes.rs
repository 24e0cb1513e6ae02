//! Classful disciplines against formulas: shares, guarantees and ceilings of long runs; and the bytes of the requests
//! that a kernel gets.

use proptest::prelude::*;
use sojourn_qdisc::{
    Admission, AnyQdisc, KernelMessage, Packet, Qdisc, QdiscSpec, band_of_dscp, kernel_options, packet_without,
    priority_of_dscp,
};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame {
    size: u64,
    dscp: u8,
}

impl Packet for Frame {
    packet_without!(ecn, hosts, ack, socket);

    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn flow_hash(&self) -> u32 {
        0
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

fn build(text: &str) -> AnyQdisc<Frame> {
    QdiscSpec::parse(text, None)
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .build(1)
}

/// Bytes that leave by code point until `end`, from a link of this rate before which every listed class has always
/// packets of its size.
fn sent(text: &str, link: Rate, classes: &[Frame], end: Time) -> Vec<u64> {
    let mut q = build(text);
    let mut drops = Vec::new();
    let mut sums = vec![0; classes.len()];
    let mut now = Time::ZERO;
    for frame in classes {
        for _ in 0..3 {
            assert_eq!(q.enqueue(*frame, now, &mut drops), Admission::Queued);
        }
    }
    while now < end {
        if let Some(departure) = q.dequeue(now, &mut drops) {
            let frame = departure.packet;
            let place = classes.iter().position(|class| class.dscp == frame.dscp);
            sums[place.expect("a class")] += frame.size;
            q.enqueue(frame, now, &mut drops);
            now += link.time_to_send(frame.size());
        } else {
            let at = q.ready_at(now, &mut drops).expect("there are packets");
            assert!(at > now, "ready at {at}, but nothing left at {now}");
            now = at;
        }
    }
    assert!(drops.is_empty());
    sums
}

/// Checks each sum, in bit/s over the time, to one per cent and a burst.
fn are_rates(sums: &[u64], seconds: u64, expected: &[u64]) {
    for (place, (&sum, &rate)) in sums.iter().zip(expected).enumerate() {
        let bps = sum * 8 / seconds;
        let off = bps.abs_diff(rate);
        assert!(
            off <= rate / 100 + 40_000 / seconds,
            "class {place} has {bps} bit/s instead of {rate}"
        );
    }
}

const fn frame(size: u64, dscp: u8) -> Frame {
    Frame { size, dscp }
}

/// Shreedhar and Varghese: in the long run classes that are never empty share as their quanta, whatever their sizes.
#[test]
fn drr_shares_as_the_quanta() {
    let text = "drr ; class parent 1: classid 1:1 drr quantum 1000 ; class parent 1: classid 1:2 drr quantum 2000 \
        ; class parent 1: classid 1:3 drr quantum 3000 ; filter parent 1: dscp 1 flowid 1:1 \
        ; filter parent 1: dscp 2 flowid 1:2 ; filter parent 1: dscp 3 flowid 1:3";
    let classes = [frame(1500, 1), frame(64, 2), frame(9000, 3)];
    let sums = sent(text, Rate::from_mbit(60), &classes, Time::from_secs(10));
    are_rates(&sums, 10, &[10_000_000, 20_000_000, 30_000_000]);
}

/// A packet of 4 GB needs 16 million quanta of 256 bytes; the rounds in which nobody is served cost no time.
#[test]
fn the_largest_packet_leaves_at_once_from_the_smallest_quantum() {
    let text = "drr ; class parent 1: classid 1:1 drr quantum 256 ; class parent 1: classid 1:2 drr quantum 257 \
        ; filter parent 1: dscp 1 flowid 1:1 ; filter parent 1: matchall flowid 1:2";
    let mut q = build(text);
    let mut drops = Vec::new();
    for _ in 0..100 {
        q.enqueue(frame(u64::from(u32::MAX), 1), Time::ZERO, &mut drops);
        q.enqueue(frame(u64::from(u32::MAX), 2), Time::ZERO, &mut drops);
    }
    // 257 is the larger quantum: its class needs fewer rounds.
    let order: Vec<u8> = (0..200)
        .filter_map(|_| Some(q.dequeue(Time::ZERO, &mut drops)?.packet.dscp))
        .collect();
    assert_eq!((order.len(), order[0]), (200, 2));
}

/// The strict band takes what it needs; the others share the rest as 1 to 3.
#[test]
fn ets_gives_the_strict_band_all() {
    let text =
        "ets strict 1 quanta 1000 3000 ; filter parent 1: dscp 1 flowid 1:1 ; filter parent 1: dscp 2 flowid 1:2";
    let both = [frame(1500, 2), frame(1500, 3)];
    are_rates(
        &sent(text, Rate::from_mbit(40), &both, Time::from_secs(10)),
        10,
        &[10_000_000, 30_000_000],
    );
    let all = [frame(1500, 1), frame(1500, 2), frame(1500, 3)];
    are_rates(
        &sent(text, Rate::from_mbit(40), &all, Time::from_secs(10)),
        10,
        &[40_000_000, 0, 0],
    );
}

/// A class alone has its rate, on a link that is faster.
#[test]
fn htb_alone_has_its_rate() {
    let text = "htb default 1 ; class parent 1: classid 1:1 htb rate 7mbit";
    are_rates(
        &sent(text, Rate::from_mbit(100), &[frame(1514, 0)], Time::from_secs(20)),
        20,
        &[7_000_000],
    );
}

/// A tree of 12 Mbit/s. Guarantees are 2, 2 and 4 Mbit/s, and what is left, 4 Mbit/s, is lent to the classes of
/// priority 0 as their quanta: 1 to 3. The class of priority 1 has its guarantee alone.
#[test]
fn htb_lends_the_rest_by_priority_and_quantum() {
    let text = "htb ; class parent 1: classid 1:1 htb rate 12mbit burst 3000 cburst 3000 \
        ; class parent 1:1 classid 1:11 htb rate 2mbit ceil 12mbit quantum 2000 \
        ; class parent 1:1 classid 1:12 htb rate 2mbit ceil 12mbit quantum 6000 \
        ; class parent 1:1 classid 1:13 htb rate 4mbit ceil 12mbit prio 1 \
        ; filter parent 1: dscp 1 flowid 1:11 ; filter parent 1: dscp 2 flowid 1:12 ; filter parent 1: dscp 3 flowid 1:13";
    let classes = [frame(1000, 1), frame(1000, 2), frame(1000, 3)];
    let sums = sent(text, Rate::from_mbit(100), &classes, Time::from_secs(20));
    are_rates(&sums, 20, &[3_000_000, 5_000_000, 4_000_000]);
}

/// As sqm-scripts' `simple.qos`: the first class has a third at most, and the second, which is served before the third,
/// takes all that is left but the third's guarantee.
#[test]
fn sqm_simple_keeps_its_promises() {
    let text = QdiscSpec::parse("sqm:simple", Some(Rate::from_mbit(24)))
        .expect("a preset")
        .to_string();
    // The packets here do not listen to CoDel, so the classes have FIFOs.
    let shapers: Vec<&str> = text
        .split(" ; ")
        .filter(|statement| !statement.starts_with("qdisc"))
        .collect();
    let classes = [frame(1000, 46), frame(1000, 0), frame(1000, 8)];
    let sums = sent(
        &shapers.join(" ; "),
        Rate::from_mbit(1000),
        &classes,
        Time::from_secs(20),
    );
    are_rates(&sums, 20, &[8_000_000, 12_000_000, 4_000_000]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// In any window a class sends no more than its ceiling, its bucket and the packet that the last token let pass;
    /// all classes together no more than the root's; and each gets what it was promised.
    #[test]
    fn htb_keeps_ceilings_and_guarantees(
        rates in prop::collection::vec(100_000u64..3_000_000, 3),
        more in prop::collection::vec(0u64..6_000_000, 3),
        sizes in prop::collection::vec(100u64..1514, 3),
        priorities in prop::collection::vec(0u8..8, 3),
    ) {
        let root = 10_000_000;
        let mut text = format!("htb ; class parent 1: classid 1:9 htb rate {root}bit burst 2000 cburst 2000");
        for class in 0..3 {
            let (rate, ceil, priority) = (rates[class], rates[class] + more[class], priorities[class]);
            let n = class + 1;
            let _ = write!(
                text,
                " ; class parent 1:9 classid 1:{n} htb rate {rate}bit ceil {ceil}bit prio {priority} burst 2000 cburst 2000 \
                 ; filter parent 1: dscp {n} flowid 1:{n}"
            );
        }
        let mut q = build(&text);
        let mut drops = Vec::new();
        let (mut now, end) = (Time::ZERO, Time::from_secs(4));
        let mut left: Vec<(Time, usize, u64)> = Vec::new();
        for (class, &size) in sizes.iter().enumerate() {
            (0..2).for_each(|_| { q.enqueue(frame(size, class as u8 + 1), now, &mut drops); });
        }
        while now < end {
            if let Some(departure) = q.dequeue(now, &mut drops) {
                let packet = departure.packet;
                left.push((now, usize::from(packet.dscp - 1), packet.size));
                q.enqueue(packet, now, &mut drops);
            } else {
                now = q.ready_at(now, &mut drops).expect("there are packets");
            }
        }
        let most = |bps: u64, over: Duration| Rate::from_bps(bps).bytes_in(over).get() + 2000 + 1514 + 1;
        for first in (0..left.len()).step_by(left.len() / 40 + 1) {
            let mut sums = [0; 3];
            for &(at, class, size) in &left[first..] {
                sums[class] += size;
                let over = at.since(left[first].0);
                prop_assert!(sums[class] <= most(rates[class] + more[class], over), "class {class} over {over} in {text}");
                // Each class may have a burst of its own at its own rate before it has to borrow.
                prop_assert!(sums.iter().sum::<u64>() <= most(root, over) + 3 * 3514, "all over {over} in {text}");
            }
        }
        for (class, &rate) in rates.iter().enumerate() {
            let sum: u64 = left.iter().filter(|departure| departure.1 == class).map(|departure| departure.2).sum();
            let least = Rate::from_bps(rate).bytes_in(Duration::from_secs(4)).get();
            prop_assert!(sum + 2 * 1514 >= least, "class {class} has {sum} of {least} in {text}");
        }
    }
}

fn below(text: &str) -> Vec<KernelMessage> {
    let told = kernel_options(text, None).expect(text);
    told.messages_below(7, 0x10).expect(text)
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// By hand from `linux/rtnetlink.h`, `linux/pkt_sched.h` and `linux/pkt_cls.h`, for a little-endian machine: header,
/// `tcmsg`, kind, options.
#[test]
#[cfg(target_endian = "little")]
fn requests_are_these_bytes() {
    let text = "htb ; class parent 1: classid 1:2 htb rate 8mbit ceil 40gbit burst 1000 quantum 77 prio 3 overhead 18 mpu 64 \
        linklayer atm ; qdisc parent 1:2 handle 9: drr ; class parent 9: classid 9:a drr quantum 3000 \
        ; filter parent 9: dscp EF flowid 9:a ; filter parent 1: matchall flowid 1:2";
    let all = below(text);
    let says: Vec<&str> = all.iter().map(|message| message.says.as_str()).collect();
    assert_eq!(
        says,
        [
            "add class htb 10:2",
            "add discipline drr 101:0",
            "add class drr 101:a",
            "add filter for u32 101:a",
            "add filter for u32 10:2"
        ]
    );
    let head = |length: u32, kind: u32, handle: u32, parent: u32, info: u32| {
        words(&[length, 0x0605_0000 | kind, 1, 0, 0, 7, handle, parent, info])
    };
    let named = |name: &[u8]| [&[8, 0, 1, 0][..], name].concat();
    // tc_htb_opt: two tc_ratespec of 12 bytes, buffer and cbuffer in ticks, quantum, level, prio. 1000 bytes at 1 MB/s
    // are 1 ms, 15625 ticks; 1605 bytes at 5 GB/s are 321 ns, 6 ticks. 5 GB/s do not fit into 32 bits: TCA_HTB_CEIL64.
    let class = [
        head(108, 40, 0x10_0002, 0x10_0000, 0),
        named(b"htb\0"),
        words(&[0x8002_0040, 0x0001_0030]),
        words(&[0x0012_0200, 64 << 16, 1_000_000, 0x0012_0200, 64 << 16, u32::MAX]),
        words(&[15_625, 6, 77, 0, 3]),
        words(&[0x0007_000c]),
        5_000_000_000_u64.to_ne_bytes().to_vec(),
    ];
    assert_eq!(all[0].message, class.concat());
    let discipline = [
        head(48, 36, 0x101_0000, 0x10_0002, 0),
        named(b"drr\0"),
        words(&[0x0002_0004]),
    ];
    assert_eq!(all[1].message, discipline.concat());
    // Handle 0, priority 1 and ETH_P_IP in the order of the network. A key: EF is 0xb8 in the second byte of the
    // header.
    let bytes = &all[3].message;
    assert_eq!(bytes[..36], head(92, 44, 0, 0x101_0000, 1 << 16 | 0x0008));
    assert_eq!(
        bytes[44..60],
        words(&[0x8002_0030, 0x0001_0008, 0x101_000a, 0x0005_0024])
    );
    assert_eq!(bytes[60..76], [1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[76..92], [0, 0xfc, 0, 0, 0, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    // Without a code point the protocol is ETH_P_ALL and the key takes every word.
    let every = &all[4].message;
    assert_eq!(
        every[..36],
        head(every.len() as u32, 44, 0, 0x10_0000, 1 << 16 | 0x0300)
    );
    assert_eq!(every[76..92], [0; 16]);
}

#[test]
fn a_pfifo_fast_below_a_class_has_the_length_of_the_device() {
    assert_eq!(below("prio ; qdisc parent 1:1 pfifo_fast").len(), 1);
    let error = kernel_options("prio ; qdisc parent 1:1 pfifo_fast limit 9", None).expect_err("another");
    assert_eq!(
        error.to_string(),
        "pfifo_fast.limit is 9, but must be 1000 below a class: a kernel takes it from the device"
    );
}
