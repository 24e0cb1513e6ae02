//! One end of a QUIC connection of `quinn-proto`, as an agent of the simulator.
//!
//! `quinn-proto` is told the time as an `Instant`. Those here are one base and the virtual time after it, so only
//! differences matter. Its own random numbers come from the run's seed. TLS draws its keys and nonces from the system.
//! Their lengths are fixed: the certificate's key is of Ed25519, whose signatures have 64 bytes always, and each flight of
//! the handshake fits into a datagram that is padded. So the bytes inside of datagrams differ from run to run, but neither
//! their sizes nor their times.

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, EndpointConfig, Event,
    ServerConfig, StreamEvent, StreamId, Transmit,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use sojourn_sim::sojourn_units::{Ecn, Time};
use sojourn_sim::{Agent, Datagram};
use std::collections::VecDeque;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

/// A certificate of its own for `server.test`, valid from 2020 to 9999.
const CERTIFICATE: &[u8] = include_bytes!("../server.der");
/// Its key (Ed25519, PKCS #8), which protects nothing.
const KEY: &[u8] = include_bytes!("../key.der");
/// The other end of either end. No packet is sent there.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4433);
/// Bytes that the client writes at once.
const WRITE: [u8; 16_384] = [0; 16_384];

/// One end: the client sends as much as it can, and the server reads it.
pub(crate) struct QuicEnd {
    /// What time zero is.
    base: Instant,
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    /// Of a client that has not connected yet.
    config: Option<ClientConfig>,
    /// The stream on which a client sends.
    stream: Option<StreamId>,
    /// What the endpoint sends by itself.
    responses: VecDeque<Datagram>,
    received: u64,
}

impl QuicEnd {
    /// The end that connects.
    pub(crate) fn client(seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(CERTIFICATE))?;
        let config = ClientConfig::with_root_certificates(Arc::new(roots))?;
        Ok(Self::new(seed, Some(config), None))
    }

    /// The end that waits.
    pub(crate) fn server(seed: u64) -> Result<Self, Box<dyn Error>> {
        let certificates = vec![CertificateDer::from(CERTIFICATE)];
        let config = ServerConfig::with_single_cert(certificates, PrivatePkcs8KeyDer::from(KEY).into())?;
        Ok(Self::new(seed, None, Some(config)))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "an Instant is made in no other way; only differences to it matter"
    )]
    fn new(seed: u64, client: Option<ClientConfig>, server: Option<ServerConfig>) -> Self {
        let mut bytes = [u8::from(server.is_some()); 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut config = EndpointConfig::default();
        config.rng_seed(Some(bytes));
        Self {
            base: Instant::now(),
            endpoint: Endpoint::new(Arc::new(config), server.map(Arc::new), true, None),
            connection: None,
            config: client,
            stream: None,
            responses: VecDeque::new(),
            received: 0,
        }
    }

    /// The congestion window, bytes; 0 before there is a connection.
    pub(crate) fn window(&self) -> u64 {
        self.connection
            .as_ref()
            .map_or(0, |(_, connection)| connection.stats().path.cwnd)
    }

    /// Bytes of the stream that were read.
    pub(crate) fn received(&self) -> u64 {
        self.received
    }

    fn instant(&self, now: Time) -> Instant {
        self.base + std::time::Duration::from_nanos(now.as_nanos())
    }

    /// Carries events between endpoint, connection and application until there are none; then the application goes on.
    fn settle(&mut self) {
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
                Event::Connected if connection.side().is_client() => self.stream = connection.streams().open(Dir::Uni),
                Event::Stream(StreamEvent::Opened { dir }) => self.stream = connection.streams().accept(dir),
                Event::ConnectionLost { reason } => panic!("the connection is lost: {reason}"),
                _ => {}
            }
        }
        let Some(stream) = self.stream else { return };
        if connection.side().is_client() {
            // Until the connection has no room for more.
            while connection.send_stream(stream).write(&WRITE).is_ok() {}
        } else if let Ok(mut chunks) = connection.recv_stream(stream).read(true) {
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
        match self.endpoint.handle(now, PEER, None, ecn, data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut buffer, None);
                self.connection = Some(accepted.unwrap_or_else(|error| panic!("it is not accepted: {}", error.cause)));
            }
            Some(DatagramEvent::Response(transmit)) => self.responses.push_back(datagram(&transmit, buffer)),
            None => {}
        }
        self.settle();
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        if let Some(response) = self.responses.pop_front() {
            return Some(response);
        }
        let now = self.instant(now);
        let mut buffer = Vec::new();
        let (_, connection) = self.connection.as_mut()?;
        let transmit = connection.poll_transmit(now, 1, &mut buffer)?;
        Some(datagram(&transmit, buffer))
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let (_, connection) = self.connection.as_mut()?;
        let after = connection.poll_timeout()?.duration_since(self.base);
        let after = u64::try_from(after.as_nanos()).expect("a run is shorter than 584 years");
        Some(Time::from_nanos(after))
    }

    fn on_timeout(&mut self, now: Time) {
        let now = self.instant(now);
        if let Some(config) = self.config.take() {
            let connected = self.endpoint.connect(now, config, PEER, "server.test");
            self.connection = Some(connected.expect("the name and the configuration are valid"));
        }
        if let Some((_, connection)) = &mut self.connection {
            connection.handle_timeout(now);
        }
        self.settle();
    }
}
