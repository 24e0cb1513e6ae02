//! What may be set on a connection.

use crate::cc::{self, Algorithm};
use crate::variant::{Heads, ParamError, Variant};
use sojourn_units::{Bytes, Duration};

/// Who sets the size of a receiver's buffer, and so when its window is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReceiveBuffer {
    /// The kernel: the buffer, and the window with it, follow what is read (`tcp_moderate_rcvbuf`): `auto`.
    #[default]
    Auto,
    /// The application: the buffer has its largest size from the beginning, with room for unread data beside the window, and
    /// nothing enlarges it (`SO_RCVBUF`, `SOCK_RCVBUF_LOCK`): `locked`.
    Locked,
}

impl ReceiveBuffer {
    /// All, in the order of listing.
    pub const ALL: [Self; 2] = [Self::Auto, Self::Locked];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Locked => "locked",
        }
    }
}
impl std::str::FromStr for ReceiveBuffer {
    type Err = ParamError;
    fn from_str(s: &str) -> Result<Self, ParamError> {
        Self::ALL.into_iter().find(|b| b.name() == s).ok_or_else(|| ParamError {
            field: "tcp.receive_buffer",
            value: format!("{s:?}"),
            rule: "auto or locked",
        })
    }
}

/// Parameters of both ends of a connection. The default is Linux 6.1's.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// Who sets the size of the receiver's buffer.
    pub receive_buffer: ReceiveBuffer,
    /// Congestion control of the sender.
    pub congestion_control: Algorithm,
    /// What may be set on each of them.
    pub cc: cc::Params,
    /// Whether the sender spreads its segments over the round trip: by its congestion control's rate, or by Linux's (twice the
    /// window a round trip in slow start, 1.2 windows after). One that answers a rate of its own is always paced.
    pub pacing: bool,
    /// Whether ECN is negotiated (RFC 3168).
    pub ecn: bool,
    /// Whether the receiver delays acknowledgements (RFC 1122 section 4.2.3.2); otherwise each segment is acknowledged.
    pub delayed_ack: bool,
    /// Smallest retransmission time-out; Linux 200 ms, RFC 6298 1 s.
    pub min_rto: Duration,
    /// What the sending kernel reserves for the headers of a segment. Linux 6.1 and later only.
    pub heads: Heads,
}

impl Default for TcpParams {
    fn default() -> Self {
        Self {
            variant: Variant::Linux61,
            mss: 1448,
            initial_window: 10,
            receive_window: Bytes::new(3_145_728),
            receive_buffer: ReceiveBuffer::Auto,
            congestion_control: Algorithm::Cubic,
            cc: cc::Params::default(),
            pacing: false,
            ecn: false,
            delayed_ack: true,
            min_rto: Duration::from_millis(200),
            heads: Heads::Lean61,
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
