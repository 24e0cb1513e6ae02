//! Files of one size, one after the other, with idle times between them.
//!
//! Each file has a TCP connection of its own, with ports of its own and so a hash of its own. The sender connects,
//! writes the file and closes; the file is complete when its last byte is at the receiver. From then the idle time
//! runs until the next file. The receiver closes when it has read everything, so the end of one connection may still
//! be under way when the next begins.
//!
//! A persistent download has one connection, which nobody closes: the sender writes one file after the other. What a
//! file finds of the window is what the idle time has left of it (RFC 2861).
//!
//! Source: the file transfers of "FTP" type of RFC 7928 section 2.2.1, with the exponential idle times that studies
//! of slow links take. Deviation: a connection whose seven SYNs are all lost (in 127 s) fails, and no file follows
//! it; a segment for a connection that both ends have closed is dropped, where a kernel in TIME-WAIT would
//! acknowledge it.

use crate::draws::Gaps;
use crate::ends;
use crate::network::Destination;
use crate::source::{Context, Packet, Source};
use sojourn_tcp::{ConnectionState, Endpoint, Metrics, ParamError, Segment, TcpParams};
use sojourn_units::{Duration, Stream, Time};
use std::collections::{BTreeMap, VecDeque};

/// How long a connection is kept at most after its file. Source: Linux `tcp_fin_timeout`.
const LINGER_MAX: Duration = Duration::from_secs(60);
/// A connection is named by so many bits.
const NUMBER_BITS: u32 = 24;

/// A download.
#[derive(Clone, Debug)]
pub struct DownloadSpec {
    /// Of both ends of every connection.
    pub tcp: TcpParams,
    /// When the first file starts.
    pub start: Time,
    /// Bytes of each file.
    pub bytes: u64,
    /// Mean of the exponential time between the end of one file and the start of the next.
    pub gap: Duration,
    /// Whether all files go over one connection.
    pub persistent: bool,
    /// What the sender remembers from one file to the next, and of other connections to the same place; `None` for
    /// nothing.
    pub destination: Option<Destination>,
}

/// A file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// When its SYN was first sent; over a connection that was there before, when the file was written.
    pub start: Time,
    /// From then to its last byte at the receiver; `None` as long as that is not there.
    pub completion: Option<Duration>,
}

/// What the connections of a download have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Payload that receivers have in order.
    pub(crate) delivered: u64,
    pub(crate) segments_sent: u64,
    pub(crate) retransmissions: u64,
    pub(crate) syn_retransmissions: u64,
}

/// A segment of a download on its way onto the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) number: u32,
    pub(crate) to_receiver: bool,
    pub(crate) hash: u32,
    pub(crate) segment: Segment,
}

/// Both ends of a connection.
#[derive(Debug)]
struct Connection {
    sender: Endpoint,
    receiver: Endpoint,
    /// Of the packets to the receiver, and to the sender.
    hashes: [u32; 2],
    /// Bytes that the receiver has when the file is complete that is under way; `None` between files, and after the
    /// last.
    awaited: Option<u64>,
    /// When it is forgotten at the latest; `None` as long as files are to come or the file is not complete.
    forgotten_at: Option<Time>,
    /// The sender has told what it knows of its destination.
    remembered: bool,
}

impl Connection {
    fn timeout(&self) -> Option<Time> {
        let ends = [self.sender.timeout(), self.receiver.timeout(), self.forgotten_at];
        ends.into_iter().flatten().filter(|&at| at < Time::MAX).min()
    }

    fn on_timeout(&mut self, now: Time) {
        for end in [&mut self.sender, &mut self.receiver] {
            if end.timeout().is_some_and(|at| at <= now) {
                end.on_timeout(now);
            }
        }
    }

    /// Whether both ends have closed and know it, or it was kept long enough.
    fn is_over(&self, now: Time) -> bool {
        let closed =
            self.sender.state() == ConnectionState::TimeWait && self.receiver.state() == ConnectionState::Closed;
        closed || self.forgotten_at.is_some_and(|at| at <= now)
    }

    fn add_to(&self, totals: &mut Totals) {
        let stats = self.sender.sender().stats();
        totals.delivered += self.receiver.receiver().bytes_in_order();
        totals.segments_sent += stats.segments_sent;
        totals.retransmissions += stats.retransmissions;
        totals.syn_retransmissions += u64::from(self.sender.syn_retransmissions());
    }
}

/// A download under way. It reads no clock and knows no network: what it wants to send is taken with `poll`.
#[derive(Debug)]
pub struct Downloader {
    spec: DownloadSpec,
    gaps: Gaps,
    /// Which queue the packets of a connection fall into is drawn for each, as ports are.
    ports: Stream,
    /// When the next file starts; `None` while one is under way.
    next: Option<Time>,
    /// That of the last file, and those that are being closed.
    connections: BTreeMap<u32, Connection>,
    last_number: u32,
    outbox: VecDeque<Outgoing>,
    pub(crate) files: Vec<File>,
    /// Of the connections that are forgotten.
    past: Totals,
}

impl Downloader {
    /// A download called `name` that has not begun. Its idle times and the hashes of its connections are drawn by
    /// `seed` and its name.
    ///
    /// # Errors
    /// [`ParamError`] for unusable TCP parameters.
    pub fn new(spec: DownloadSpec, name: &str, seed: u64) -> Result<Self, ParamError> {
        Endpoint::client(&spec.tcp)?;
        Ok(Self {
            gaps: Gaps::new(seed, name, spec.gap),
            ports: Stream::named(seed, &format!("ports {name}")),
            next: Some(spec.start),
            connections: BTreeMap::new(),
            last_number: 0,
            outbox: VecDeque::new(),
            files: Vec::new(),
            past: Totals::default(),
            spec,
        })
    }

    /// The next segment to send now.
    fn poll(&mut self) -> Option<Outgoing> {
        self.outbox.pop_front()
    }

    /// When [`Downloader::on_timeout`] wants to be called.
    fn timeout(&self) -> Option<Time> {
        let connections = self.connections.values().filter_map(Connection::timeout);
        connections.chain(self.next).min()
    }

    /// Time has passed. Harmless if called too early. `known` is what is known of the destination, if that is
    /// remembered.
    fn on_timeout(&mut self, now: Time, known: Option<&Metrics>) {
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
        if self.next.is_some_and(|at| at <= now) {
            self.next = None;
            self.begin_file(now, known);
        }
    }

    /// A segment of connection `number` has arrived at one of its ends, which may want to answer: see
    /// [`Downloader::poll_end`].
    fn on_segment(
        &mut self,
        at_receiver: bool,
        number: u32,
        segment: &Segment,
        now: Time,
        known: Option<&mut Metrics>,
    ) {
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        if at_receiver {
            let end = &mut connection.receiver;
            ends::arrive(end, segment, now);
            if end.receiver().is_finished() {
                // An application that has read everything closes too.
                end.close();
            }
            let arrived = end.receiver().bytes_in_order();
            if connection.awaited.take_if(|awaited| arrived >= *awaited).is_some() {
                connection.forgotten_at = (!self.spec.persistent).then(|| now + LINGER_MAX);
                self.next = Some(now + self.gaps.draw());
                if let Some(file) = self.files.last_mut() {
                    file.completion = Some(now.since(file.start));
                }
            }
        } else {
            ends::arrive(&mut connection.sender, segment, now);
            if let Some(known) = known
                && !connection.remembered
                && connection.sender.sender().fin_acked()
            {
                connection.remembered = true;
                known.learn(connection.sender.sender());
            }
        }
    }

    /// The next segment that one end of connection `number` wants to send now.
    #[inline]
    fn poll_end(&mut self, of_receiver: bool, number: u32, now: Time) -> Option<Outgoing> {
        let connection = self.connections.get_mut(&number)?;
        let end = if of_receiver {
            &mut connection.receiver
        } else {
            &mut connection.sender
        };
        let segment = ends::next(end, now)?;
        Some(Outgoing {
            number,
            to_receiver: !of_receiver,
            hash: connection.hashes[usize::from(of_receiver)],
            segment,
        })
    }

    /// Connection `number` has taken and sent what there was: it is forgotten if it is over. Answers when
    /// [`Downloader::on_timeout`] wants to be called for it or for the next file; nothing has changed for the others.
    fn settle(&mut self, number: u32, now: Time) -> Option<Time> {
        let timeout = self.connections.get(&number).and_then(|connection| {
            let over = connection.is_over(now);
            (!over).then(|| connection.timeout())
        });
        if timeout.is_none()
            && let Some(connection) = self.connections.remove(&number)
        {
            connection.add_to(&mut self.past);
        }
        timeout.flatten().into_iter().chain(self.next).min()
    }

    fn begin_file(&mut self, now: Time, known: Option<&Metrics>) {
        if !(self.spec.persistent && self.write_again()) {
            self.open(now, known);
        }
        self.files.push(File {
            start: now,
            completion: None,
        });
        self.pump(self.last_number, now);
    }

    /// Writes the next file into the connection of the last one. Answers whether there is one.
    fn write_again(&mut self) -> bool {
        let Some(connection) = self.connections.get_mut(&self.last_number) else {
            return false;
        };
        connection.sender.write(self.spec.bytes);
        connection.awaited = Some(connection.receiver.receiver().bytes_in_order() + self.spec.bytes);
        true
    }

    /// Opens the connection of the next file, and writes that.
    fn open(&mut self, now: Time, known: Option<&Metrics>) {
        loop {
            self.last_number = (self.last_number + 1) % (1 << NUMBER_BITS);
            if !self.connections.contains_key(&self.last_number) {
                break;
            }
        }
        let valid = "the parameters were checked when the download was added";
        let hashes = [self.ports.u32(), self.ports.u32()];
        // As the ports tell connections apart, so they draw apart.
        let tcp = &self.spec.tcp.seeded(self.spec.tcp.cc.bbr.seed ^ u64::from(hashes[0]));
        let mut sender = Endpoint::client(tcp).expect(valid);
        if let Some(known) = known {
            sender.set_metrics(*known);
        }
        sender.connect(now);
        sender.write(self.spec.bytes);
        if !self.spec.persistent {
            sender.close();
        }
        let connection = Connection {
            sender,
            receiver: Endpoint::server(tcp).expect(valid),
            hashes,
            awaited: Some(self.spec.bytes),
            forgotten_at: None,
            remembered: false,
        };
        self.connections.insert(self.last_number, connection);
    }

    /// Takes all that a connection wants to send, and forgets it once it is over.
    fn pump(&mut self, number: u32, now: Time) {
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        for (to_receiver, end) in [(true, &mut connection.sender), (false, &mut connection.receiver)] {
            while let Some(segment) = ends::next(end, now) {
                self.outbox.push_back(Outgoing {
                    number,
                    to_receiver,
                    hash: connection.hashes[usize::from(!to_receiver)],
                    segment,
                });
            }
        }
        if connection.is_over(now) {
            connection.add_to(&mut self.past);
            self.connections.remove(&number);
        }
    }

    /// The hashes of a connection: of its packets to the receiver, and to the sender.
    fn hashes(&self, number: u32) -> Option<[u32; 2]> {
        self.connections.get(&number).map(|c| c.hashes)
    }

    /// What all connections have done.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = self.past;
        for connection in self.connections.values() {
            connection.add_to(&mut totals);
        }
        totals
    }

    #[inline]
    fn send(&self, out: &Outgoing, context: &mut Context<'_>) {
        let number = out.number;
        context.send_segment(out.to_receiver, (number, out.hash), &out.segment, || {
            self.hashes(number)
        });
    }
}

impl Source for Downloader {
    fn start(&self) -> Time {
        self.spec.start
    }

    fn on_wake(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let known = self.spec.destination.map(|to| &*context.metrics(to));
        self.on_timeout(now, known);
        while let Some(out) = self.poll() {
            self.send(&out, context);
        }
        context.wake_by(self.timeout());
    }

    fn on_packet(&mut self, packet: &Packet, forth: bool, context: &mut Context<'_>) {
        let (now, number) = (context.now(), packet.connection());
        let segment = context.take_segment(packet);
        let known = self.spec.destination.map(|to| context.metrics(to));
        self.on_segment(forth, number, &segment, now, known);
        while let Some(out) = self.poll_end(forth, number, now) {
            self.send(&out, context);
        }
        let at = self.settle(number, now);
        context.wake_by(at);
    }
}
