use super::*;
use sojourn_sim::{Progress, Run, Scenario};
use std::sync::{Arc, Mutex};

/// What was written, kept where the test can see it.
#[derive(Clone, Debug, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one thread").write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A disk with room for so many bytes.
#[derive(Debug)]
struct Small(usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or_else(|| io::Error::other("no space left"))?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const SCENARIO: &str = r#"{"duration": "2s", "lead": "1s", "up": "1mbit", "down": "10mbit", "rtt": "20ms",
    "qdisc_up": "pfifo limit 10", "flows": [{"name": "a", "direction": "up"}, {"name": "b", "direction": "down"}],
    "probes": [{"name": "ping", "kind": "icmp"}, {"name": "udp", "kind": "udp_rr"}]}"#;

fn scenario() -> Scenario {
    Scenario::from_json(SCENARIO).expect("a valid scenario")
}

fn captured(points: &[Point], snaplen: u32) -> (Vec<u8>, String) {
    let out = Shared::default();
    let file = PcapNg::new(out.clone(), points, snaplen, Duration::from_secs(1000)).expect("memory takes all");
    let mut run = Run::with_capture(scenario(), points, Box::new(file)).expect("a valid scenario");
    while matches!(run.advance(), Progress::Running(_)) {}
    assert!(run.capture_error().is_none());
    let record = run.finish().to_json();
    let bytes = out.0.lock().expect("one thread").clone();
    (bytes, record)
}

/// The blocks of a file: kind and body.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let word = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = word(&bytes[4..]) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(
            word(&bytes[length - 4..]) as usize,
            length,
            "the length stands at both ends"
        );
        found.push((word(bytes), bytes[8..length - 4].to_vec()));
        bytes = &bytes[length..];
    }
    found
}

/// Of each packet: interface, nanoseconds, bytes kept, size, direction.
fn packets(bytes: &[u8]) -> Vec<(u32, u64, u32, u32, u8)> {
    let word = |b: &[u8], at: usize| u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
    blocks(bytes)
        .iter()
        .filter(|(kind, _)| *kind == PACKET)
        .map(|(_, b)| {
            let at = u64::from(word(b, 4)) << 32 | u64::from(word(b, 8));
            let kept = word(b, 12);
            let flags = 20 + kept.next_multiple_of(4) as usize;
            (word(b, 0), at, kept, word(b, 16), b[flags + 4])
        })
        .collect()
}

#[test]
fn interfaces_are_named_and_count_nanoseconds() {
    let (bytes, _) = captured(&[Point::UpBottleneck, Point::DownBottleneck], 128);
    let interfaces: Vec<_> = blocks(&bytes)
        .into_iter()
        .filter(|(kind, _)| *kind == INTERFACE)
        .collect();
    assert_eq!(interfaces.len(), 2);
    for ((_, body), name) in interfaces.iter().zip(["up-bottleneck", "down-bottleneck"]) {
        assert_eq!(&body[..8], &[1, 0, 0, 0, 128, 0, 0, 0]);
        assert_eq!(&body[12..12 + name.len()], name.as_bytes());
        let resolution = 12 + name.len().next_multiple_of(4);
        assert_eq!(&body[resolution..resolution + 5], &[9, 0, 1, 0, 9]);
    }
}

#[test]
fn a_capture_changes_nothing_in_the_record_and_is_the_same_each_time() {
    let (one, with) = captured(&Point::ALL, 128);
    let (other, _) = captured(&Point::ALL, 128);
    assert_eq!(one, other);
    // A bottleneck that nobody looks at has no events of its own, so the cost differs.
    let but_cost = |record: &str| {
        let mut record: serde_json::Value = serde_json::from_str(record).expect("a record");
        record
            .as_object_mut()
            .expect("an object")
            .remove("cost")
            .expect("a cost");
        record
    };
    let without = sojourn_sim::run(scenario()).expect("a valid scenario").to_json();
    assert_eq!(but_cost(&with), but_cost(&without));
}

#[test]
fn packets_are_in_the_order_of_time_and_cut_at_the_snaplen() {
    let (bytes, _) = captured(&Point::ALL, 100);
    let packets = packets(&bytes);
    assert!(packets.is_sorted_by_key(|p| p.1));
    // The run begins 1000 s after 1970, and its measured window ends 3 s later.
    assert!(
        packets
            .iter()
            .all(|p| (1_000_000_000_000..=1_003_000_000_000).contains(&p.1))
    );
    assert!(packets.iter().all(|p| p.2 == p.3.min(100)));
    assert!(packets.iter().any(|p| p.3 == 1514));
    let (whole, _) = captured(&Point::ALL, 65_535);
    assert!(whole.len() > bytes.len());
}

#[test]
fn the_bottleneck_sees_each_packet_leave_and_arrive_half_an_rtt_later() {
    let (bytes, record) = captured(&[Point::UpBottleneck, Point::DownBottleneck], 128);
    let packets = packets(&bytes);
    let way = |interface, direction| -> Vec<(u64, u32)> {
        let on = |p: &&(u32, u64, u32, u32, u8)| p.0 == interface && p.4 == direction;
        packets.iter().filter(on).map(|p| (p.1, p.3)).collect()
    };
    for (from, to) in [(0, 1), (1, 0)] {
        let (left, came) = (way(from, 2), way(to, 1));
        let under_way = left.iter().filter(|l| l.0 + 10_000_000 > 1_003_000_000_000).count();
        assert_eq!(left.len(), came.len() + under_way);
        assert!(came.len() > 100);
        for (l, c) in left.iter().zip(&came) {
            assert_eq!((l.0 + 10_000_000, l.1), *c);
        }
    }
    // What left in the measured window (from 1 s on) is what the record counts.
    for (interface, direction) in [(0, "up"), (1, "down")] {
        let counted = way(interface, 2).iter().filter(|p| p.0 >= 1_001_000_000_000).count();
        let begin = record
            .find(&format!("\"{direction}\":{{\"qdisc\""))
            .expect("a bottleneck");
        let tail = &record[begin..];
        let number = &tail[tail.find("\"packets\":").expect("a count") + 10..];
        let number: String = number.chars().take_while(char::is_ascii_digit).collect();
        assert_eq!(counted.to_string(), number);
    }
}

#[test]
fn a_client_sees_what_the_queue_drops() {
    let (bytes, _) = captured(&[Point::Client, Point::UpBottleneck], 128);
    let packets = packets(&bytes);
    let sent = packets.iter().filter(|p| p.0 == 0 && p.4 == 2).count();
    let left = packets.iter().filter(|p| p.0 == 1 && p.4 == 2).count();
    assert!(sent > left + 10, "{sent} sent, {left} left a queue of ten packets");
    let received = |interface| packets.iter().filter(|p| p.0 == interface && p.4 == 1).count();
    assert_eq!(received(0), received(1), "nothing is lost between router and client");
}

#[test]
fn a_full_disk_ends_the_capture_and_is_told_once() {
    let file = PcapNg::new(Small(10_000), &[Point::Client], 128, Duration::ZERO).expect("the head fits");
    let mut run = Run::with_capture(scenario(), &[Point::Client], Box::new(file)).expect("a valid scenario");
    while matches!(run.advance(), Progress::Running(_)) {}
    assert_eq!(run.capture_error().map(|e| e.to_string()), Some("no space left".into()));
    assert!(run.capture_error().is_none());
}

#[test]
fn names_are_given_once() {
    let (bytes, _) = captured(&Point::ALL, 128);
    let names: Vec<_> = blocks(&bytes).into_iter().filter(|(kind, _)| *kind == NAMES).collect();
    assert_eq!(names.len(), 4);
    let text = String::from_utf8_lossy(&names[0].1).into_owned();
    assert!(text.contains(".client\0") && text.contains(".server\0"));
}

#[test]
fn behind_an_edge_of_finite_rate_hosts_see_their_own_wire() {
    let text = SCENARIO.replacen('{', r#"{"edge_rate": "100mbit", "#, 1);
    let points = Point::ALL;
    let out = Shared::default();
    let file = PcapNg::new(out.clone(), &points, 128, Duration::ZERO).expect("memory takes all");
    let scenario = Scenario::from_json(&text).expect("a valid scenario");
    let mut run = Run::with_capture(scenario, &points, Box::new(file)).expect("a valid scenario");
    while matches!(run.advance(), Progress::Running(_)) {}
    let bytes = out.0.lock().expect("one thread").clone();
    let packets = packets(&bytes);
    // From router to host: each packet arrives its time on a wire of 100 Mbit/s later, or more behind others.
    for (router, host) in [(1, 0), (2, 3)] {
        let came = |interface| packets.iter().filter(move |p| p.0 == interface && p.4 == 1);
        let mut least = u64::MAX;
        for (r, h) in came(router).zip(came(host)) {
            assert_eq!(r.3, h.3, "the same packet");
            let wire = u64::from(r.3) * 80;
            assert!(h.1 >= r.1 + wire);
            least = least.min(h.1 - r.1 - wire);
        }
        assert_eq!(least, 0);
    }
    // And what a host sends reaches a queue that drops some of it.
    let sent = packets.iter().filter(|p| p.0 == 0 && p.4 == 2).count();
    let left = packets.iter().filter(|p| p.0 == 1 && p.4 == 2).count();
    assert!(sent > left + 10);
}

/// Hosts that the scenario tells apart have names of their own; each is named once.
#[test]
fn hosts_are_named_once() {
    let text = r#"{"duration": "1s", "lead": "0s", "start_jitter": "0s", "flows": [
        {"name": "a", "direction": "up", "client": 2}, {"name": "b", "direction": "up", "client": 2},
        {"name": "c", "direction": "down", "server": 3}, {"name": "d", "direction": "up", "rtt": "90ms"}]}"#;
    let out = Shared::default();
    let points = [Point::UpBottleneck];
    let file = PcapNg::new(out.clone(), &points, 96, Duration::ZERO).expect("memory takes all");
    let scenario = Scenario::from_json(text).expect("a valid scenario");
    let mut run = Run::with_capture(scenario, &points, Box::new(file)).expect("a valid scenario");
    while matches!(run.advance(), Progress::Running(_)) {}
    drop(run);
    let bytes = out.0.lock().expect("one thread").clone();
    let mut names = Vec::new();
    for (_, body) in blocks(&bytes).iter().filter(|(kind, _)| *kind == NAMES) {
        let mut rest = &body[..];
        while rest[..2] == [1, 0] {
            let length = usize::from(rest[2]);
            let name = String::from_utf8_lossy(&rest[8..4 + length - 1]).into_owned();
            names.push((name, [rest[4], rest[5], rest[6], rest[7]]));
            rest = &rest[4 + length.next_multiple_of(4)..];
        }
    }
    names.sort();
    // The server of the longer path has the number after those of the shortest.
    let all = [
        ("client1", [10, 0, 0, 1]),
        ("client2", [10, 0, 0, 2]),
        ("server1", [10, 1, 0, 1]),
        ("server3", [10, 1, 0, 3]),
        ("server4", [10, 1, 0, 4]),
    ];
    assert_eq!(names, all.map(|(name, ip)| (name.to_owned(), ip)));
}
