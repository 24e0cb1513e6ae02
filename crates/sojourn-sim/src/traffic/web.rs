//! A web browser in miniature: it fetches one page again and again, over a few persistent connections.
//!
//! Source: seed 000 section 5.3 and the tool that it used, http-getter (cURL). Each page begins from nothing: no name
//! is known and no connection is open. The first worker looks the name up, connects and gets the main document; then
//! all workers take the other objects in order, each over one connection of its own, which it opens when it gets its
//! first object (with a look-up of its own, unless one a page is asked for). When the last object is there the
//! connections are closed.
//!
//! What the transport sees of it: each connection and each look-up has ports of its own and so a hash of its own;
//! requests leave at once (TCP_NODELAY); an answer is written at once, after the server's think time.
//!
//! Deviations: a look-up is one query for an address, over UDP, repeated every 5 s for as long as it takes (glibc's
//! stub resolver gives up after two); the resolver answers at once and stands beside the server. A connection has no
//! TLS. One whose seven SYNs are all lost (in 127 s) fails, and no fetch is completed after it. What
//! arrives for a connection that both ends have closed is dropped, where a kernel in TIME-WAIT would acknowledge it:
//! no one is left to whom that would matter.

use super::connection::Connection;
use crate::source::{Context, Packet, Source};
use sojourn_scenario::LookUps;
use sojourn_tcp::{Endpoint, ParamError, Segment, TcpParams};
use sojourn_units::{Duration, Stream, Time};
use std::collections::{BTreeMap, VecDeque};

/// Bytes on the wire of a query for the address of a name of 14 letters such as `www.google.com`: Ethernet 14, IPv4
/// 20, UDP 8, DNS header 12, name 16, type and class 4 (RFC 1035 section 4.1).
pub const DNS_QUERY: u16 = 74;
/// And of its answer, with one address record of 16 bytes.
pub const DNS_ANSWER: u16 = 90;
/// Time after which a query is repeated. Source: resolv.conf(5), `timeout`.
pub const DNS_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection is named by so many bits.
const NUMBER_BITS: u32 = 24;

#[cfg(test)]
mod tests;

/// A web client.
#[derive(Clone, Debug)]
pub struct WebSpec {
    /// Of both ends of every connection.
    pub tcp: TcpParams,
    /// When the first fetch begins.
    pub start: Time,
    /// From the beginning of a fetch to that of the next; one that takes longer is followed at once.
    pub interval: Duration,
    /// Bytes of the main document, then of the others in the order in which they are asked for.
    pub objects: Vec<u64>,
    /// Most connections at a time.
    pub workers: usize,
    /// What the server waits before it answers.
    pub think_time: Duration,
    /// Bytes of a request.
    pub request: u64,
    /// Bytes of an answer before the object's.
    pub header: u64,
    /// Whether names are looked up.
    pub dns: bool,
    /// By which connections of a page, if so.
    pub look_ups: LookUps,
}

/// A page that was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// When the fetch began.
    pub start: Time,
    /// How long the first worker's look-up took.
    pub dns: Duration,
    /// And its handshake.
    pub connect: Duration,
    /// From the beginning to the last byte of the last object.
    pub time: Duration,
    /// SYNs sent again, by all workers.
    pub syn_retransmitted: u32,
    /// Queries sent again, by all workers.
    pub dns_retried: u32,
}

/// What a web client puts onto the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WebPacket {
    pub(crate) to_server: bool,
    pub(crate) hash: u32,
    pub(crate) content: Content,
}

/// See [`WebPacket`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    /// Of the connection of this number.
    Segment(u32, Segment),
    /// A query, or the answer to it.
    Dns(u32),
}

/// The hash of the answer to a query of this hash: it follows from that, as the answer's ports follow from the
/// query's.
pub(crate) fn answer_hash(query: u32) -> u32 {
    query.wrapping_mul(0x9e37_79b9).rotate_left(15)
}

/// What a worker is doing.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// It has no connection and no object.
    Unused,
    /// It waits for the answer to query `number`, and repeats it at `due`.
    Looking {
        number: u32,
        hash: u32,
        since: Time,
        due: Time,
    },
    /// It waits for connection `number`.
    Connecting { number: u32, since: Time },
    /// It has connection `number`, and may be waiting for an object.
    Open { number: u32, waiting: bool },
}

/// A page that is being fetched.
#[derive(Debug)]
struct Page {
    fetch: Fetch,
    /// The object that is handed out next, and how many are there.
    next: usize,
    complete: usize,
}

/// A web client under way. It reads no clock and knows no network: what it wants to send is taken with `poll`.
#[derive(Debug)]
pub struct WebClient {
    spec: WebSpec,
    /// Objects of the workers, by worker.
    objects: Vec<u64>,
    phases: Vec<Phase>,
    page: Option<Page>,
    next_page: Time,
    /// Those in use, and those that are being closed. Numbers are not used twice while a packet may be under way.
    connections: BTreeMap<u32, Connection>,
    last_number: u32,
    queries: u32,
    /// Which queue the packets of a connection fall into is drawn for each, as ports are.
    ports: Stream,
    outbox: VecDeque<WebPacket>,
    pub(crate) fetches: Vec<Fetch>,
}

impl WebClient {
    /// A web client that has not begun. The hashes of its connections and look-ups are drawn from `ports`.
    ///
    /// # Errors
    /// [`ParamError`] for unusable TCP parameters.
    pub fn new(spec: WebSpec, ports: Stream) -> Result<Self, ParamError> {
        Endpoint::client(&spec.tcp)?;
        Ok(Self {
            objects: vec![0; spec.workers],
            phases: vec![Phase::Unused; spec.workers],
            page: None,
            next_page: spec.start,
            connections: BTreeMap::new(),
            last_number: 0,
            queries: 0,
            ports,
            outbox: VecDeque::new(),
            fetches: Vec::new(),
            spec,
        })
    }

    /// The next packet to send now.
    pub(crate) fn poll(&mut self) -> Option<WebPacket> {
        self.outbox.pop_front()
    }

    /// When [`WebClient::on_timeout`] wants to be called.
    pub(crate) fn timeout(&self) -> Option<Time> {
        let page = self.page.is_none().then_some(self.next_page);
        let queries = self.phases.iter().filter_map(|phase| match phase {
            Phase::Looking { due, .. } => Some(*due),
            _ => None,
        });
        let connections = self.connections.values().filter_map(Connection::timeout);
        page.into_iter().chain(queries).chain(connections).min()
    }

    /// Time has passed. Harmless if called too early.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        let due: Vec<u32> = self
            .connections
            .iter()
            .filter(|(_, c)| c.timeout().is_some_and(|at| at <= now))
            .map(|(&number, _)| number)
            .collect();
        for number in due {
            if let Some(connection) = self.connections.get_mut(&number) {
                connection.on_timeout(now);
            }
            self.pump(number, now);
        }
        for worker in 0..self.phases.len() {
            if let Phase::Looking { number, hash, due, .. } = &mut self.phases[worker]
                && *due <= now
            {
                *due = now + DNS_TIMEOUT;
                self.outbox.push_back(WebPacket {
                    to_server: true,
                    hash: *hash,
                    content: Content::Dns(*number),
                });
                if let Some(page) = &mut self.page {
                    page.fetch.dns_retried += 1;
                }
            }
        }
        if self.page.is_none() && self.next_page <= now {
            self.begin_page(now);
        }
    }

    /// A segment of connection `number` has arrived.
    pub(crate) fn on_segment(&mut self, at_server: bool, number: u32, segment: &Segment, now: Time) {
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        connection.on_segment(at_server, segment, self.spec.think_time, now);
        self.pump(number, now);
        if !at_server {
            self.progress(number, now);
        }
    }

    /// A query or its answer has arrived.
    pub(crate) fn on_dns(&mut self, at_server: bool, number: u32, hash: u32, now: Time) {
        if at_server {
            // The resolver keeps no state.
            self.outbox.push_back(WebPacket {
                to_server: false,
                hash: answer_hash(hash),
                content: Content::Dns(number),
            });
            return;
        }
        let asking = self.phases.iter().enumerate().find_map(|(worker, phase)| match phase {
            Phase::Looking { number: n, since, .. } if *n == number => Some((worker, *since)),
            _ => None,
        });
        let Some((worker, since)) = asking else { return };
        if let Some(page) = &mut self.page
            && worker == 0
        {
            page.fetch.dns = now.since(since);
        }
        self.connect(worker, now);
    }

    // ------------------------------------------------------------------ a page

    fn begin_page(&mut self, now: Time) {
        self.page = Some(Page {
            fetch: Fetch {
                start: now,
                dns: Duration::ZERO,
                connect: Duration::ZERO,
                time: Duration::ZERO,
                syn_retransmitted: 0,
                dns_retried: 0,
            },
            next: 0,
            complete: 0,
        });
        self.hand_out(0, now);
    }

    /// Gives `worker` the next object, if there is one left.
    fn hand_out(&mut self, worker: usize, now: Time) {
        let Some(page) = &mut self.page else { return };
        let Some(&size) = self.spec.objects.get(page.next) else {
            return;
        };
        page.next += 1;
        self.objects[worker] = size;
        match self.phases[worker] {
            Phase::Open { number, .. } => self.ask(worker, number, now),
            _ if self.spec.dns && self.spec.look_ups.include(worker) => self.look_up(worker, now),
            _ => self.connect(worker, now),
        }
    }

    fn look_up(&mut self, worker: usize, now: Time) {
        let (number, hash) = (self.queries, self.ports.u32());
        self.queries = self.queries.wrapping_add(1);
        self.phases[worker] = Phase::Looking {
            number,
            hash,
            since: now,
            due: now + DNS_TIMEOUT,
        };
        self.outbox.push_back(WebPacket {
            to_server: true,
            hash,
            content: Content::Dns(number),
        });
    }

    fn connect(&mut self, worker: usize, now: Time) {
        loop {
            self.last_number = (self.last_number + 1) % (1 << NUMBER_BITS);
            if !self.connections.contains_key(&self.last_number) {
                break;
            }
        }
        let (number, hashes) = (self.last_number, [self.ports.u32(), self.ports.u32()]);
        self.connections
            .insert(number, Connection::open(&self.spec.tcp, hashes, now));
        self.phases[worker] = Phase::Connecting { number, since: now };
        self.pump(number, now);
    }

    fn ask(&mut self, worker: usize, number: u32, now: Time) {
        let answer = self.spec.header + self.objects[worker];
        if let Some(connection) = self.connections.get_mut(&number) {
            connection.ask(self.spec.request, answer);
        }
        self.phases[worker] = Phase::Open { number, waiting: true };
        self.pump(number, now);
    }

    /// Something has arrived at the client's end of connection `number`: it may be open now, or an object complete.
    fn progress(&mut self, number: u32, now: Time) {
        let Some(connection) = self.connections.get(&number) else {
            return;
        };
        for worker in 0..self.phases.len() {
            match self.phases[worker] {
                Phase::Connecting { number: n, since } if n == number => {
                    if connection.is_open() {
                        if let Some(page) = &mut self.page {
                            page.fetch.syn_retransmitted += connection.syn_retransmissions();
                            if worker == 0 {
                                page.fetch.connect = now.since(since);
                            }
                        }
                        self.ask(worker, number, now);
                    }
                    return;
                }
                Phase::Open { number: n, waiting } if n == number => {
                    if waiting && connection.is_answered() {
                        self.phases[worker] = Phase::Open { number, waiting: false };
                        self.completed(worker, now);
                    }
                    return;
                }
                _ => {}
            }
        }
    }

    /// `worker` has its object.
    fn completed(&mut self, worker: usize, now: Time) {
        let Some(page) = &mut self.page else { return };
        page.complete += 1;
        if page.complete == self.spec.objects.len() {
            self.end_page(now);
        } else if page.complete == 1 && page.next == 1 {
            // The main document tells what else there is.
            for worker in 0..self.phases.len() {
                self.hand_out(worker, now);
            }
        } else {
            self.hand_out(worker, now);
        }
    }

    fn end_page(&mut self, now: Time) {
        let Some(mut page) = self.page.take() else { return };
        page.fetch.time = now.since(page.fetch.start);
        self.fetches.push(page.fetch);
        for worker in 0..self.phases.len() {
            if let Phase::Open { number, .. } = std::mem::replace(&mut self.phases[worker], Phase::Unused) {
                if let Some(connection) = self.connections.get_mut(&number) {
                    connection.close(now);
                }
                self.pump(number, now);
            }
        }
        self.next_page = page.fetch.start + self.spec.interval;
        if self.next_page <= now {
            self.begin_page(now);
        }
    }

    // ------------------------------------------------------------------ connections

    /// Takes all that a connection wants to send, and forgets it once it is over.
    fn pump(&mut self, number: u32, now: Time) {
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        while let Some((to_server, segment)) = connection.poll(now) {
            self.outbox.push_back(WebPacket {
                to_server,
                hash: connection.hashes[usize::from(!to_server)],
                content: Content::Segment(number, segment),
            });
        }
        if connection.is_over(now) {
            self.connections.remove(&number);
        }
    }

    /// The hashes of a connection: of its packets to the server, and to the client.
    pub(crate) fn hashes(&self, number: u32) -> Option<[u32; 2]> {
        self.connections.get(&number).map(|c| c.hashes)
    }

    /// Sends what there is to send, and sets the wake-up.
    fn flush(&mut self, context: &mut Context<'_>) {
        while let Some(WebPacket {
            to_server,
            hash,
            content,
        }) = self.poll()
        {
            match content {
                Content::Segment(number, segment) => {
                    context.send_segment(to_server, (number, hash), &segment, || self.hashes(number));
                }
                Content::Dns(number) => {
                    let size = if to_server { DNS_QUERY } else { DNS_ANSWER };
                    let hashes = || to_server.then(|| [hash, answer_hash(hash)]);
                    context.send_look_up(to_server, (number, hash), size, hashes);
                }
            }
        }
        context.wake_by(self.timeout());
    }

    /// Connections in use or being closed.
    #[cfg(test)]
    fn open_connections(&self) -> usize {
        self.connections.len()
    }
}

impl Source for WebClient {
    fn start(&self) -> Time {
        self.spec.start
    }

    fn on_wake(&mut self, context: &mut Context<'_>) {
        self.on_timeout(context.now());
        self.flush(context);
    }

    fn on_packet(&mut self, packet: &Packet, forth: bool, context: &mut Context<'_>) {
        if packet.is_tcp() {
            let segment = context.take_segment(packet);
            self.on_segment(forth, packet.connection(), &segment, context.now());
        } else {
            self.on_dns(forth, packet.number(), packet.hash, context.now());
        }
        self.flush(context);
    }
}
