use super::*;
use sojourn_units::Bytes;

const HALF: Duration = Duration::from_millis(25);

fn spec(objects: &[u64], workers: usize) -> WebSpec {
    WebSpec {
        tcp: TcpParams {
            receive_window: Bytes::new(3 << 20),
            ..TcpParams::default()
        },
        start: Time::from_millis(10),
        interval: Duration::from_millis(200),
        objects: objects.to_vec(),
        workers,
        think_time: Duration::ZERO,
        request: 100,
        header: 300,
        dns: true,
        look_ups: LookUps::default(),
    }
}

/// A client on a path of 50 ms without queues. What `again` says of a packet (its number, itself), it is delivered
/// then once more.
struct Path {
    client: WebClient,
    now: Time,
    under_way: BTreeMap<(Time, u64), WebPacket>,
    sent: u64,
    /// Every packet with the time of sending.
    log: Vec<(Time, WebPacket)>,
    most_connections: usize,
}

impl Path {
    fn run(spec: WebSpec, until: Time, again: impl Fn(u64, &WebPacket) -> Option<Duration>) -> Self {
        let mut path = Self {
            client: WebClient::new(spec, Stream::new(1)).expect("usable parameters"),
            now: Time::ZERO,
            under_way: BTreeMap::new(),
            sent: 0,
            log: Vec::new(),
            most_connections: 0,
        };
        loop {
            let arrival = path.under_way.first_key_value().map(|(&(at, _), _)| at);
            let timer = path.client.timeout().map(|at| at.max(path.now));
            let Some(at) = arrival.into_iter().chain(timer).min().filter(|&at| at <= until) else {
                return path;
            };
            path.now = at;
            if arrival == Some(at) {
                let (_, packet) = path.under_way.pop_first().expect("there is an arrival");
                match packet.content {
                    Content::Segment(n, segment) => path.client.on_segment(packet.to_server, n, &segment, at),
                    Content::Dns(n) => path.client.on_dns(packet.to_server, n, packet.hash, at),
                }
            } else {
                path.client.on_timeout(at);
            }
            while let Some(packet) = path.client.poll() {
                path.log.push((at, packet));
                for extra in [Some(Duration::ZERO), again(path.sent, &packet)].into_iter().flatten() {
                    path.under_way.insert((at + HALF + extra, path.sent), packet);
                    path.sent += 1;
                }
            }
            path.most_connections = path.most_connections.max(path.client.open_connections());
        }
    }

    /// SYNs without ACK: when, and the hash.
    fn opened(&self) -> Vec<(Time, u32)> {
        self.log
            .iter()
            .filter(|(_, p)| p.to_server)
            .filter_map(|(at, p)| match p.content {
                Content::Segment(_, s) if s.flags.has(sojourn_tcp::Flags::SYN) => Some((*at, p.hash)),
                _ => None,
            })
            .collect()
    }
}

/// Look-up, handshake and request are a round trip each; then two objects at once over two connections, one of which
/// is new: look-up, handshake, request again.
#[test]
fn a_page_takes_the_round_trips_that_its_steps_take() {
    let path = Path::run(spec(&[1000, 1000, 1000], 4), Time::from_millis(2000), |_, _| None);
    let first = path.client.fetches[0];
    assert_eq!(first.dns, HALF * 2);
    assert_eq!(first.connect, HALF * 2);
    assert_eq!(first.time, HALF * 12);
    let alone = Path::run(spec(&[1000, 1000, 1000], 1), Time::from_millis(2000), |_, _| None);
    assert_eq!(alone.client.fetches[0].time, HALF * 10);
    let nameless = WebSpec {
        dns: false,
        ..spec(&[1000], 4)
    };
    assert_eq!(
        Path::run(nameless, Time::from_millis(500), |_, _| None).client.fetches[0].time,
        HALF * 4
    );
}

/// With one look-up a page the second connection opens at once, and the resolver is asked once by each page.
#[test]
fn a_page_looks_its_name_up_once_if_that_is_asked_for() {
    let queries = |path: &Path| {
        let asked = path.log.iter().filter(|(_, p)| p.to_server);
        asked.filter(|(_, p)| matches!(p.content, Content::Dns(_))).count()
    };
    let each = Path::run(spec(&[1000; 3], 4), Time::from_millis(390), |_, _| None);
    let once = WebSpec {
        look_ups: LookUps::Page,
        ..spec(&[1000; 3], 4)
    };
    let once = Path::run(once, Time::from_millis(390), |_, _| None);
    assert_eq!((each.client.fetches[0].time, queries(&each)), (HALF * 12, 3));
    assert_eq!((once.client.fetches[0].time, queries(&once)), (HALF * 10, 2));
}

/// The next fetch begins at once if the last took longer than the interval, else a whole interval after its
/// beginning.
#[test]
fn pages_begin_an_interval_apart_or_at_once() {
    let starts = |interval: u64| -> Vec<u64> {
        let slow = WebSpec {
            interval: Duration::from_millis(interval),
            ..spec(&[1000], 1)
        };
        let path = Path::run(slow, Time::from_millis(1000), |_, _| None);
        path.client
            .fetches
            .iter()
            .map(|f| f.start.as_nanos() / 1_000_000)
            .collect()
    };
    assert_eq!(starts(200), [10, 210, 410, 610, 810]);
    assert_eq!(starts(100), [10, 160, 310, 460, 610, 760]);
}

#[test]
fn the_server_thinks_before_each_answer() {
    let thinking = WebSpec {
        think_time: Duration::from_millis(7),
        ..spec(&[1000, 1000], 1)
    };
    let path = Path::run(thinking, Time::from_millis(1000), |_, _| None);
    assert_eq!(path.client.fetches[0].time, HALF * 8 + Duration::from_millis(14));
}

/// Objects go to the workers in order; each worker beyond the first opens its connection when it gets its first
/// object, and no page opens more than it has workers or objects.
#[test]
fn each_worker_opens_one_connection_with_ports_of_its_own() {
    for (objects, expected) in [(1, 1), (2, 1), (3, 2), (5, 4), (60, 4)] {
        let path = Path::run(spec(&vec![500; objects], 4), Time::from_secs(4), |_, _| None);
        let second = path.client.fetches[1].start;
        let of_first: Vec<u32> = path.opened().iter().filter(|o| o.0 < second).map(|o| o.1).collect();
        assert_eq!(of_first.len(), expected, "{objects} objects");
        let mut all: Vec<u32> = path.opened().iter().map(|o| o.1).collect();
        let opened = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), opened, "two connections have the same ports");
    }
}

/// A copy of each packet comes three seconds later, when its connection has been closed for long and others are open.
#[test]
fn what_is_left_of_a_closed_connection_does_not_touch_another() {
    let until = Time::from_secs(20);
    let clean = Path::run(spec(&[20_000, 3000, 50_000], 3), until, |_, _| None);
    let late = Duration::from_secs(3);
    let haunted = Path::run(spec(&[20_000, 3000, 50_000], 3), until, |_, _| Some(late));
    assert!(clean.client.fetches.len() > 30);
    assert_eq!(clean.client.fetches, haunted.client.fetches);
}

#[test]
fn connections_are_closed_on_both_sides_and_forgotten() {
    let path = Path::run(spec(&[20_000, 3000, 50_000, 1, 1], 4), Time::from_secs(600), |_, _| {
        None
    });
    assert!(path.client.fetches.len() > 1000);
    // Four in use, and four of the last page in the 75 ms that closing takes.
    assert!(path.most_connections <= 8, "{}", path.most_connections);
    let fins = |to_server: bool| {
        let fin = |p: &WebPacket| match p.content {
            Content::Segment(_, s) => p.to_server == to_server && s.flags.has(sojourn_tcp::Flags::FIN),
            Content::Dns(_) => false,
        };
        path.log
            .iter()
            .filter(|(at, p)| *at < Time::from_secs(590) && fin(p))
            .count()
    };
    assert_eq!(fins(true), fins(false));
}

/// The server has gone silent: Linux keeps such a socket for `tcp_fin_timeout`, 60 s.
#[test]
fn a_connection_whose_peer_is_gone_is_forgotten_after_60_s() {
    let mut client = WebClient::new(spec(&[10], 1), Stream::new(1)).expect("usable parameters");
    let mut connection = Connection::open(&client.spec.tcp, [1, 2], Time::ZERO);
    connection.close(Time::from_secs(1));
    client.connections.insert(7, connection);
    client.next_page = Time::from_secs(1000);
    let mut now = Time::ZERO;
    while let Some(at) = client.timeout().filter(|&at| at < Time::from_secs(1000)) {
        now = at.max(now);
        client.on_timeout(now);
        while client.poll().is_some() {}
    }
    assert_eq!((now, client.open_connections()), (Time::from_secs(61), 0));
}
