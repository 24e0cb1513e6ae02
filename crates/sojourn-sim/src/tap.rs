//! Taps: what a packet capture at a point of the five-node path sees.
//!
//! A tap hands facts to a [`Capture`]; bytes, files and formats are its caller's (`sojourn-capture` writes pcapng). A
//! run without a tap pays one test of an `Option` for each packet at each link.

pub mod hosts;

use self::hosts::End;
use crate::network::RoutePair;
use crate::packet::{Packet, Segments};
use crate::topology::Path;
use sojourn_scenario::Voice;
use sojourn_tcp::Segment;
use sojourn_units::Time;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::io;

/// An interface at which one could run `tcpdump`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Point {
    /// The client's own interface: all that the client sends, before the queue under test, and all that reaches it.
    Client,
    /// The client-side router's interface to the bottleneck: what leaves its queue, and what comes from the other
    /// side.
    UpBottleneck,
    /// The server-side router's interface to the bottleneck.
    DownBottleneck,
    /// The server's own interface.
    Server,
}

impl Point {
    /// All of them, from client to server.
    pub const ALL: [Self; 4] = [Self::Client, Self::UpBottleneck, Self::DownBottleneck, Self::Server];

    /// `client`, `up-bottleneck`, `down-bottleneck` or `server`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::UpBottleneck => "up-bottleneck",
            Self::DownBottleneck => "down-bottleneck",
            Self::Server => "server",
        }
    }

    /// The point of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|p| p.name() == name)
    }
}

/// Which protocol a conversation speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// A TCP connection.
    Tcp {
        /// Largest payload, bytes.
        mss: u16,
        /// Whether a web client opens it.
        web: bool,
    },
    /// Echo requests and replies.
    Icmp,
    /// Datagrams that are answered.
    UdpEcho,
    /// Datagrams one way.
    Udp,
    /// One direction of a voice call.
    Voice(Voice),
    /// The look-up of a name, with a resolver beside the server.
    Dns,
}

/// Who talks to whom. A flow or a probe is one conversation; a web client has one for each connection and each
/// look-up, a download one for each file.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// Name of the flow, probe, web client or download.
    pub name: String,
    /// Its number in the run, from 0: flows first, then probes, web clients, downloads.
    pub number: u32,
    /// Whether the client opens it (else the server).
    pub client_opens: bool,
    /// The protocol.
    pub protocol: Protocol,
    /// The hashes by which queues know its packets: of those from the opener, and of those to it. They differ from
    /// connection to connection, as ports do.
    pub hashes: [u32; 2],
    /// What its opener's port follows from. The next connection of the same hosts has the next number.
    pub port: u32,
    /// The numbers of its client and its server among the hosts of their sides, from 0, if the scenario says which
    /// hosts there are. Else each conversation is taken to have hosts of its own.
    pub hosts: Option<[u32; 2]>,
    /// The code point of its packets, in both directions, as they are sent.
    pub dscp: u8,
}

impl Conversation {
    /// The number of the host at one end, for [`hosts::address`]. A resolver has that of the server beside it.
    #[must_use]
    pub const fn host(&self, end: End) -> u32 {
        match (self.hosts, end) {
            (None, _) => self.number,
            (Some([client, _]), End::Client) => client,
            (Some([_, server]), End::Server | End::Resolver) => server,
        }
    }
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// A TCP segment, with the marks it has got so far.
    Tcp(Segment),
    /// The packet of a probe or a look-up, with its number from 0; an answer has that of the question.
    Probe(u32),
}

/// A packet that passes a point.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// When, since the beginning of the run (the measured window begins `lead` later).
    pub at: Time,
    /// Where: the place in the list of points that was asked for.
    pub place: usize,
    /// Where.
    pub point: Point,
    /// Whether it leaves through the interface (else it comes in).
    pub outgoing: bool,
    /// Whose.
    pub conversation: &'a Conversation,
    /// Whether the opener of the conversation sent it.
    pub from_opener: bool,
    /// Its code point here: the conversation's, or 0 where a discipline has set it to that.
    pub dscp: u8,
    /// Size on the wire, Ethernet header included, bytes.
    pub size: u16,
    /// What it carries.
    pub body: Body,
}

/// Takes what passes.
pub trait Capture: Debug + Send {
    /// A packet passes.
    ///
    /// # Errors
    /// If it cannot be kept; nothing more is handed over then, and [`crate::Run::capture_error`] tells.
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()>;

    /// The measured window is over, and so is the capture.
    ///
    /// # Errors
    /// If something taken before cannot be kept.
    fn finish(&mut self) -> io::Result<()>;
}

/// What happens to a packet at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Passing {
    /// It is offered to the egress.
    Offered,
    /// It leaves the egress.
    Departed,
    /// It arrives at the other end.
    Arrived,
}

/// A capture at work.
#[derive(Debug)]
pub(crate) struct Tap {
    capture: Box<dyn Capture>,
    error: Option<io::Error>,
    over: bool,
    points: Vec<Point>,
    /// Which of the points sees what happens at a link, and whether it goes out there.
    seen: BTreeMap<(Passing, u16), Vec<(usize, bool)>>,
    conversations: Vec<Conversation>,
    /// What the conversations of each web client and download have in common, by its route forth.
    announced: BTreeMap<u16, Conversation>,
    /// The conversation of a packet, and whether its opener sent it.
    found: BTreeMap<Key, (usize, bool)>,
}

/// What tells a packet's conversation: its route; whether it is TCP; and of TCP the number of the connection on the
/// route, else the hash.
type Key = (u16, bool, u32);

fn key_of(packet: &Packet) -> Key {
    let tcp = packet.is_tcp();
    (packet.route, tcp, if tcp { packet.connection() } else { packet.hash })
}

impl Tap {
    /// Taps `points` of the five-node path whose paths are `paths`. With `edges` the links of client and server have
    /// a rate; with `cell` those of the clients are through the air: what a client sends is seen before it is
    /// queued there.
    pub(crate) fn new(points: &[Point], capture: Box<dyn Capture>, paths: &[Path], edges: bool, cell: bool) -> Self {
        let mut seen: BTreeMap<(Passing, u16), Vec<(usize, bool)>> = BTreeMap::new();
        for (place, point) in points.iter().enumerate() {
            for path in paths {
                let (sent, received) = match point {
                    Point::Client | Point::UpBottleneck => (path.up, path.down),
                    Point::Server | Point::DownBottleneck => (path.down, path.up),
                };
                let (out, into) = match point {
                    Point::UpBottleneck | Point::DownBottleneck => {
                        ((Passing::Departed, sent.bottleneck), received.delay)
                    }
                    Point::Client if cell => ((Passing::Offered, sent.first), received.last),
                    Point::Client | Point::Server if edges => ((Passing::Departed, sent.first), received.last),
                    Point::Client | Point::Server => ((Passing::Offered, sent.bottleneck), received.delay),
                };
                for (key, outgoing) in [((out.0, out.1.0), true), ((Passing::Arrived, into.0), false)] {
                    let places = seen.entry(key).or_default();
                    if !places.contains(&(place, outgoing)) {
                        places.push((place, outgoing));
                    }
                }
            }
        }
        Self {
            capture,
            error: None,
            over: false,
            points: points.to_vec(),
            seen,
            conversations: Vec::new(),
            announced: BTreeMap::new(),
            found: BTreeMap::new(),
        }
    }

    /// A conversation begins on these routes (from its opener, and to it). If it is TCP, its connection has this
    /// number there. It takes the place of an earlier one that its packets could not be told from.
    pub(crate) fn open(&mut self, conversation: Conversation, routes: RoutePair, connection: u32) {
        let tcp = matches!(conversation.protocol, Protocol::Tcp { .. });
        let number = self.conversations.len();
        for (i, route) in routes.both().into_iter().enumerate() {
            let last = if tcp { connection } else { conversation.hashes[i] };
            self.found.insert((route.0, tcp, last), (number, i == 0));
        }
        self.conversations.push(conversation);
    }

    /// The conversations of the web client or download on these routes will be like this one, but for hashes and ports.
    pub(crate) fn announce(&mut self, common: Conversation, routes: RoutePair) {
        self.announced.insert(routes.forth.0, common);
    }

    /// A packet of a web client or download is about to be sent: opens the conversation that it begins. `hashes` are
    /// the conversation's, `number` is that of the connection or look-up at its client.
    pub(crate) fn open_next(&mut self, packet: Packet, hashes: [u32; 2], number: u32, routes: RoutePair) {
        if let Some(&(there, from_opener)) = self.found.get(&key_of(&packet))
            && self.conversations[there].hashes[usize::from(!from_opener)] == packet.hash
        {
            return;
        }
        let common = &self.announced[&routes.forth.0];
        let conversation = Conversation {
            hashes,
            port: common.port.wrapping_add(number),
            protocol: if packet.is_tcp() {
                common.protocol
            } else {
                Protocol::Dns
            },
            ..common.clone()
        };
        self.open(conversation, routes, packet.connection());
    }

    /// Something happens to a packet at a link.
    ///
    /// By value: a reference would keep each packet in memory instead of registers, with and without a tap.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass(&mut self, passing: Passing, link: u16, packet: Packet, segments: &Segments, at: Time) {
        if self.over {
            return;
        }
        let Some(places) = self.seen.get(&(passing, link)) else {
            return;
        };
        let &(number, from_opener) = self
            .found
            .get(&key_of(&packet))
            .expect("every conversation is opened before its first packet");
        let body = if packet.is_tcp() {
            Body::Tcp(segments.peek(&packet))
        } else {
            Body::Probe(packet.body)
        };
        let conversation = &self.conversations[number];
        for &(place, outgoing) in places {
            let frame = Frame {
                at,
                place,
                point: self.points[place],
                outgoing,
                conversation,
                from_opener,
                dscp: if packet.is_washed() { 0 } else { conversation.dscp },
                size: packet.size,
                body,
            };
            if let Err(error) = self.capture.frame(&frame) {
                self.error = Some(error);
                self.over = true;
                return;
            }
        }
    }

    /// The capture is over.
    pub(crate) fn finish(&mut self) {
        if !self.over {
            self.over = true;
            self.error = self.capture.finish().err();
        }
    }

    /// Why it ended early, once.
    pub(crate) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}
