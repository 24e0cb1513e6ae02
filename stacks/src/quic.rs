//! One end of a QUIC connection of `quinn-proto`, or of its fork `noq-proto`, as an agent of the simulator.
//!
//! Both are told the time as an `Instant`. Those here are one base and the virtual time after it, so only differences matter.
//! The module around this one has their crate as `proto`, and what differs between them.

use super::{differs, proto};
use crate::{random, tls};
use bytes::BytesMut;
use proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint,
    EndpointConfig, Event, ServerConfig, StreamEvent, StreamId, TimeSource, Transmit, TransportConfig, VarInt,
};
use sojourn_sim::sojourn_scenario::Step;
use sojourn_sim::sojourn_units::{Ecn, Time};
use sojourn_sim::stack::Ends;
use sojourn_sim::{Agent, Datagram, Opening, Report};
use std::collections::VecDeque;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The other end of either end. No packet is sent there.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4433);
/// Bytes that are written to a stream at once.
const WRITE: [u8; 16_384] = [0; 16_384];

/// One end: the client sends what its application makes, and the server reads it.
struct QuicEnd {
    /// What time zero is.
    base: Instant,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Of a client that has not connected yet.
    config: Option<ClientConfig>,
    /// How many streams a client opens, and those that are open.
    streams: u16,
    open: VecDeque<StreamId>,
    /// What the application has made and no stream has taken yet, bytes; whether it makes no more, and gives up.
    unsent: u64,
    closes: bool,
    stops: bool,
    /// What the endpoint sends by itself.
    responses: VecDeque<Datagram>,
    received: u64,
    lost: Option<u64>,
    error: Option<String>,
}

#[derive(Debug)]
struct Date(u64);

impl TimeSource for Date {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.0)
    }
}

/// Opens a connection.
pub(super) fn open(opening: &Opening) -> Result<Ends, String> {
    random::seed(opening.seed);
    let both = || -> Result<Ends, Box<dyn Error>> {
        let mut transport = TransportConfig::default();
        differs::control(&mut transport, opening.control);
        transport.max_concurrent_uni_streams(VarInt::from(opening.streams));
        let transport = Arc::new(transport);
        let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls::client()?)?));
        client.transport_config(transport.clone());
        let mut server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls::server()?)?));
        server
            .transport_config(transport)
            .time_source(Arc::new(Date(tls::date())));
        Ok((
            Box::new(QuicEnd::new(opening, Some(client), None)),
            Box::new(QuicEnd::new(opening, None, Some(server))),
        ))
    };
    both().map_err(|error| error.to_string())
}

impl QuicEnd {
    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant is made in no other way; only differences to it matter"
    )]
    fn new(opening: &Opening, config: Option<ClientConfig>, server: Option<ServerConfig>) -> Self {
        let mut bytes = [u8::from(server.is_some()); 32];
        bytes[..8].copy_from_slice(&opening.seed.to_le_bytes());
        let mut own = EndpointConfig::default();
        own.rng_seed(Some(bytes));
        Self {
            base: Instant::now(),
            endpoint: differs::endpoint(own, server),
            connection: None,
            config,
            streams: opening.streams,
            open: VecDeque::new(),
            unsent: 0,
            closes: false,
            stops: false,
            responses: VecDeque::new(),
            received: 0,
            lost: None,
            error: None,
        }
    }

    fn instant(&self, now: Time) -> Instant {
        self.base + Duration::from_nanos(now.as_nanos())
    }

    /// Carries events between endpoint, connection and application until there are none; then the application goes on.
    fn settle(&mut self, now: Instant) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if connection.side().is_client() => {
                    for _ in 0..self.streams {
                        self.open.extend(connection.streams().open(Dir::Uni));
                    }
                }
                Event::Stream(StreamEvent::Opened { dir }) => {
                    while let Some(stream) = connection.streams().accept(dir) {
                        self.open.push_back(stream);
                    }
                }
                Event::ConnectionLost { reason } if !matches!(reason, ConnectionError::LocallyClosed) => {
                    self.error.get_or_insert(format!("the connection is lost: {reason}"));
                }
                _ => {}
            }
        }
        self.lost = differs::lost(connection);
        if connection.side().is_client() {
            self.write(now);
        } else {
            self.read();
        }
    }

    /// Writes to the streams in turn, until they have no room for more or there is no more.
    fn write(&mut self, now: Instant) {
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        let mut blocked = 0;
        while self.unsent > 0 && blocked < self.open.len() {
            let Some(stream) = self.open.pop_front() else { break };
            let length = self.unsent.min(WRITE.len() as u64) as usize;
            match connection.send_stream(stream).write(&WRITE[..length]) {
                Ok(written) => (self.unsent, blocked) = (self.unsent - written as u64, 0),
                Err(_) => blocked += 1,
            }
            self.open.push_back(stream);
        }
        if self.closes && self.unsent == 0 {
            for stream in self.open.drain(..) {
                // One that is stopped has nothing to finish.
                let _ = connection.send_stream(stream).finish();
            }
        }
        if std::mem::take(&mut self.stops) {
            connection.close(now, VarInt::from(0u8), bytes::Bytes::new());
        }
    }

    fn read(&mut self) {
        let Some((_, connection)) = &mut self.connection else {
            return;
        };
        for &stream in &self.open {
            let mut stream = connection.recv_stream(stream);
            let Ok(mut chunks) = stream.read(true) else { continue };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                self.received += chunk.bytes.len() as u64;
            }
            // What may be sent because of that is asked for in any case.
            let _ = chunks.finalize();
        }
    }
}

/// A datagram of what lies in `buffer`, with the codepoint that QUIC wants.
fn datagram(transmit: &Transmit, mut buffer: Vec<u8>) -> Datagram {
    buffer.truncate(transmit.size);
    let ecn = transmit.ecn.map_or(Ecn::NotEct, |ecn| Ecn::from_bits(ecn as u8));
    Datagram {
        ecn,
        ..Datagram::udp(buffer)
    }
}

impl Agent for QuicEnd {
    fn on_datagram(&mut self, arrived: Datagram, now: Time) {
        let now = self.instant(now);
        let ecn = EcnCodepoint::from_bits(arrived.ecn.bits());
        let data = BytesMut::from(&arrived.payload[..]);
        let mut buffer = Vec::new();
        match differs::handle(&mut self.endpoint, now, PEER, ecn, data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut buffer, None) {
                    Ok(accepted) => self.connection = Some(accepted),
                    Err(error) => self.error = Some(format!("the connection is not accepted: {}", error.cause)),
                }
            }
            Some(DatagramEvent::Response(transmit)) => self.responses.push_back(datagram(&transmit, buffer)),
            None => {}
        }
        self.settle(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        if let Some(response) = self.responses.pop_front() {
            return Some(response);
        }
        let now = self.instant(now);
        let mut buffer = Vec::new();
        let (_, connection) = self.connection.as_mut()?;
        let transmit = differs::transmit(connection, now, &mut buffer)?;
        Some(datagram(&transmit, buffer))
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let (_, connection) = self.connection.as_mut()?;
        let after = connection.poll_timeout()?.saturating_duration_since(self.base);
        Some(Time::from_nanos(u64::try_from(after.as_nanos()).unwrap_or(u64::MAX)))
    }

    fn on_timeout(&mut self, now: Time) {
        let now = self.instant(now);
        if let Some(config) = self.config.take() {
            match self.endpoint.connect(now, config, PEER, tls::NAME) {
                Ok(connected) => self.connection = Some(connected),
                Err(error) => self.error = Some(format!("it does not connect: {error}")),
            }
        }
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.settle(now);
    }

    fn on_application(&mut self, step: Step, now: Time) {
        self.unsent = step.bytes.map_or(u64::MAX, |bytes| self.unsent.saturating_add(bytes));
        self.closes |= step.closes;
        self.stops |= step.stops;
        self.settle(self.instant(now));
    }

    fn report(&self) -> Report {
        let mut report = self
            .connection
            .as_ref()
            .map_or_else(Report::default, |(_, connection)| differs::report(connection));
        report.delivered = self.received;
        report.lost = self.lost;
        report.error.clone_from(&self.error);
        report
    }
}
