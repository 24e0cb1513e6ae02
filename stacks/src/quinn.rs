//! quinn: what of `quinn-proto` is not as in its fork.

use quinn_proto as proto;

#[expect(clippy::duplicate_mod, reason = "once for each of the two crates, which it has as `proto`")]
#[path = "quic.rs"]
mod quic;

mod differs {
    use super::proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};
    use super::proto::{
        Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, ServerConfig, Transmit, TransportConfig,
    };
    use bytes::BytesMut;
    use sojourn_sim::Report;
    use sojourn_sim::sojourn_tcp::cc::Algorithm;
    use sojourn_sim::sojourn_units::Duration;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::Instant;

    pub(super) fn control(transport: &mut TransportConfig, control: Option<Algorithm>) {
        match control {
            Some(Algorithm::Reno) => transport.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
            Some(Algorithm::Bbr) => transport.congestion_controller_factory(Arc::new(BbrConfig::default())),
            Some(_) => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
            None => transport,
        };
    }

    pub(super) fn endpoint(own: EndpointConfig, server: Option<ServerConfig>) -> Endpoint {
        Endpoint::new(Arc::new(own), server.map(Arc::new), true, None)
    }

    pub(super) fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        ecn: Option<EcnCodepoint>,
        data: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, peer, None, ecn, data, buffer)
    }

    pub(super) fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, 1, buffer)
    }

    pub(super) fn lost(connection: &Connection) -> Option<u64> {
        Some(connection.stats().path.lost_packets)
    }

    pub(super) fn report(connection: &Connection) -> Report {
        let path = connection.stats().path;
        Report {
            window: Some(path.cwnd),
            datagram: Some(path.current_mtu),
            srtt: Some(Duration::from_nanos(path.rtt.as_nanos() as u64)),
            ..Report::default()
        }
    }
}

/// quinn with its controls.
pub(crate) fn stack() -> sojourn_sim::Stack {
    use sojourn_sim::sojourn_tcp::cc::Algorithm::{Bbr, Cubic, Reno};
    crate::stack("quinn", "quinn-proto", vec![Cubic, Reno, Bbr], quic::open)
}
