//! What may be set on a connection.

use crate::cc::Algorithm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_units::{Bytes, Duration, words};
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

words! {
    /// Whose loss recovery and acknowledgement policy the two ends have.
    #[derive(Default)]
    pub enum Variant {
        /// RACK-TLP, SACK compression: `linux-6.1`.
        #[default]
        Linux61 = "linux-6.1",
        /// The same with the memory of Linux 6.12, which takes more for each segment, so that small queues hold fewer: `linux-6.12`.
        Linux612 = "linux-6.12",
        /// Forward acknowledgement, early retransmit, the first tail loss probe; every segment above a gap is acknowledged:
        /// `linux-3.14`, the kernel of seed 000.
        Linux314 = "linux-3.14",
    }
}

words! {
    /// Who sets the size of a receiver's buffer, and so when its window is whole.
    #[derive(Default)]
    pub enum ReceiveBuffer {
        /// The kernel: the buffer, and the window with it, follow what is read (`tcp_moderate_rcvbuf`): `auto`.
        #[default]
        Auto = "auto",
        /// The application: the buffer has its largest size from the beginning, with room for unread data beside the window, and
        /// nothing enlarges it (`SO_RCVBUF`, `SOCK_RCVBUF_LOCK`): `locked`.
        Locked = "locked",
    }
}

/// What all TCP flows of a run share. The default is Linux 6.1's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Tcp")]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct TcpParams {
    /// `"linux-6.1"`, `"linux-6.12"` (the same, but segments take more memory, so that small queues hold fewer) or
    /// `"linux-3.14"`: whose loss recovery and acknowledgement policy.
    pub variant: Variant,
    /// Bytes of payload in a full segment; 1448 with timestamps on a 1500-byte MTU.
    pub mss: u16,
    /// Initial congestion window in segments: 10 (RFC 6928); 3 is RFC 3390's.
    pub initial_window: u32,
    /// The largest receive window, at most 65535 x 256 bytes. The default is half of the 6 MiB that Linux lets a receive
    /// buffer grow to (`tcp_rmem`, `tcp_adv_win_scale` 1).
    pub receive_window: Bytes,
    /// `"auto"` (default): the window grows with what is read, as where nobody sets a buffer. `"locked"`: it is whole after some hundred
    /// segments at most, as with a buffer of twice `receive_window` that its application has set and with room beside it;
    /// on the kernel in cells alone, whose hosts have theirs always locked.
    #[serde(skip_serializing_if = "is_auto")]
    pub receive_buffer: ReceiveBuffer,
    /// Congestion control of the sender, which each flow has for itself.
    #[serde(skip)]
    pub congestion_control: Algorithm,
    /// Whether CUBIC's slow start ends on rising delay (HyStart).
    pub hystart: bool,
    /// Whether ECN is negotiated (RFC 3168).
    pub ecn: bool,
    /// Whether the receiver delays acknowledgements (RFC 1122 section 4.2.3.2); otherwise each segment is acknowledged.
    pub delayed_ack: bool,
    /// Smallest retransmission time-out; Linux 200 ms, RFC 6298 1 s.
    pub min_rto: Duration,
    /// Whether hosts remember of each other, from one connection to the next, slow-start threshold, RTT and reordering
    /// (default no; on the simulator not with web clients).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub save_metrics: bool,
    /// What the sending kernel reserves for the headers of a segment. Linux 6.1 and later only.
    #[serde(skip)]
    pub heads: Heads,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_auto(buffer: &ReceiveBuffer) -> bool {
    *buffer == ReceiveBuffer::Auto
}

/// What a kernel reserves for the headers of each segment that it sends, by its version and by what it was built with.
///
/// It counts against the send buffer and against TCP small queues. Measured with `INET_DIAG_SKMEMINFO` (`ss -tm`): memory of
/// a socket over segments in its device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Heads {
    /// Linux 6.1 without wireless and tunnels: 512 bytes.
    #[default]
    Lean61,
    /// Linux 6.1 with them: 1024 bytes.
    Large61,
    /// Linux 6.12 without wireless and tunnels: 576 bytes.
    Lean612,
    /// Linux 6.12 with wireless: 640 bytes.
    Wireless612,
}

impl Variant {
    /// What a kernel without wireless and tunnels reserves.
    #[must_use]
    pub const fn heads(self) -> Heads {
        match self {
            Self::Linux612 => Heads::Lean612,
            Self::Linux61 | Self::Linux314 => Heads::Lean61,
        }
    }
}

impl Heads {
    /// What a full segment of 1448 bytes occupies, bytes: its head, an `sk_buff` of 256, and the payload in a page.
    #[must_use]
    pub const fn segment(self) -> u32 {
        let head = match self {
            Self::Lean61 => 512,
            Self::Large61 => 1024,
            Self::Lean612 => 576,
            Self::Wireless612 => 640,
        };
        head + 256 + 1448
    }

    /// What a received segment with so much payload occupies, bytes; `None` for a kernel that does not offer by it.
    ///
    /// On a wire between hosts it is what the sender made; a radio's frame is copied, behind its headers (86 bytes) and a gap of 64, with
    /// 64-byte lines, the 320 bytes that end the data, and an `sk_buff`. Source: Linux since 6.5 (`tcp_measure_rcv_mss`,
    /// `scaling_ratio`), `__netdev_alloc_skb`. Measured: of a buffer of 6 MiB 4,177,920 bytes are offered in a cell, 170 of 256 parts.
    pub(crate) fn received(self, payload: u64) -> Option<u64> {
        match self {
            Self::Lean61 | Self::Large61 => None,
            Self::Lean612 => Some(576 + 256 + payload),
            Self::Wireless612 => Some((payload + 86 + 64).next_multiple_of(64) + 320 + 256),
        }
    }

    /// What is reckoned for a segment when the send buffer is enlarged, bytes: a power of two and an `sk_buff`.
    ///
    /// Source: `tcp_sndbuf_expand`.
    #[must_use]
    pub const fn reckoned(self) -> u32 {
        match self {
            Self::Lean61 | Self::Lean612 | Self::Wireless612 => 2048 + 256,
            Self::Large61 => 4096 + 256,
        }
    }
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
            hystart: true,
            ecn: false,
            delayed_ack: true,
            min_rto: Duration::from_millis(200),
            save_metrics: false,
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
