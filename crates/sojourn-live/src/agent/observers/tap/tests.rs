use super::*;
use crate::agent::fake::{Fake, index, load, measured};
use nix::sched::{CloneFlags, unshare};
use socket2::{Domain, Protocol, Type};
use sojourn_bed::Conversation;
use sojourn_scenario::ProbeKindScenario;
use sojourn_units::Duration;
use std::cell::RefCell;
use std::io::{self, Read};
use std::net::UdpSocket;
use std::rc::Rc;

const MS: i64 = 1_000_000;

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Rc<RefCell<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Memory {
    fn records(&self) -> Vec<Watched> {
        let bytes = self.0.borrow();
        let (records, rest) = bytes.as_chunks::<{ Watched::SIZE }>();
        assert!(rest.is_empty());
        records
            .iter()
            .map(|r| Watched::from_bytes(r).expect("a record"))
            .collect()
    }
}

fn watch(host: Host, incoming: &str, outgoing: &str) -> Watch {
    Watch {
        host,
        incoming: incoming.into(),
        outgoing: outgoing.into(),
    }
}

/// Runs a test in a network namespace of its own, in which loopback is up and `other` is another interface: what
/// other tests send does not come there. Says so if this user may not make one.
fn in_own_network(test: impl FnOnce() + Send) {
    let run = || {
        if let Err(e) = unshare(CloneFlags::CLONE_NEWNET) {
            eprintln!("skipped: needs network namespaces: run the tests as root -- {e}");
            return;
        }
        // RTM_NEWLINK is 16; the message is nlmsghdr, ifinfomsg (loopback is number 1; IFF_UP is 1), attributes.
        let link = |flags: u16, index: u32, up: u32, attributes: &[u8]| {
            let mut message = Vec::new();
            message.extend((32 + attributes.len() as u32).to_ne_bytes());
            message.extend(16_u16.to_ne_bytes());
            message.extend(flags.to_ne_bytes());
            message.extend([0; 12]);
            message.extend(index.to_ne_bytes());
            message.extend(up.to_ne_bytes());
            message.extend(up.to_ne_bytes());
            message.extend(attributes);
            let socket = Socket::new(Domain::from(16), Type::RAW, Some(Protocol::from(0))).expect("a netlink socket");
            socket.send(&message).expect("the kernel takes it");
            let mut answer = [0; 64];
            let length = (&socket).read(&mut answer).expect("the kernel answers");
            assert!(length >= 20);
            assert_eq!(answer[16..20], [0; 4], "the error of making or raising an interface");
        };
        // NLM_F_REQUEST | NLM_F_ACK, and with NLM_F_CREATE | NLM_F_EXCL.
        link(0x005, 1, 1, &[]);
        // IFLA_IFNAME (3) and IFLA_LINKINFO (18) with IFLA_INFO_KIND (1).
        let mut attributes = Vec::new();
        attributes.extend([10_u16.to_ne_bytes(), 3_u16.to_ne_bytes()].concat());
        attributes.extend(b"other\0\0\0");
        attributes.extend(
            [
                12_u16.to_ne_bytes(),
                18_u16.to_ne_bytes(),
                8_u16.to_ne_bytes(),
                1_u16.to_ne_bytes(),
            ]
            .concat(),
        );
        attributes.extend(b"veth");
        link(0x605, 0, 0, &attributes);
        test();
    };
    let outcome = std::thread::scope(|scope| scope.spawn(run).join());
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
}

/// Sends datagrams of these sizes on the wire from a port to itself, on loopback, and receives each: on a busy
/// machine it may come in much later.
fn send(port: u16, sizes: &[usize]) {
    let socket = UdpSocket::bind(("127.0.0.1", port)).expect("a port of this test");
    let mut datagram = [0; 2000];
    for size in sizes {
        socket
            .send_to(&vec![7; size - 42], ("127.0.0.1", port))
            .expect("loopback");
        assert_eq!(socket.recv(&mut datagram).expect("loopback"), size - 42);
    }
}

fn plan(probes: usize) -> LoadPlan {
    let one = crate::agent::fake::probe(ProbeKindScenario::UdpRr(Duration::from_nanos(1)), 60, 0);
    LoadPlan {
        probes: vec![one; probes],
        ..load()
    }
}

/// Loopback shows each frame twice: on its way out and on its way in. One direction watches the one, one the other.
#[test]
fn frames_are_noted_with_their_true_length_in_the_order_of_time() {
    in_own_network(both_directions);
}

/// The kernel begins to stamp frames some time after the first socket has asked for it (`netstamp_work`); until then
/// a frame has the time at which it is read. A run begins long before its traffic, this test does not.
fn stamping() -> Tap {
    let nowhere = Box::new(Memory::default());
    let mut tap = Tap::new(
        watch(Host::R1, "lo", "other"),
        watch(Host::R2, "other", "lo"),
        &plan(1),
        nowhere,
    );
    tap.start(&mut Fake::real(-10 * MS, 60 * MS)).expect("packet sockets");
    std::thread::sleep(std::time::Duration::from_millis(200));
    tap
}

fn both_directions() {
    let _stamping = stamping();
    let i = index(16);
    let file = Memory::default();
    let mut tap = Tap::new(
        watch(Host::R1, "lo", "other"),
        watch(Host::R2, "other", "lo"),
        &plan(i + 1),
        Box::new(file.clone()),
    );
    let mut world = Fake::real(-10 * MS, 60 * MS);
    tap.start(&mut world).expect("packet sockets");
    assert_eq!(world.entered, [Host::R1, Host::R2]);
    let before = world.now();
    let port = sojourn_bed::ports::PROBES + i as u16;
    let sizes = [60, 1514, 96, 97, 61];
    send(port, &sizes);
    let after = world.now();
    world.run_until(&mut tap, 60 * MS).expect("nothing wrong");
    tap.window_ends(&mut world).expect("memory takes everything");
    let all = file.records();
    assert!(all.is_sorted_by_key(|r| r.at_ns));
    for (down, left) in [(false, false), (true, true)] {
        let seen: Vec<&Watched> = all.iter().filter(|r| r.down == down).collect();
        assert!(seen.iter().all(|r| r.conversation == Conversation::Probe(i as u16)));
        let lengths: Vec<usize> = seen.iter().map(|r| usize::from(r.length)).collect();
        assert_eq!(lengths, sizes);
        for r in &seen {
            assert_eq!((r.left, r.data, r.syn, r.marked), (left, false, false, false));
            assert!((before..=after).contains(&r.at_ns), "{before} {} {after}", r.at_ns);
        }
    }
    // The same frame has the same key on its way out and in.
    let keys = |down| all.iter().filter(move |r| r.down == down).map(|r| r.key);
    assert!(keys(false).eq(keys(true)));
    let mut measured = measured();
    tap.finish(&mut measured);
    let count = |down: bool| all.iter().filter(|r| r.down == down).count() as u64;
    assert_eq!(
        measured.up.passed,
        Some(Passed {
            came: count(false),
            left: 0
        })
    );
    assert_eq!(
        measured.down.passed,
        Some(Passed {
            came: 0,
            left: count(true)
        })
    );
}

/// 1000 frames are more than a batch.
#[test]
fn no_frame_is_missed_between_two_readings() {
    in_own_network(|| {
        let i = index(17);
        let file = Memory::default();
        let mut tap = Tap::new(
            watch(Host::R1, "lo", "lo"),
            watch(Host::R2, "lo", "lo"),
            &plan(i + 1),
            Box::new(file.clone()),
        );
        let mut world = Fake::manual(0, 20 * MS);
        tap.start(&mut world).expect("packet sockets");
        assert_eq!(world.timers[&0], 10 * MS);
        send(sojourn_bed::ports::PROBES + i as u16, &[100; 1000]);
        world.set(10 * MS);
        tap.due(0, &mut world).expect("a reading");
        assert_eq!(world.timers[&0], 20 * MS);
        tap.window_ends(&mut world).expect("memory takes everything");
        let ours = file
            .records()
            .into_iter()
            .filter(|r| r.conversation == Conversation::Probe(i as u16));
        assert_eq!(ours.count(), 2 * 1000);
    });
}

#[test]
fn a_frame_that_is_too_long_ends_the_run() {
    in_own_network(|| {
        let mut tap = Tap::new(
            watch(Host::R1, "lo", "lo"),
            watch(Host::R2, "lo", "lo"),
            &load(),
            Box::new(io::sink()),
        );
        let mut world = Fake::manual(0, 20 * MS);
        tap.start(&mut world).expect("packet sockets");
        send(sojourn_bed::ports::PROBES + index(18) as u16, &[1515]);
        let error = tap.due(0, &mut world).expect_err("too long").to_string();
        let sentence =
            " bytes comes to r1 at lo, but more than 1514 are possible only if an offload (TSO, GSO, GRO) is on";
        assert!(
            error.starts_with("a frame of 1") && error.ends_with(sentence),
            "{error}"
        );
    });
}

#[test]
fn frames_that_were_missed_end_the_run() {
    in_own_network(|| {
        let mut tap = Tap::new(
            watch(Host::R1, "lo", "lo"),
            watch(Host::R2, "lo", "lo"),
            &load(),
            Box::new(io::sink()),
        );
        let mut world = Fake::manual(0, 20 * MS);
        tap.start(&mut world).expect("packet sockets");
        for way in &tap.ways {
            way.socket
                .as_ref()
                .expect("started")
                .set_recv_buffer_size(4096)
                .expect("smaller is allowed");
        }
        let port = sojourn_bed::ports::PROBES + index(19) as u16;
        send(port, &[1000; 100]);
        // The counter goes with the next frame that finds room.
        let first = tap.due(0, &mut world);
        let error = first.and_then(|()| {
            send(port, &[100]);
            tap.due(0, &mut world)
        });
        let error = error.expect_err("100 frames do not fit").to_string();
        assert!(error.starts_with("the observer on r1 missed "), "{error}");
        assert!(error.ends_with(" frames: its receive buffer was full"), "{error}");
    });
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    in_own_network(|| {
        let mut tap = Tap::new(
            watch(Host::R1, "lo", "r1m"),
            watch(Host::R2, "lo", "lo"),
            &load(),
            Box::new(io::sink()),
        );
        let error = tap
            .start(&mut Fake::manual(0, MS))
            .expect_err("no such interface")
            .to_string();
        assert!(error.starts_with("looking up the interface r1m on r1: "), "{error}");
    });
}

/// A disk that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_cannot_be_written_ends_the_run() {
    in_own_network(|| {
        let mut tap = Tap::new(
            watch(Host::R1, "lo", "lo"),
            watch(Host::R2, "lo", "lo"),
            &load(),
            Box::new(Full),
        );
        let mut world = Fake::manual(0, 20 * MS);
        tap.start(&mut world).expect("packet sockets");
        send(sojourn_bed::ports::PROBES + index(20) as u16, &[100]);
        let error = tap.window_ends(&mut world).expect_err("full").to_string();
        assert!(
            error.starts_with("writing what was seen at the bottlenecks: "),
            "{error}"
        );
    });
}

#[test]
fn what_goes_between_two_hosts_is_a_flow_of_programs_in_both_directions() {
    let ip = |text: &str| text.parse::<std::net::IpAddr>().expect("an address");
    let parsed = |protocol: u8, source: &str, destination: &str| Parsed {
        key: 0,
        conversation: Conversation::Other,
        data: false,
        syn: false,
        marked: false,
        ends: Some(Ends {
            protocol,
            source: source.parse().expect("an end"),
            destination: destination.parse().expect("an end"),
        }),
    };
    let mut flows = ProgramFlows {
        addresses: [ip("10.0.1.1"), ip("10.0.4.1"), ip("fd00::1"), ip("fd00::4")].into(),
        ..ProgramFlows::default()
    };
    let mut claim = |mut frame: Parsed, down| {
        flows.claim(&mut frame, down).expect("few flows");
        (frame.conversation, frame.data)
    };
    let up = parsed(6, "10.0.1.1:5000", "10.0.4.1:80");
    assert_eq!(claim(up, false), (Conversation::Program(0), false));
    assert_eq!(
        claim(parsed(17, "10.0.1.1:5000", "10.0.4.1:80"), false),
        (Conversation::Program(1), true)
    );
    assert_eq!(
        claim(parsed(6, "10.0.4.1:80", "10.0.1.1:5000"), true),
        (Conversation::Program(0), false)
    );
    assert_eq!(
        claim(parsed(6, "[fd00::1]:9", "[fd00::4]:80"), false),
        (Conversation::Program(2), false)
    );
    // A router's message, and what is the plan's, are none of theirs.
    let router = parsed(1, "10.0.2.1:0", "10.0.1.1:0");
    assert_eq!(claim(router, true), (Conversation::Other, false));
    let planned = Parsed {
        conversation: Conversation::Flow(1),
        ..up
    };
    assert_eq!(claim(planned, false), (Conversation::Flow(1), false));
    for port in 0..MOST_PROGRAM_FLOWS - 3 {
        claim(parsed(6, &format!("10.0.1.1:{}", 10_000 + port), "10.0.4.1:80"), false);
    }
    let said = flows.claim(&mut parsed(6, "10.0.1.1:9", "10.0.4.1:9"), false);
    assert!(
        said.expect_err("one too many")
            .to_string()
            .contains("more than 10000 flows")
    );
}
