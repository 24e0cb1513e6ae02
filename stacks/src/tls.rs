//! TLS of both ends: a certificate of its own, and the date of the virtual world.

use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{ClientConfig, Error, RootCertStore, ServerConfig};
use std::sync::Arc;
use std::time::Duration;

/// A certificate of its own for [`NAME`], valid from 2020 to 9999.
pub(crate) const CERTIFICATE: &[u8] = include_bytes!("server.der");
/// Its key (Ed25519, PKCS #8), which protects nothing. Its signatures have 64 bytes always, so no size depends on them.
pub(crate) const KEY: &[u8] = include_bytes!("key.der");
/// Whom it is of.
pub(crate) const NAME: &str = "server.test";
/// When runs begin, s after 1970: 2027-01-01, as in guests. `SOJOURN_STACKS_DATE` says another, so that one sees what a
/// certificate does that is not valid then.
pub(crate) const DATE: u64 = 1_798_761_600;

/// When this run begins, s after 1970.
pub(crate) fn date() -> u64 {
    let text = std::env::var("SOJOURN_STACKS_DATE").ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(DATE)
}

#[derive(Debug)]
struct Date(u64);

impl TimeProvider for Date {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(self.0)))
    }
}

/// Of the end that opens a connection.
pub(crate) fn client() -> Result<ClientConfig, Error> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE))?;
    let config = ClientConfig::builder_with_details(Arc::new(default_provider()), Arc::new(Date(date())))
        .with_protocol_versions(&[&TLS13])?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Of the end that waits.
pub(crate) fn server() -> Result<ServerConfig, Error> {
    let config = ServerConfig::builder_with_details(Arc::new(default_provider()), Arc::new(Date(date())))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth();
    config.with_single_cert(
        vec![CertificateDer::from(CERTIFICATE)],
        PrivatePkcs8KeyDer::from(KEY).into(),
    )
}
