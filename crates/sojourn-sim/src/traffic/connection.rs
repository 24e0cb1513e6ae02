//! One TCP connection of a web client: its two ends, and what is asked and answered on it.

use crate::ends;
use sojourn_tcp::{ConnectionState, Endpoint, Segment, TcpParams};
use sojourn_units::{Duration, Time};

/// How long a connection that the client has closed is kept at most. Source: Linux `tcp_fin_timeout`.
const LINGER_MAX: Duration = Duration::from_secs(60);

/// Both ends of a connection. The client asks for one object at a time; the server answers in order, and closes when
/// the client has.
#[derive(Debug)]
pub(crate) struct Connection {
    client: Endpoint,
    server: Endpoint,
    /// Hash of its packets, by direction: to the server, to the client.
    pub(crate) hashes: [u32; 2],
    /// Bytes that the server has received when it knows what is asked for, and the client when it has it.
    requested: u64,
    awaited: u64,
    /// Size of the answer that the server owes.
    owed: Option<u64>,
    /// When it has finished thinking about it.
    reply_at: Option<Time>,
    /// When the client has forgotten it, at the latest; `None` as long as it is in use.
    pub(crate) forgotten_at: Option<Time>,
}

impl Connection {
    /// A connection that the client opens now.
    pub(crate) fn open(params: &TcpParams, hashes: [u32; 2], now: Time) -> Self {
        let valid = "the parameters were checked when the web client was added";
        // As the ports tell connections apart, so they draw apart.
        let params = &params.seeded(params.cc.bbr.seed ^ u64::from(hashes[0]));
        let mut client = Endpoint::client(params).expect(valid);
        client.connect(now);
        Self {
            client,
            server: Endpoint::server(params).expect(valid),
            hashes,
            requested: 0,
            awaited: 0,
            owed: None,
            reply_at: None,
            forgotten_at: None,
        }
    }

    /// Whether the client's end can be used.
    pub(crate) fn is_open(&self) -> bool {
        self.client.is_established()
    }

    /// SYNs that the client sent again.
    pub(crate) fn syn_retransmissions(&self) -> u32 {
        self.client.syn_retransmissions()
    }

    /// The client asks with `request` bytes for `answer` bytes.
    pub(crate) fn ask(&mut self, request: u64, answer: u64) {
        self.client.write(request);
        self.requested += request;
        self.awaited += answer;
        self.owed = Some(answer);
    }

    /// Whether the client has all that it asked for.
    pub(crate) fn is_answered(&self) -> bool {
        self.client.receiver().bytes_in_order() >= self.awaited
    }

    /// The client is done with it.
    pub(crate) fn close(&mut self, now: Time) {
        self.client.close();
        self.forgotten_at = Some(now + LINGER_MAX);
    }

    /// Whether both ends have closed and know it, or the client has waited long enough.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        let closed = self.client.state() == ConnectionState::TimeWait && self.server.state() == ConnectionState::Closed;
        closed || self.forgotten_at.is_some_and(|at| at <= now)
    }

    /// A segment has arrived at one of the ends.
    #[inline(never)]
    pub(crate) fn on_segment(&mut self, at_server: bool, segment: &Segment, think: Duration, now: Time) {
        let end = if at_server { &mut self.server } else { &mut self.client };
        ends::arrive(end, segment, now);
        if !at_server {
            return;
        }
        if self.server.receiver().bytes_in_order() >= self.requested
            && let Some(answer) = self.owed.take()
        {
            if think.is_zero() {
                self.server.write(answer);
            } else {
                self.owed = Some(answer);
                self.reply_at = self.reply_at.or(Some(now + think));
            }
        }
        if self.server.receiver().is_finished() {
            self.server.close();
        }
    }

    /// Time has passed. Harmless if called too early.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        for end in [&mut self.client, &mut self.server] {
            if end.timeout().is_some_and(|at| at <= now) {
                end.on_timeout(now);
            }
        }
        if self.reply_at.is_some_and(|at| at <= now) {
            self.reply_at = None;
            if let Some(answer) = self.owed.take() {
                self.server.write(answer);
            }
        }
    }

    /// When [`Connection::on_timeout`] wants to be called.
    pub(crate) fn timeout(&self) -> Option<Time> {
        let ends = [self.client.timeout(), self.server.timeout()];
        ends.into_iter()
            .chain([self.reply_at, self.forgotten_at])
            .flatten()
            .filter(|&at| at < Time::MAX)
            .min()
    }

    /// The next segment to send now, and whether it goes to the server.
    #[inline(never)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<(bool, Segment)> {
        for (to_server, end) in [(true, &mut self.client), (false, &mut self.server)] {
            if let Some(segment) = ends::next(end, now) {
                return Some((to_server, segment));
            }
        }
        None
    }
}
