//! What may be set on a connection.

use crate::cc::Algorithm;
use sojourn_units::{Bytes, Duration};
use thiserror::Error;

/// A parameter with a value that the algorithm cannot work with.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} is {value}, but must be {rule}")]
pub struct ParamError {
    /// Which.
    pub field: &'static str,
    /// The value as given.
    pub value: String,
    /// What it must be.
    pub rule: &'static str,
}

/// Whose loss recovery and acknowledgement policy the two ends have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// RACK-TLP, SACK compression: `linux-6.1`.
    #[default]
    Linux61,
    /// Forward acknowledgement, early retransmit, the first tail loss probe; every segment above a gap is acknowledged:
    /// `linux-3.14`, the kernel of seed 000.
    Linux314,
}

impl Variant {
    /// All, in the order of listing.
    pub const ALL: [Self; 2] = [Self::Linux61, Self::Linux314];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux61 => "linux-6.1",
            Self::Linux314 => "linux-3.14",
        }
    }
}
impl std::str::FromStr for Variant {
    type Err = ParamError;
    fn from_str(s: &str) -> Result<Self, ParamError> {
        Self::ALL.into_iter().find(|v| v.name() == s).ok_or_else(|| ParamError {
            field: "tcp.variant",
            value: format!("{s:?}"),
            rule: "linux-6.1 or linux-3.14",
        })
    }
}

/// Parameters of both ends of a connection. The default is Linux 6.1's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct TcpParams {
    /// Loss recovery and acknowledgement policy.
    pub variant: Variant,
    /// Payload bytes of a full segment; 1448 with timestamps on a 1500-byte MTU.
    pub mss: u16,
    /// Initial congestion window in segments: 10 (RFC 6928); 3 is RFC 3390's.
    pub initial_window: u32,
    /// The largest receive window, in bytes; at most 65535 x 256. The default is half of the 6 MiB that Linux lets a
    /// receive buffer grow to (`tcp_rmem`, `tcp_adv_win_scale` 1).
    pub receive_window: Bytes,
    /// Congestion control of the sender.
    pub congestion_control: Algorithm,
    /// HyStart in CUBIC's slow start.
    pub hystart: bool,
    /// Whether ECN is negotiated (RFC 3168).
    pub ecn: bool,
    /// Whether the receiver delays acknowledgements (RFC 1122 section 4.2.3.2); otherwise each segment is acknowledged.
    pub delayed_ack: bool,
    /// Smallest retransmission time-out; Linux 200 ms, RFC 6298 1 s.
    pub min_rto: Duration,
    /// The sending kernel reserves more room for headers than a lean one does, as one with wireless or tunnels: each segment then
    /// takes 2728 bytes of its send buffer instead of 2216, and the buffer is 3.19 windows instead of 2.08. Linux 6.1 only.
    pub large_heads: bool,
}

impl Default for TcpParams {
    fn default() -> Self {
        Self {
            variant: Variant::Linux61,
            mss: 1448,
            initial_window: 10,
            receive_window: Bytes::new(3_145_728),
            congestion_control: Algorithm::Cubic,
            hystart: true,
            ecn: false,
            delayed_ack: true,
            min_rto: Duration::from_millis(200),
            large_heads: false,
        }
    }
}

impl TcpParams {
    /// Checks every field.
    ///
    /// # Errors
    /// [`ParamError`] for the first field that breaks its rule.
    pub fn validate(&self) -> Result<(), ParamError> {
        let check = |ok: bool, field, value: String, rule| {
            if ok {
                Ok(())
            } else {
                Err(ParamError { field, value, rule })
            }
        };
        check(
            (1..=8948).contains(&self.mss),
            "tcp.mss",
            self.mss.to_string(),
            "1 to 8948 bytes",
        )?;
        check(
            (1..=1000).contains(&self.initial_window),
            "tcp.initial_window",
            self.initial_window.to_string(),
            "1 to 1000 segments",
        )?;
        let window = self.receive_window.get();
        check(
            window >= 2 * u64::from(self.mss) && window <= 65_535 * crate::WINDOW_UNIT,
            "tcp.receive_window",
            self.receive_window.to_string(),
            "at least two segments and at most 16776960 bytes",
        )?;
        let rto = self.min_rto;
        check(
            rto >= Duration::from_millis(1) && rto <= Duration::from_secs(120),
            "tcp.min_rto",
            rto.to_string(),
            "1ms to 120s",
        )
    }
}
