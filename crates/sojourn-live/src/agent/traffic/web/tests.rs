//! A web client on real sockets of the loopback interface, with a clock that stands still while anything is ready.

use super::*;
use crate::agent::fake::planned;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{RecvFlags, SendFlags, getsockname, recv, send, sockopt};
use sojourn_bed::{AccessPlan, Fetch};
use sojourn_scenario::{LookUps, WebScenario};
use sojourn_units::Duration;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};

const MS: u64 = 1_000_000;
const MILLISECOND: i64 = 1_000_000;

/// How long nothing must happen before the clock goes on: loopback delivers while a packet is being sent, so anything
/// that is not there by now is waiting for a timer.
const SETTLED: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

struct Loop {
    host: Ipv4Addr,
    now: i64,
    end: i64,
    epoll: OwnedFd,
    sockets: BTreeMap<u32, OwnedFd>,
    timers: BTreeMap<u32, i64>,
    entered: Vec<Host>,
    /// So many queries are lost before they reach the resolver.
    lose_queries: usize,
}

impl World for Loop {
    fn now(&self) -> i64 {
        self.now
    }
    fn at(&self, _: i64, _: i64) -> i64 {
        unreachable!("a web client reads no time stamps")
    }
    fn end(&self) -> i64 {
        self.end
    }
    fn client(&self, _: AccessPlan) -> Ipv4Addr {
        self.host
    }
    fn server(&self, _: usize, _: AccessPlan) -> Ipv4Addr {
        self.host
    }
    fn enter(&mut self, host: Host) -> Result<(), AgentError> {
        self.entered.push(host);
        Ok(())
    }
    fn register(&mut self, key: u32, fd: BorrowedFd<'_>, write: bool) -> Result<(), AgentError> {
        let mut flags = epoll::EventFlags::IN;
        flags.set(epoll::EventFlags::OUT, write);
        let data = epoll::EventData::new_u64(u64::from(key));
        if let Some(known) = self.sockets.get(&key) {
            epoll::modify(&self.epoll, known, data, flags).unwrap();
        } else {
            let copy = fd.try_clone_to_owned().unwrap();
            epoll::add(&self.epoll, &copy, data, flags).unwrap();
            self.sockets.insert(key, copy);
        }
        Ok(())
    }
    fn deregister(&mut self, key: u32, fd: BorrowedFd<'_>) -> Result<(), AgentError> {
        let known = self
            .sockets
            .remove(&key)
            .expect("only what is registered is deregistered");
        let cookie = |fd: BorrowedFd<'_>| sockopt::socket_cookie(fd).unwrap();
        assert_eq!(cookie(known.as_fd()), cookie(fd), "a socket goes under its own key");
        epoll::delete(&self.epoll, &known).unwrap();
        Ok(())
    }
    fn set_timer(&mut self, key: u32, at_ns: i64) {
        self.timers.insert(key, at_ns);
    }
    fn cancel_timer(&mut self, key: u32) {
        self.timers.remove(&key);
    }
}

impl Loop {
    /// A world with an address of its own, so that tests do not meet, in this process and in others.
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = std::process::id() * 64 + NEXT.fetch_add(1, Ordering::Relaxed) % 64;
        let [_, a, b, c] = number.to_be_bytes();
        Self {
            host: Ipv4Addr::new(127, a, b, c.clamp(1, 254)),
            now: -1000,
            end: i64::MAX,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC).unwrap(),
            sockets: BTreeMap::new(),
            timers: BTreeMap::new(),
            entered: Vec::new(),
            lose_queries: 0,
        }
    }

    /// Runs `web` until `until`, or until it has `most` fetches.
    fn run(&mut self, web: &mut Web, until: i64, most: usize) {
        while web.fetches().len() < most {
            let mut events = [epoll::Event {
                flags: epoll::EventFlags::empty(),
                data: epoll::EventData::new_u64(0),
            }; 16];
            let count = epoll::wait(&self.epoll, &mut events, Some(&SETTLED)).unwrap();
            if count == 0 {
                let due = self.timers.iter().map(|(&key, &at)| (at, key)).min();
                let Some((at, key)) = due.filter(|&(at, _)| at <= until) else {
                    return;
                };
                self.timers.remove(&key);
                self.now = self.now.max(at);
                web.due(key, self).unwrap();
            }
            for event in &events[..count] {
                let key = event.data.u64() as u32;
                if key == KEY_RESOLVER && self.lose_queries > 0 {
                    recv(&self.sockets[&key], &mut [0; 64], RecvFlags::empty()).unwrap();
                    self.lose_queries -= 1;
                } else {
                    web.ready(key, self).unwrap();
                }
            }
        }
    }
}

impl Web {
    fn fetches(&self) -> &[Fetch] {
        let ends = self.ends.as_ref().or(self.left.as_ref());
        ends.map_or(&[], |ends| &ends.client.fetches)
    }

    fn answered(&self) -> &[(usize, usize)] {
        &self.ends.as_ref().unwrap().server.answered
    }
}

fn plan(objects: &[u64], workers: usize) -> WebPlan {
    let spec = WebScenario {
        name: "web".into(),
        objects: objects.to_vec(),
        workers,
        interval: Duration::from_millis(200),
        congestion_control: serde_json::from_str("\"reno\"").expect("a name"),
        think_time: Duration::from_millis(7),
        ..WebScenario::default()
    };
    planned(spec, 10 * MILLISECOND)
}

/// A plan of which something of the scenario's is other.
fn with(mut plan: WebPlan, change: impl FnOnce(&mut WebScenario)) -> WebPlan {
    change(&mut plan.spec);
    plan
}

fn load() -> LoadPlan {
    LoadPlan {
        format: sojourn_bed::LOAD_FORMAT.into(),
        seed: 1,
        lead_ns: 0,
        duration_ns: 1000 * MS,
        interval_ns: 200 * MS,
        paths: vec![50 * MS],
        up: sojourn_bed::BottleneckPlan::default(),
        down: sojourn_bed::BottleneckPlan::default(),
        edge_rate_bps: None,
        edge_burst_bytes: None,
        edge_limit: sojourn_scenario::EDGE_LIMIT,
        tcp: sojourn_tcp::TcpParams::default(),
        flows: Vec::new(),
        probes: Vec::new(),
        web: Vec::new(),
        downloads: Vec::new(),
        flusher: None,
        programs: Vec::new(),
        wifi: None,
    }
}

fn started(plan: &WebPlan) -> (Loop, Web) {
    let mut world = Loop::new();
    let mut web = Web::new(3, plan, &load()).unwrap();
    web.start(&mut world).unwrap();
    (world, web)
}

/// Each answer is thought about for 7 ms, and nothing else takes time: the main document, then two objects at once,
/// or one after the other.
#[test]
fn a_page_takes_the_time_of_its_answers_in_turn() {
    for (objects, workers, answers) in [(1, 4, 1), (3, 4, 2), (3, 1, 3), (5, 2, 3), (9, 4, 3)] {
        let (mut world, mut web) = started(&plan(&vec![1000; objects], workers));
        world.run(&mut web, i64::MAX, 1);
        let expected = Fetch {
            start_ns: 10 * MILLISECOND,
            dns_ns: 0,
            connect_ns: 0,
            time_ns: answers * 7 * MS,
            syn_retransmitted: 0,
            dns_retried: 0,
        };
        assert_eq!(web.fetches(), [expected], "{objects} objects, {workers} workers");
    }
}

/// Without a time to think the order is that of the sockets; all bytes arrive, also where an answer is larger than
/// the buffers of both ends, and each object is asked for once.
#[test]
fn all_bytes_of_large_objects_arrive() {
    let objects = [20_000_000, 1, 3_000_000, 70_000];
    for (request_bytes, header_bytes) in [(1, 0), (2, 1), (100, 300), (1 << 20, 1 << 20)] {
        let (mut world, mut web) = started(&with(plan(&objects, 3), |web| {
            web.think_time = Duration::ZERO;
            web.request_bytes = request_bytes;
            web.header_bytes = header_bytes;
        }));
        world.run(&mut web, i64::MAX, 1);
        let mut asked: Vec<usize> = web.answered().iter().map(|&(_, object)| object).collect();
        asked.sort_unstable();
        assert_eq!((web.fetches().len(), asked), (1, vec![0, 1, 2, 3]), "{request_bytes}");
    }
}

/// With the same time to think for each, the objects are asked for in order, by each worker over its one connection.
#[test]
fn objects_are_handed_to_the_workers_in_order() {
    for (objects, workers, expected) in [(1, 4, 1), (2, 4, 1), (3, 4, 2), (5, 4, 4), (40, 3, 3), (300, 64, 64)] {
        for request_bytes in [1, 100] {
            let (mut world, mut web) = started(&with(plan(&vec![500; objects], workers), |web| {
                web.request_bytes = request_bytes;
            }));
            world.run(&mut web, i64::MAX, 1);
            let asked: Vec<usize> = web.answered().iter().map(|&(_, object)| object).collect();
            let mut sorted = asked.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..objects).collect::<Vec<_>>());
            // As many as there are workers may overtake each other, as the kernel reports their sockets.
            let far = asked.iter().enumerate().map(|(at, &object)| at.abs_diff(object)).max();
            assert!(far.unwrap() < workers, "{objects} objects, {workers} workers: {far:?}");
            let mut connections: Vec<usize> = web.answered().iter().map(|&(place, _)| place).collect();
            connections.sort_unstable();
            connections.dedup();
            assert_eq!(connections.len(), expected, "{objects} objects, {workers} workers");
        }
    }
}

#[test]
fn pages_begin_an_interval_apart_or_at_once() {
    let starts = |interval: u64| -> Vec<i64> {
        let (mut world, mut web) = started(&with(plan(&[1000, 1000], 1), |web| {
            web.interval = Duration::from_nanos(interval * MS);
            web.think_time = Duration::from_nanos(30 * MS);
        }));
        world.run(&mut web, i64::MAX, 4);
        web.fetches().iter().map(|f| f.start_ns / MILLISECOND).collect()
    };
    assert_eq!(starts(100), [10, 110, 210, 310]);
    assert_eq!(starts(40), [10, 70, 130, 190]);
    assert_eq!(starts(60), [10, 70, 130, 190]);
}

#[test]
fn a_query_without_an_answer_is_repeated_every_5_s() {
    let (mut world, mut web) = started(&plan(&[1000], 4));
    world.lose_queries = 2;
    world.run(&mut web, i64::MAX, 2);
    let seen: Vec<_> = web
        .fetches()
        .iter()
        .map(|f| (f.dns_ns, f.dns_retried, f.time_ns))
        .collect();
    assert_eq!(seen, [(10_000 * MS, 2, 10_007 * MS), (0, 0, 7 * MS)]);
}

/// The second worker's look-up is lost: it is counted, and the time of the first one's is told.
#[test]
fn retries_of_all_workers_count() {
    let (mut world, mut web) = started(&plan(&[1000, 1000, 1000], 2));
    world.run(&mut web, 12 * MILLISECOND, 1);
    world.lose_queries = 1;
    world.run(&mut web, i64::MAX, 1);
    let fetch = web.fetches()[0];
    assert_eq!((fetch.dns_ns, fetch.dns_retried, fetch.time_ns), (0, 1, 5014 * MS));
}

/// The same loss with one look-up a page: the second worker asks nothing, so that nothing of it can be lost.
#[test]
fn with_one_look_up_a_page_other_workers_do_not_ask() {
    let (mut world, mut web) = started(&with(plan(&[1000, 1000, 1000], 2), |web| web.look_ups = LookUps::Page));
    world.run(&mut web, 12 * MILLISECOND, 1);
    world.lose_queries = 1;
    world.run(&mut web, i64::MAX, 1);
    let fetch = web.fetches()[0];
    assert_eq!((fetch.dns_retried, fetch.time_ns, world.lose_queries), (0, 14 * MS, 1));
}

#[test]
fn without_look_ups_nothing_is_asked_of_the_resolver() {
    let (mut world, mut web) = started(&with(plan(&[1000, 1000, 1000], 2), |web| web.dns = false));
    world.lose_queries = 1;
    world.run(&mut web, i64::MAX, 1);
    assert_eq!((web.fetches()[0].time_ns, world.lose_queries), (14 * MS, 1));
}

#[test]
fn a_fetch_under_way_at_the_end_is_not_counted() {
    let (mut world, mut web) = started(&plan(&[1000, 1000], 1));
    world.run(&mut web, 218 * MILLISECOND, usize::MAX);
    web.window_ends(&mut world).unwrap();
    assert!(world.sockets.is_empty() && world.timers.is_empty());
    // What the event loop had already taken from the kernel.
    for key in 0..8 {
        web.ready(key, &mut world).unwrap();
        web.due(key, &mut world).unwrap();
    }
    let mut measured: Measured = serde_json::from_str(
        r#"{"format":"sojourn-measured/1","kernel":{"release":"","version":"","virtual_time":true},"flows":[],
        "probes":[],"web":[],"up":{"kind":"","samples":[],"extra_begin":{},"extra_end":{}},
        "down":{"kind":"","samples":[],"extra_begin":{},"extra_end":{}},"counters":{}}"#,
    )
    .unwrap();
    web.finish(&mut measured);
    let fetches = &measured.web[3].fetches;
    assert_eq!((measured.web.len(), fetches.len(), fetches[0].time_ns), (4, 1, 14 * MS));
}

/// Connections and look-ups belong to the client's host, the servers to the other; all of them are closed after the
/// page.
#[test]
fn sockets_are_opened_where_they_belong_and_closed_after_the_page() {
    let (mut world, mut web) = started(&plan(&[1000; 5], 4));
    assert_eq!(world.entered, [Host::Server, Host::Client(0)]);
    for pages in 1..20 {
        world.run(&mut web, i64::MAX, pages);
        world.run(&mut web, world.now, usize::MAX);
        assert_eq!(
            world.sockets.keys().copied().collect::<Vec<_>>(),
            [KEY_SERVER, KEY_RESOLVER]
        );
        assert_eq!(web.ends.as_ref().unwrap().server.connections(), 0);
        assert!(world.entered[1..].iter().all(|&host| host == Host::Client(0)));
        // A look-up and a connection for each of the four workers.
        assert_eq!(world.entered.len(), 2 + pages * 8);
    }
}

#[test]
fn both_ends_have_the_congestion_control_of_the_plan_and_send_at_once() {
    let (mut world, mut web) = started(&plan(&[1000], 1));
    world.run(&mut web, 11 * MILLISECOND, 1);
    for key in [KEY_WORKERS, KEY_WORKERS + 1] {
        let socket = &world.sockets[&key];
        assert_eq!(sockopt::tcp_congestion(socket).unwrap(), "reno");
        assert!(sockopt::tcp_nodelay(socket).unwrap());
    }
    let ports: Vec<u16> = [KEY_SERVER, KEY_RESOLVER]
        .map(|key| {
            SocketAddrV4::try_from(getsockname(&world.sockets[&key]).unwrap())
                .unwrap()
                .port()
        })
        .to_vec();
    assert_eq!(ports, [ports::WEB + 3, ports::DNS + 3]);
}

/// A stranger's bytes end the stranger's connection; the page is fetched as before.
#[test]
fn strangers_do_not_disturb() {
    for request_bytes in [1, 100] {
        let (mut world, mut web) = started(&with(plan(&[1000, 1000, 1000], 2), |web| {
            web.request_bytes = request_bytes;
        }));
        let server = SocketAddrV4::new(world.host, ports::WEB + 3);
        let resolver = SocketAddrV4::new(world.host, ports::DNS + 3);
        let mut strangers: Vec<TcpStream> = (0..3).map(|_| TcpStream::connect(server).unwrap()).collect();
        strangers[0].write_all(&[0xff; 100]).unwrap();
        strangers[1].write_all(&[0; 5000]).unwrap();
        drop(strangers.pop());
        let datagrams = UdpSocket::bind((world.host, 0)).unwrap();
        for length in [0, 1, 31, 32, 33, 1400] {
            datagrams.send_to(&vec![1; length], resolver).unwrap();
        }
        world.run(&mut web, i64::MAX, 2);
        let times: Vec<u64> = web.fetches().iter().map(|f| f.time_ns).collect();
        assert_eq!(times, [14 * MS, 14 * MS]);
        for stranger in &mut strangers {
            // Its end, or a reset.
            assert!(matches!(stranger.read(&mut [0; 64]), Ok(0) | Err(_)));
        }
    }
}

/// The connection ends when half the answer is there. The first page is complete, the second never is.
#[test]
fn no_fetch_is_completed_after_a_connection_failed() {
    let (mut world, mut web) = started(&plan(&[1000, 1000], 1));
    world.run(&mut web, 211 * MILLISECOND, usize::MAX);
    let server = &world.sockets[&(KEY_WORKERS + 1)];
    send(server, &[0; 500], SendFlags::empty()).unwrap();
    rustix::net::shutdown(server, rustix::net::Shutdown::Write).unwrap();
    world.run(&mut web, i64::MAX, usize::MAX);
    assert_eq!(web.fetches().len(), 1);
    assert!(!world.sockets.contains_key(&KEY_WORKERS) && !world.timers.contains_key(&0));
}

/// Nobody listens: the kernel refuses the connection at once.
#[test]
fn a_connection_that_is_refused_has_failed() {
    let (mut world, mut web) = started(&plan(&[1000], 1));
    let server = &world.sockets[&KEY_SERVER];
    rustix::net::shutdown(server, rustix::net::Shutdown::Both).unwrap();
    world
        .deregister(KEY_SERVER, world.sockets[&KEY_SERVER].try_clone().unwrap().as_fd())
        .unwrap();
    world.run(&mut web, i64::MAX, usize::MAX);
    assert_eq!((web.fetches().len(), world.sockets.len()), (0, 1));
}

#[test]
fn a_plan_that_cannot_be_carried_out_is_refused_in_one_sentence() {
    let good = plan(&[1000], 1);
    let refused = |plan: WebPlan, index| Web::new(index, &plan, &load()).unwrap_err().to_string();
    let cases = [
        (
            with(good.clone(), |web| web.objects = vec![]),
            "web[0].objects is a list of 0, but must be a list of 1 to 65536",
        ),
        (
            with(good.clone(), |web| web.objects = vec![5, 0]),
            "web[0].objects[1] is 0, but must be 1 to 1099511627776 bytes",
        ),
        (
            with(good.clone(), |web| web.workers = 65),
            "web[0].workers is 65, but must be 1 to 64",
        ),
        (
            with(good.clone(), |web| web.request_bytes = 0),
            "web[0].request_bytes is 0, but must be 1 to 1048576",
        ),
        (
            with(good.clone(), |web| web.header_bytes = 1_048_577),
            "web[0].header_bytes is 1048577, but must be 0 to 1048576",
        ),
        (
            with(good.clone(), |web| web.interval = Duration::ZERO),
            "web[0].interval is 0, but must be greater than 0",
        ),
        (
            WebPlan {
                path: 1,
                ..good.clone()
            },
            "web[0].path is 1, but must be less than 1, the number of paths",
        ),
    ];
    for (plan, sentence) in cases {
        assert_eq!(refused(plan, 0), sentence);
    }
    assert_eq!(
        refused(good, 3000),
        "the plan has a web client 3000, but at most 3000 have ports"
    );
}
