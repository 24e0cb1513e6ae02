//! One end of a QUIC connection of `quiche`, as an agent of the simulator.
//!
//! quiche reads the clock itself, so it is called under a virtual one ([`Virtual`]). It says when each datagram is to leave; an
//! end keeps one until then, as a socket with SO_TXTIME does. Its windows of flow control are those of its own `quiche-client`.

use crate::clock::Virtual;
use crate::{random, tls};
use boring::pkey::PKey;
use boring::ssl::{SslContextBuilder, SslMethod, SslSignatureAlgorithm};
use boring::x509::X509;
use quiche::{Config, CongestionControlAlgorithm, Connection, ConnectionId, Error, RecvInfo};
use sojourn_sim::sojourn_scenario::Step;
use sojourn_sim::sojourn_tcp::cc::Algorithm;
use sojourn_sim::sojourn_units::{Duration, Stream, Time};
use sojourn_sim::stack::Ends;
use sojourn_sim::{Agent, Datagram, Opening, Report};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

/// Where both ends are. No packet is sent there.
const HERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 4433);
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4433);
/// Largest payload of a datagram, bytes: 1500 less the headers of IPv4 and UDP. quiche finds out how much of it passes.
const LARGEST: usize = 1472;
const WRITE: [u8; 16_384] = [0; 16_384];

/// One end: the client sends what its application makes, and the server reads it.
struct QuicheEnd {
    /// What time zero is.
    base: Instant,
    connection: Connection,
    client: bool,
    streams: u64,
    /// What the application has made and no stream has taken yet, bytes; whether it makes no more.
    unsent: u64,
    closes: bool,
    /// What leaves next, and when.
    ready: Option<(Time, Vec<u8>)>,
    received: u64,
    error: Option<String>,
}

/// Opens a connection.
fn open(opening: &Opening) -> Result<Ends, String> {
    random::seed(opening.seed);
    let mut ids = Stream::named(opening.seed, "quiche");
    let mut end = |client: bool| -> Result<Box<dyn Agent>, Box<dyn std::error::Error>> {
        let _virtual = Virtual::at(Time::ZERO);
        let mut config = config(opening)?;
        let id = ids.u64().to_le_bytes();
        let id = ConnectionId::from_ref(&id);
        let connection = match client {
            true => quiche::connect(Some(tls::NAME), &id, HERE, PEER, &mut config)?,
            false => quiche::accept(&id, None, HERE, PEER, &mut config)?,
        };
        Ok(Box::new(QuicheEnd::new(connection, client, opening)))
    };
    let both = end(true).and_then(|client| Ok((client, end(false)?)));
    both.map_err(|error| error.to_string())
}

fn config(opening: &Opening) -> Result<Config, Box<dyn std::error::Error>> {
    let mut context = SslContextBuilder::new(SslMethod::tls())?;
    context.set_certificate(&*X509::from_der(tls::CERTIFICATE)?)?;
    context.set_private_key(&*PKey::private_key_from_der(tls::KEY)?)?;
    context.set_verify_algorithm_prefs(&[SslSignatureAlgorithm::ED25519])?;
    context.cert_store_mut().add_cert(X509::from_der(tls::CERTIFICATE)?)?;
    let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, context)?;
    config.set_application_protos(&[b"sojourn"])?;
    config.verify_peer(true);
    config.grease(false);
    config.discover_pmtu(true);
    config.set_max_send_udp_payload_size(LARGEST);
    config.set_initial_max_data(10_000_000);
    config.set_initial_max_stream_data_uni(1_000_000);
    config.set_initial_max_streams_uni(u64::from(opening.streams));
    config.set_cc_algorithm(match opening.control {
        Some(Algorithm::Reno) => CongestionControlAlgorithm::Reno,
        Some(Algorithm::Bbr2) => CongestionControlAlgorithm::Bbr2Gcongestion,
        _ => CongestionControlAlgorithm::CUBIC,
    });
    Ok(config)
}

impl QuicheEnd {
    #[expect(
        clippy::disallowed_methods,
        reason = "it is virtual, and only differences to it matter"
    )]
    fn new(connection: Connection, client: bool, opening: &Opening) -> Self {
        Self {
            base: Instant::now(),
            connection,
            client,
            streams: u64::from(opening.streams),
            unsent: 0,
            closes: false,
            ready: None,
            received: 0,
            error: None,
        }
    }

    fn time(&self, at: Instant) -> Time {
        Time::from_nanos(u64::try_from(at.saturating_duration_since(self.base).as_nanos()).unwrap_or(u64::MAX))
    }

    /// The application goes on: the client writes to its streams in turn, and the server reads.
    fn settle(&mut self) {
        if !self.client {
            let mut buffer = [0; 65_536];
            for stream in self.connection.readable() {
                while let Ok((length, _)) = self.connection.stream_recv(stream, &mut buffer) {
                    self.received += length as u64;
                }
            }
        }
        let mut blocked = 0;
        let mut turn = 0;
        while self.client && self.connection.is_established() && self.unsent > 0 && blocked < self.streams {
            let length = self.unsent.min(WRITE.len() as u64) as usize;
            let last = self.closes && length as u64 == self.unsent;
            // The streams of a client in one direction have the numbers 2, 6, 10.
            match self.connection.stream_send(2 + 4 * turn, &WRITE[..length], last) {
                Ok(written) if written > 0 => (self.unsent, blocked) = (self.unsent - written as u64, 0),
                _ => blocked += 1,
            }
            turn = (turn + 1) % self.streams;
        }
        let error = self.connection.local_error().or(self.connection.peer_error());
        if let Some(error) = error.filter(|error| error.error_code != 0) {
            let reason = String::from_utf8_lossy(&error.reason).into_owned();
            self.error
                .get_or_insert(format!("the connection is lost: error {} {reason}", error.error_code));
        }
    }
}

impl Agent for QuicheEnd {
    fn on_datagram(&mut self, mut datagram: Datagram, now: Time) {
        let _virtual = Virtual::at(now);
        match self
            .connection
            .recv(&mut datagram.payload, RecvInfo { from: PEER, to: HERE })
        {
            Ok(_) | Err(Error::Done) => {}
            Err(error) => {
                self.error.get_or_insert(format!("the connection is lost: {error}"));
            }
        }
        self.settle();
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        if self.ready.is_none() {
            let _virtual = Virtual::at(now);
            let mut buffer = vec![0; LARGEST];
            let (length, info) = self.connection.send(&mut buffer).ok()?;
            buffer.truncate(length);
            self.ready = Some((self.time(info.at), buffer));
        }
        let (_, payload) = self.ready.take_if(|(at, _)| *at <= now)?;
        Some(Datagram::udp(payload))
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        let timer = self.connection.timeout_instant().map(|at| self.time(at));
        timer.into_iter().chain(self.ready.as_ref().map(|(at, _)| *at)).min()
    }

    fn on_timeout(&mut self, now: Time) {
        let _virtual = Virtual::at(now);
        self.connection.on_timeout();
        self.settle();
    }

    fn on_application(&mut self, step: Step, now: Time) {
        let _virtual = Virtual::at(now);
        self.unsent = step.bytes.map_or(u64::MAX, |bytes| self.unsent.saturating_add(bytes));
        self.closes |= step.closes;
        if step.stops {
            // One that is closed has nothing to close.
            let _ = self.connection.close(true, 0, b"");
        }
        self.settle();
    }

    fn report(&self) -> Report {
        let path = self.connection.path_stats().next();
        Report {
            delivered: self.received,
            window: path.as_ref().map(|path| path.cwnd as u64),
            datagram: Some(self.connection.max_send_udp_payload_size() as u16),
            srtt: path
                .as_ref()
                .map(|path| Duration::from_nanos(path.rtt.as_nanos() as u64)),
            lost: Some(self.connection.stats().lost as u64),
            timeouts: path.map(|path| path.total_pto_count as u64),
            error: self.error.clone(),
            ..Report::default()
        }
    }
}

/// quiche with its controls.
pub(crate) fn stack() -> sojourn_sim::Stack {
    use Algorithm::{Bbr2, Cubic, Reno};
    crate::stack("quiche", "quiche", vec![Cubic, Reno, Bbr2], open)
}
