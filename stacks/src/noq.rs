//! noq: what of `noq-proto` is not as in quinn, which it is a fork of.

use noq_proto as proto;

#[expect(clippy::duplicate_mod, reason = "once for each of the two crates, which it has as `proto`")]
#[path = "quic.rs"]
mod quic;

mod differs {
    use super::proto::congestion::{Bbr3Config, CubicConfig, NewRenoConfig};
    use super::proto::{
        Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple, PathId, ServerConfig, Transmit,
        TransportConfig,
    };
    use bytes::BytesMut;
    use sojourn_sim::Report;
    use sojourn_sim::sojourn_tcp::cc::Algorithm;
    use sojourn_sim::sojourn_units::Duration;
    use std::net::SocketAddr;
    use std::num::NonZeroUsize;
    use std::sync::Arc;
    use std::time::Instant;

    pub(super) fn control(transport: &mut TransportConfig, control: Option<Algorithm>) {
        match control {
            Some(Algorithm::Reno) => transport.congestion_controller_factory(Arc::new(NewRenoConfig::default())),
            Some(Algorithm::Bbr3) => transport.congestion_controller_factory(Arc::new(Bbr3Config::default())),
            Some(_) => transport.congestion_controller_factory(Arc::new(CubicConfig::default())),
            None => transport,
        };
    }

    pub(super) fn endpoint(own: EndpointConfig, server: Option<ServerConfig>) -> Endpoint {
        Endpoint::new(Arc::new(own), server.map(Arc::new), true)
    }

    pub(super) fn handle(
        endpoint: &mut Endpoint,
        now: Instant,
        peer: SocketAddr,
        ecn: Option<EcnCodepoint>,
        data: BytesMut,
        buffer: &mut Vec<u8>,
    ) -> Option<DatagramEvent> {
        endpoint.handle(now, FourTuple::from_remote(peer), ecn, data, buffer)
    }

    pub(super) fn transmit(connection: &mut Connection, now: Instant, buffer: &mut Vec<u8>) -> Option<Transmit> {
        connection.poll_transmit(now, NonZeroUsize::MIN, buffer)
    }

    pub(super) fn lost(connection: &mut Connection) -> Option<u64> {
        connection.path_stats(PathId::ZERO).map(|path| path.lost_packets)
    }

    pub(super) fn report(connection: &Connection) -> Report {
        let path = connection.congestion_state(PathId::ZERO);
        Report {
            window: path.map(|control| control.window()),
            datagram: Some(connection.current_mtu()),
            srtt: connection
                .rtt(PathId::ZERO)
                .map(|rtt| Duration::from_nanos(rtt.as_nanos() as u64)),
            ..Report::default()
        }
    }
}

/// noq with its controls.
pub(crate) fn stack() -> sojourn_sim::Stack {
    use sojourn_sim::sojourn_tcp::cc::Algorithm::{Bbr3, Cubic, Reno};
    crate::stack("noq", "noq-proto", vec![Cubic, Reno, Bbr3], quic::open)
}
