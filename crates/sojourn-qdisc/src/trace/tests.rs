use super::*;
use crate::testing::{TestPacket, ms};
use crate::{AnyQdisc, Dropped, QdiscSpec};

fn trace(text: &str) -> DeliveryTrace {
    DeliveryTrace {
        file: "test".to_owned(),
        hash: String::new(),
        times_ms: parse(text.as_bytes()).expect("a trace").into(),
    }
}

struct Link {
    q: Traced<TestPacket, AnyQdisc<TestPacket>>,
    drops: Vec<Dropped<TestPacket>>,
    sent: u64,
}

impl Link {
    fn new(text: &str) -> Self {
        let child = QdiscSpec::parse("pfifo limit 1000", None).unwrap().build(1);
        Self {
            q: Traced::new(trace(text), child),
            drops: Vec::new(),
            sent: 0,
        }
    }

    /// `count` packets of so many bytes come at `at`.
    fn put(&mut self, at: Time, count: u64, size: u64) {
        for _ in 0..count {
            let packet = TestPacket::new(self.sent, size, 0);
            self.q.enqueue(packet, at, &mut self.drops);
            self.sent += 1;
        }
    }

    /// Until nothing waits: the number of each packet that leaves, and when, ms.
    fn leave(&mut self, mut now: Time) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        loop {
            match self.q.next(now, &mut self.drops) {
                Next::Departs(departure) => all.push((departure.packet.id, now.as_nanos() / MS)),
                Next::At(at) => {
                    assert!(at > now && at.as_nanos().is_multiple_of(MS), "{at}");
                    now = at;
                }
                Next::Idle => return all,
            }
        }
    }

    /// What leaves at `now`, with its size in Mahimahi; when to ask again.
    fn step(&mut self, now: Time, left: &mut Vec<(Time, u64)>) -> Option<Time> {
        loop {
            match self.q.next(now, &mut self.drops) {
                Next::Departs(departure) => left.push((now, departure.packet.size - u64::from(LONGER))),
                Next::At(at) => return Some(at),
                Next::Idle => return None,
            }
        }
    }

    fn times(&mut self, now: Time) -> Vec<u64> {
        self.leave(now).into_iter().map(|(_, at)| at).collect()
    }
}

#[test]
fn full_frames_leave_at_the_times_of_the_trace_again_and_again() {
    let mut link = Link::new("1\n3\n3\n10\n");
    link.put(Time::ZERO, 10, 1514);
    assert_eq!(link.times(Time::ZERO), [1, 3, 3, 10, 11, 13, 13, 20, 21, 23]);
}

/// The last time of a round and the first of the next one can be the same: two opportunities then.
#[test]
fn a_trace_that_begins_at_zero_has_two_opportunities_where_it_begins_again() {
    let mut link = Link::new("0\n5\n");
    link.put(ms(1), 4, 1514);
    assert_eq!(link.times(ms(1)), [5, 5, 10, 10]);
}

/// By hand: packets of 500 bytes count 490, so three are in an opportunity, and 34 bytes of the fourth; that ends in the
/// next one, of which 1504 - 456 = 1048 are left: two more, and 68 of the seventh.
#[test]
fn small_packets_share_an_opportunity_and_one_that_does_not_fit_goes_on_with_the_next() {
    let mut link = Link::new("10\n20\n30\n");
    link.put(ms(1), 7, 500);
    assert_eq!(
        link.leave(ms(1)),
        [(0, 10), (1, 10), (2, 10), (3, 20), (4, 20), (5, 20), (6, 30)]
    );
}

#[test]
fn a_large_packet_takes_several_opportunities_and_what_it_leaves_of_the_last_is_lost() {
    let mut link = Link::new("10\n20\n30\n40\n");
    link.put(ms(1), 1, 3018);
    assert_eq!(link.times(ms(1)), [20]);
    link.put(ms(21), 1, 3019);
    assert_eq!(link.times(ms(21)), [50]);
}

#[test]
fn an_opportunity_that_finds_no_packet_is_lost() {
    let mut link = Link::new("10\n20\n20\n35\n");
    assert!(link.times(ms(0)).is_empty());
    link.put(ms(15), 1, 1514);
    assert_eq!(link.times(ms(15)), [20]);
    // The second one at 20 ms has passed; and at 35 ms a packet that comes then is too late.
    link.put(ms(20), 1, 1514);
    assert_eq!(link.times(ms(20)), [35]);
    link.put(ms(35), 1, 1514);
    assert_eq!(link.times(ms(35)), [45]);
    // After many rounds of 35 ms without a packet.
    link.put(ms(35 * 1000 + 1), 1, 1514);
    assert_eq!(link.times(ms(35 * 1000 + 1)), [35 * 1000 + 10]);
}

#[test]
fn the_rate_is_that_of_full_frames() {
    // One a millisecond: 1514 x 8 x 1000 bit/s.
    assert_eq!(trace("1\n").rate(), Rate::from_bps(12_112_000));
    assert_eq!(trace("0\n0\n4\n").rate(), Rate::from_bps(9_084_000));
}

#[test]
fn what_is_no_trace_is_refused_by_its_line() {
    let line = |n: u32| {
        format!(
            "line {n} of the file must be a whole number of milliseconds, at most 604800000, as in Mahimahi's traces"
        )
    };
    for (text, sentence) in [
        ("", line(1)),
        ("1\n\n2\n", line(2)),
        ("1\n-2\n", line(2)),
        ("1\n2.5\n", line(2)),
        ("604800001\n", line(1)),
        ("99999999999\n", line(1)),
        ("root:x:0:0\n", line(1)),
        (
            "1\n2\n1\n",
            "the time in line 3 must not be before that in the line above it".to_owned(),
        ),
        (
            "0\n0\n",
            "the last time must be later than 0, when the trace begins again".to_owned(),
        ),
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap_err(), sentence, "{text:?}");
    }
    assert_eq!(parse(b"1\r\n2").unwrap(), [1, 2]);
}

#[test]
fn the_text_of_a_trace_names_its_content() {
    let folder = std::env::temp_dir().join(format!("sojourn-trace-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("a trace.up");
    std::fs::write(&file, "1\n2\n").unwrap();
    let name = file.to_str().unwrap();
    let trace = DeliveryTrace::open(name).unwrap();
    // By sha256sum(1).
    let hash = "a6e2b7a040683432de03a18fd8a1939a2fdf82585b364bfc874bdd4095c4cae1";
    let text = trace.to_string();
    assert_eq!(text, format!("{name} sha256:{hash}"));
    assert_eq!(DeliveryTrace::open(&text).unwrap(), trace);
    std::fs::write(&file, "1\n3\n").unwrap();
    let changed = DeliveryTrace::open(&text).unwrap_err();
    assert!(changed.contains("its content has the SHA-256"), "{changed}");
    assert_ne!(DeliveryTrace::open(name).unwrap().to_string(), text);
    for (name, end) in [
        ("/dev/zero", "must be the name of a file with a trace"),
        ("no such", "the file cannot be read: "),
    ] {
        let refused = DeliveryTrace::open(name).unwrap_err();
        assert!(refused.contains(end), "{refused}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// testdata/mahimahi has what mm-link 0.98 said of datagrams of seven sizes that came in bursts: each that came, and each
/// that left, with its time. The same ones leave at the same times here.
#[test]
fn datagrams_leave_when_they_left_mahimahi() {
    let file = |name: &str| {
        let path = format!("{}/../../testdata/mahimahi/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("testdata")
    };
    let log = file("uplink.log");
    let base: u64 = log
        .lines()
        .find_map(|line| line.strip_prefix("# base timestamp: "))
        .unwrap()
        .parse()
        .unwrap();
    let mut link = Link::new(&file("uplink.trace"));
    let (mut ours, mut theirs, mut asked) = (Vec::new(), Vec::new(), None);
    for line in log.lines().filter(|line| !line.starts_with("# ")) {
        let words: Vec<_> = line.split(' ').collect();
        let at = ms(words[0].parse::<u64>().unwrap() - base);
        let size: u64 = words[2].parse().unwrap();
        match words[1] {
            // Mahimahi serves what is due first.
            "+" => {
                while let Some(due) = asked.filter(|due| *due <= at) {
                    asked = link.step(due, &mut ours);
                }
                let now = at + sojourn_units::Duration::from_nanos(1);
                link.put(now, 1, size + u64::from(LONGER));
                asked = link.step(now, &mut ours);
            }
            "-" => theirs.push((at, size)),
            word => assert_eq!(word, "#"),
        }
    }
    let last = theirs.last().expect("some left").0;
    while let Some(due) = asked.filter(|due| *due <= last) {
        asked = link.step(due, &mut ours);
    }
    assert!(
        theirs.len() > 1000 && ours == theirs,
        "{} and {}",
        ours.len(),
        theirs.len()
    );
}
