use super::*;
use crate::agent::fake::{Fake, index, load, probe};
use proptest::prelude::*;
use rustix::io::Errno;
use sojourn_units::Duration;

const MS: i64 = 1_000_000;

/// Whether this process may open raw sockets; says so if not.
fn may_open_raw_sockets() -> bool {
    match Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4)) {
        Ok(_) => true,
        Err(e) if e.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
            eprintln!("skipped: needs raw ICMP sockets: run the tests as root -- {e}");
            false
        }
        Err(e) => panic!("opening a raw socket: {e}"),
    }
}

fn every(ns: u64) -> ProbeKindScenario {
    ProbeKindScenario::Icmp(Duration::from_nanos(ns))
}

/// RFC 1071 section 3 adds these words up to ddf2.
#[test]
fn the_checksum_is_that_of_the_example_of_rfc_1071() {
    assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    assert_eq!(checksum(&[0x00, 0x01, 0xf2]), !0xf201);
}

/// RFC 792: 08 00, checksum, identifier, sequence number. The words 0800, 4e21, ffff and 0102 add up to 15722, so
/// 5723.
#[test]
fn a_request_lies_in_its_message_as_rfc_792_says() {
    let mut message = [9, 9, 9, 9, 9, 9, 9, 9, 1, 2];
    write_header(&mut message, 20_001, 0xffff);
    let [c0, c1] = (!0x5723_u16).to_be_bytes();
    assert_eq!(message, [8, 0, c0, c1, 0x4e, 0x21, 0xff, 0xff, 1, 2]);
    // The receiver's test: with its checksum, a message adds up to zero.
    assert_eq!(checksum(&message), 0);
}

/// An answer behind an IPv4 header of `words` words.
fn answer(words: usize, stamp: Stamp, sequence: u16) -> Vec<u8> {
    let mut packet = vec![0; words * 4 + HEADER + 18];
    packet[0] = 0x40 | words as u8;
    let message = &mut packet[words * 4..];
    stamp.write(&mut message[HEADER..]);
    write_header(message, 20_001, sequence);
    message[0] = ANSWER;
    packet
}

#[test]
fn an_answer_is_ours_by_identifier_sequence_number_stamp_and_length() {
    // 0x1_0005 is 5 on its second way around.
    let stamp = Stamp {
        index: 1,
        number: 0x1_0005,
        sent_ns: 77,
    };
    for words in [5, 6, 15] {
        assert_eq!(read_answer(&answer(words, stamp, 5), 20_001, 26), Some(stamp));
    }
    let packet = answer(5, stamp, 5);
    assert_eq!(read_answer(&packet, 20_002, 26), None);
    assert_eq!(read_answer(&packet, 20_001, 27), None);
    assert_eq!(read_answer(&packet[..40], 20_001, 26), None);
    assert_eq!(read_answer(&answer(5, stamp, 6), 20_001, 26), None);
    for (place, value) in [(20, REQUEST), (21, 1), (28, b'X')] {
        let mut other = packet.clone();
        other[place] = value;
        assert_eq!(read_answer(&other, 20_001, 26), None);
    }
}

proptest! {
    #[test]
    fn any_packet_can_be_read(packet: Vec<u8>, identifier: u16, length in 0_usize..64) {
        if let Some(stamp) = read_answer(&packet, identifier, length) {
            prop_assert!(packet.len() >= length && length >= HEADER + Stamp::SIZE);
            prop_assert!(packet.windows(2).any(|w| w == b"SJ"), "{stamp:?}");
        }
    }
}

#[test]
fn requests_leave_every_interval_from_start_to_end_and_all_are_answered() {
    if !may_open_raw_sockets() {
        return;
    }
    let i = index(0);
    let mut icmp = Icmp::new(i, &probe(every(10 * MS as u64), 98, -50 * MS), &load()).expect("a valid plan");
    let mut world = Fake::real(-60 * MS, 200 * MS);
    world.run(&mut icmp, 1000 * MS).expect("loopback answers");
    assert_eq!(world.entered, [Host::Client(0)]);
    let samples = &icmp.samples;
    assert!(!samples.awaits());
    let mut measured = crate::agent::fake::measured();
    icmp.finish(&mut measured);
    let list = &measured.probes[i].samples;
    assert_eq!(list.len(), 25);
    for (n, sample) in (0_i64..).zip(list) {
        let late = sample.sent_ns - (n * 10 - 50) * MS;
        assert!((0..200 * MS).contains(&late), "request {n} left {late} ns late");
        let delay = sample.delay_ns.expect("loopback loses nothing");
        assert!((100..200 * MS as u64).contains(&delay), "{delay} ns");
    }
}

#[test]
fn the_message_has_the_size_on_the_wire_less_ethernet_and_ipv4() {
    let icmp = Icmp::new(0, &probe(every(1), 98, 0), &load()).expect("a valid plan");
    assert_eq!(icmp.message.len(), 98 - 14 - 20);
}

#[test]
fn answers_are_told_apart_when_sequence_numbers_come_around() {
    if !may_open_raw_sockets() {
        return;
    }
    let i = index(1);
    let mut icmp = Icmp::new(i, &probe(every(MS as u64), 60, 0), &load()).expect("a valid plan");
    // Two answers to 16-bit number 0 are under way: to requests 0 and 65536.
    for _ in 0..65_535 {
        icmp.samples.send(-1);
    }
    let mut world = Fake::manual(0, 3 * MS);
    world.run(&mut icmp, 0).expect("loopback answers");
    let mut measured = crate::agent::fake::measured();
    icmp.finish(&mut measured);
    let delays: Vec<_> = measured.probes[i].samples[65_534..]
        .iter()
        .map(|s| s.delay_ns)
        .collect();
    assert_eq!(delays, [None, Some(0), Some(0), Some(0)]);
    assert_eq!(measured.probes[i].samples[0].delay_ns, None);
}

#[test]
fn answers_that_come_too_late_are_lost() {
    if !may_open_raw_sockets() {
        return;
    }
    let i = index(2);
    let mut icmp = Icmp::new(i, &probe(every(MS as u64), 60, 0), &load()).expect("a valid plan");
    let mut world = Fake::manual(0, MS);
    icmp.start(&mut world).expect("a socket");
    icmp.due(SEND, &mut world).expect("a request");
    world.set(MS);
    icmp.due(SEND, &mut world).expect("no request at the end of the window");
    icmp.window_ends(&mut world).expect("the end");
    assert!(icmp.awaits());
    assert_eq!(world.timers[&LINGER], MS + 3_000 * MS);
    icmp.due(LINGER, &mut world).expect("a timer");
    assert!(!icmp.awaits());
    world.serve(&mut icmp, 100).expect("an answer");
    let mut measured = crate::agent::fake::measured();
    icmp.finish(&mut measured);
    let samples: Vec<_> = measured.probes[i]
        .samples
        .iter()
        .map(|s| (s.sent_ns, s.delay_ns))
        .collect();
    assert_eq!(samples, [(0, None)]);
}

#[test]
fn plans_that_cannot_be_are_refused_in_one_sentence() {
    let refused = |index: usize, plan: &ProbePlan| Icmp::new(index, plan, &load()).expect_err("refused").to_string();
    let good = probe(every(1), 60, 0);
    assert_eq!(
        refused(5000, &good),
        "probes[5000].index is 5000, but must be below 5000"
    );
    let path = ProbePlan {
        path: 1,
        ..good.clone()
    };
    assert_eq!(
        refused(2, &path),
        "probes[2].path is 1, but must be below 1, the number of paths"
    );
    for size in [59, 1515] {
        let plan = probe(every(1), size, 0);
        assert_eq!(
            refused(2, &plan),
            format!("probes[2].size is {size}, but must be 60 to 1514 bytes")
        );
    }
    let plan = probe(every(0), 60, 0);
    assert_eq!(
        refused(2, &plan),
        "probes[2].interval is 0s, but must be 1 ns to 73 years"
    );
    let plan = probe(ProbeKindScenario::UdpRr(Duration::from_nanos(1)), 60, 0);
    assert_eq!(refused(2, &plan), "probes[2].kind is not icmp");
}
