//! What may be set on a connection.

use crate::accecn::{AccEcnParams, EcnMode};
use crate::cc::{self, Algorithm, LaterBbrParams, PragueParams, PragueVersion, RttControl, VegasParams};
use crate::variant::{Heads, ParamError, Variant};
use crate::window::ReceiveMemory;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_units::{Bytes, Duration, words};

words! {
    /// Who sets the size of a receiver's buffer, and so when its window is whole.
    #[derive(Default)]
    pub enum ReceiveBuffer {
        /// The kernel: the buffer, and the window with it, follow what is read (`tcp_moderate_rcvbuf`): `auto`.
        #[default]
        Auto = "auto",
        /// The application: the buffer has its largest size from the beginning, with room for unread data beside the
        /// window, and nothing enlarges it (`SO_RCVBUF`, `SOCK_RCVBUF_LOCK`): `locked`.
        Locked = "locked",
    }
}

/// What all TCP flows of a run share. The default is Linux 6.1's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Tcp")]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub struct TcpParams {
    /// The kernel whose loss recovery and acknowledgement policy TCP has: `"linux-6.1"`, `"linux-6.12"` (the same, but
    /// segments take more memory, so that small queues hold fewer, and the receive window is what of its buffer
    /// segments fill with payload), `"linux-7.3"` (as 6.12, but a receive window that grows otherwise, and
    /// acknowledgements above a gap that are merged for longer), `"linux-5.15"` (as 6.1, but with `gso` a train waits
    /// longer for an acknowledgement, and its end does not hurry the receiver; with AccECN the receiver is that of
    /// L4STeam's Linux, which acknowledges a segment at once if its timestamp is newer than those before) or
    /// `"linux-3.14"`.
    pub variant: Variant,
    /// Bytes of payload in a full segment; 1448 with timestamps on a 1500-byte MTU.
    pub mss: u16,
    /// Initial congestion window in segments: 10 (RFC 6928); 3 is RFC 3390's.
    pub initial_window: u32,
    /// Half of the largest receive buffer, at most 65535 x 256 bytes. The default is half of the 6 MiB that Linux lets a
    /// receive buffer grow to (`tcp_rmem`). Linux before 6.6 offers at most this, less what the segment at hand takes.
    /// Linux since 6.6 offers the part of the buffer that is payload, which is up to a third more.
    pub receive_window: Bytes,
    /// `"auto"` (default): the window grows with what is read, as where no application sets a buffer. `"locked"`: the
    /// window has its largest size after at most a few hundred segments. An application gets such a window if it sets a
    /// buffer of twice `receive_window` and leaves room beside the window. On the kernel, `"locked"` is allowed in
    /// cells only, and all hosts of a cell have locked buffers.
    #[serde(skip_serializing_if = "is_auto")]
    pub receive_buffer: ReceiveBuffer,
    /// Congestion control of the sender, which each flow has for itself.
    #[serde(skip)]
    pub congestion_control: Algorithm,
    /// Whether CUBIC's slow start ends on rising delay (HyStart). `"plus-plus"` (only on the simulator): by HyStart++
    /// (RFC 9406), which Linux does not have.
    #[serde(rename = "hystart", with = "hystart")]
    #[schemars(schema_with = "hystart::schema")]
    pub cc: cc::Params,
    /// Whether ECN is negotiated: `false`, `true` (RFC 3168), or `"accecn"` (AccECN, RFC 9768, which falls back to RFC
    /// 3168 if the other end has no more). Hosts with a kernel need Linux 7.3 for `"accecn"`.
    pub ecn: EcnMode,
    /// Whether an ECN echo reduces the window by less than a loss does (ABE, RFC 8511): to 0.85 of it with cubic, to
    /// 0.8 with reno (default no). It needs `ecn`. Linux does not have it, so only the simulator takes it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub abe: bool,
    /// Whether the bottleneck marks at a shallow threshold, so that a mark tells of a short queue (default no). `bbr3`
    /// answers marks only then, if its least round trip is 5 ms at most; its receiver echoes each mark once. `bbr2`
    /// answers marks without it, but its receiver echoes each mark once only with it. It needs `ecn`. It is what `ip
    /// route ... features ecn_low` is in google's Linux with BBRv3. Only the simulator takes it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ecn_low: bool,
    /// `bbr2` answers marks if its least round trip is no longer (default 5ms; 0s: however long it is). Only the
    /// simulator takes it.
    #[serde(skip_serializing_if = "is_usual_bound")]
    pub bbr2_ecn_max_rtt: Duration,
    /// Whether the receiver delays acknowledgements (RFC 1122 section 4.2.3.2); otherwise each segment is acknowledged.
    pub delayed_ack: bool,
    /// Whether TCP hands several segments down as one packet, which leave back to back (GSO; default no). A train has what
    /// leaves in 1 ms at the pacing rate, two segments at least, and waits until the window has room for it. Linux's TCP
    /// does so over every device, whether the device's offloads are on or off. Without it the hosts of the linux back end
    /// hand down single segments (`gso_max_segs 1`); with it their trains are cut at their own device. The live back end
    /// refuses it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gso: bool,
    /// Smallest retransmission time-out; Linux 200 ms, RFC 6298 1 s.
    pub min_rto: Duration,
    /// Largest time-out, at least 1 s (Linux 7.3 `tcp_rto_max_ms`); Linux 120 s. RFC 6298 asks for 60 s or more.
    #[serde(skip)]
    pub max_rto: Duration,
    /// Whether hosts remember of each other, from one connection to the next, slow-start threshold, RTT and reordering
    /// (default no; on the simulator not with web clients).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub save_metrics: bool,
    /// Whether Prague looks for a bottleneck that marks as RFC 3168 says, and then reduces its window more (default no,
    /// as L4STeam's Linux).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prague_fallback: bool,
    /// How Prague's share depends on the RTT: `"rate"` (default: flows below 25 ms have the rate of one with 25 ms),
    /// `"none"`, `"scalable"` or `"additive"`.
    #[serde(skip_serializing_if = "is_rate")]
    pub prague_rtt: RttControl,
    /// Whose Prague it is, by the version of L4STeam's `tcp_prague.c`: `"0.6"` (default), `"0.6-fraction"` (the same, but
    /// its window has a fraction) or `"0.7"` (also, the first mark halves the window, trains may have one segment, flows
    /// below 25 ms count as one with 25 ms after 4 rounds, and a window of 4 segments or fewer is steered by its rate).
    /// A kernel has its own, whatever this says.
    #[serde(skip_serializing_if = "is_06")]
    pub prague_version: PragueVersion,
    /// More segments of its own in the queue than this, and `vegas` makes its window smaller (default 4, at least 2; Linux
    /// `tcp_vegas/beta`). A kernel has its own, so only the simulator takes it.
    #[serde(skip_serializing_if = "is_usual_beta")]
    pub vegas_beta: u32,
    /// Whether segments leave apart: at the rate of the congestion control, or at Linux's (two windows a round trip in
    /// slow start, 1.2 after). A control that needs pacing is always paced.
    #[serde(skip)]
    pub pacing: bool,
    /// Bytes of memory that the send buffer begins with (the second number of Linux's `tcp_wmem`, if that is more
    /// than two initial windows); `None` for these.
    #[serde(skip)]
    pub send_buffer: Option<u32>,
    /// Whether the peer sends SACK blocks. Without them a sender counts duplicate acknowledgements (RFC 6582); not in
    /// the variant of Linux 3.14.
    #[serde(skip)]
    pub sack: bool,
    /// Whether segments of no connection are answered by resets (RFC 9293 section 3.5.2). Simulated hosts ignore such
    /// segments.
    #[serde(skip)]
    pub resets: bool,
    /// Of segments that are not acceptable, such as a SYN that comes again, one within so long is answered (Linux
    /// `tcp_invalid_ratelimit`).
    #[serde(skip)]
    pub answer_interval: Duration,
    /// Whether a pause of more than a time-out makes the window smaller (RFC 2861; Linux
    /// `tcp_slow_start_after_idle`).
    #[serde(skip)]
    pub restart_after_idle: bool,
    /// How AccECN is done, if it is.
    #[serde(skip)]
    pub accecn: AccEcnParams,
    /// Whether segments carry timestamps (RFC 7323), for which `mss` leaves room. Only the room for the AccECN option
    /// depends on it.
    #[serde(skip)]
    pub timestamps: bool,
    /// So many time-outs of a SYN are as long as the first; after those each is twice as long. Linux has 4 since 6.5
    /// (`tcp_syn_linear_timeouts`), before it has none.
    #[serde(skip)]
    pub linear_syn_timeouts: u32,
    /// The buffer of a receiver whose application reads when it likes; `None` if it reads everything at once, and the
    /// buffer is twice `receive_window` at last.
    #[serde(skip)]
    pub receive_memory: Option<ReceiveMemory>,
    /// The shift count of the windows of `receive_memory` (RFC 7323 section 2), at most 14.
    #[serde(skip)]
    pub window_shift: u8,
    /// What the sending kernel reserves for the headers of a segment. Linux 6.1 and later only.
    #[serde(skip)]
    pub heads: Heads,
}

/// Of what may be set on congestion controls, a scenario has one key.
mod hystart {
    use crate::cc::{CubicParams, Params, SlowStart};
    use schemars::{Schema, SchemaGenerator, json_schema};
    use serde::de::{Error, Unexpected, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    /// The value that is a word.
    const PLUS_PLUS: &str = "plus-plus";

    /// Reads what the key says.
    struct Reader;

    impl Visitor<'_> for Reader {
        type Value = SlowStart;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "true, false or {PLUS_PLUS:?}")
        }

        fn visit_bool<E: Error>(self, on: bool) -> Result<SlowStart, E> {
            Ok(if on { SlowStart::HyStart } else { SlowStart::Plain })
        }

        fn visit_str<E: Error>(self, word: &str) -> Result<SlowStart, E> {
            if word == PLUS_PLUS {
                Ok(SlowStart::HyStartPlusPlus)
            } else {
                Err(E::invalid_value(Unexpected::Str(word), &self))
            }
        }
    }

    /// Python knows the word, too.
    pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["boolean", "string"], "x-python": {"type": "bool | Literal[\"plus-plus\"]"}})
    }

    pub(super) fn serialize<S: Serializer>(params: &Params, to: S) -> Result<S::Ok, S::Error> {
        match params.cubic.slow_start {
            SlowStart::Plain => to.serialize_bool(false),
            SlowStart::HyStart => to.serialize_bool(true),
            SlowStart::HyStartPlusPlus => to.serialize_str(PLUS_PLUS),
        }
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Params, D::Error> {
        let slow_start = from.deserialize_any(Reader)?;
        Ok(Params {
            cubic: CubicParams { slow_start },
            ..Params::default()
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_usual_bound(bound: &Duration) -> bool {
    *bound == LaterBbrParams::ECN_MAX_RTT
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_06(version: &PragueVersion) -> bool {
    *version == PragueVersion::V06
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_rate(control: &RttControl) -> bool {
    *control == RttControl::Rate
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_usual_beta(beta: &u32) -> bool {
    *beta == VegasParams::BETA
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
fn is_auto(buffer: &ReceiveBuffer) -> bool {
    *buffer == ReceiveBuffer::Auto
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
            ecn: EcnMode::Off,
            accecn: AccEcnParams::default(),
            timestamps: true,
            linear_syn_timeouts: 0,
            abe: false,
            ecn_low: false,
            gso: false,
            bbr2_ecn_max_rtt: LaterBbrParams::ECN_MAX_RTT,
            delayed_ack: true,
            min_rto: Duration::from_millis(200),
            max_rto: crate::rtt::RTO_MAX,
            save_metrics: false,
            prague_fallback: false,
            prague_rtt: RttControl::Rate,
            prague_version: PragueVersion::V06,
            vegas_beta: VegasParams::BETA,
            pacing: false,
            send_buffer: None,
            sack: true,
            resets: false,
            answer_interval: Duration::from_millis(500),
            restart_after_idle: true,
            receive_memory: None,
            window_shift: 0,
            heads: Heads::Lean61,
        }
    }
}

impl TcpParams {
    /// The same for one connection of many: its random numbers are those of `seed` alone.
    #[must_use]
    pub fn seeded(&self, seed: u64) -> Self {
        let mut params = self.clone();
        params.cc.bbr.seed = seed;
        params.cc.bbr2.seed = seed;
        params.cc.bbr2_l4s.seed = seed;
        params.cc.bbr3.seed = seed;
        params
    }

    /// Whether the receiver echoes each mark once (RFC 8257 section 3.2), and all that is sent is ECN-capable.
    pub(crate) fn echoes_each_mark(&self) -> bool {
        let needs = self.congestion_control.needs();
        needs.ecn || self.ecn_low && needs.shallow_ecn
    }

    /// What is set on the controls, with the keys that are a control's own.
    pub(crate) fn controls(&self) -> cc::Params {
        cc::Params {
            bbr2: LaterBbrParams {
                ecn_max_rtt: self.bbr2_ecn_max_rtt,
                ..self.cc.bbr2
            },
            prague: PragueParams {
                fallback: self.prague_fallback,
                rtt: self.prague_rtt,
                version: self.prague_version,
            },
            vegas: VegasParams { beta: self.vegas_beta },
            ..self.cc.clone()
        }
    }

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
        check(
            self.ecn.is_on() || !self.abe,
            "tcp.abe",
            self.abe.to_string(),
            "false without tcp.ecn, whose echoes it is about",
        )?;
        check(
            self.ecn.is_on() || !self.ecn_low,
            "tcp.ecn_low",
            self.ecn_low.to_string(),
            "false without tcp.ecn, whose marks it is about",
        )?;
        check(
            self.bbr2_ecn_max_rtt <= Duration::from_secs(1),
            "tcp.bbr2_ecn_max_rtt",
            self.bbr2_ecn_max_rtt.to_string(),
            "0s to 1s",
        )?;
        check(
            self.ecn != EcnMode::Accurate || self.variant != Variant::Linux314,
            "tcp.ecn",
            "accecn".into(),
            "true or false with tcp.variant linux-3.14, which is older than AccECN",
        )?;
        check(
            !self.congestion_control.is_scalable() || self.variant != Variant::Linux314,
            "congestion_control",
            self.congestion_control.name().into(),
            "another with tcp.variant linux-3.14, which is older than AccECN",
        )?;
        check(
            (VegasParams::ALPHA..=1000).contains(&self.vegas_beta),
            "tcp.vegas_beta",
            self.vegas_beta.to_string(),
            "2 to 1000 segments",
        )?;
        let rto = self.min_rto;
        check(
            rto >= Duration::from_millis(1) && rto <= Duration::from_secs(120),
            "tcp.min_rto",
            rto.to_string(),
            "1ms to 120s",
        )?;
        let rto = self.max_rto;
        check(
            rto >= Duration::from_secs(1) && rto <= crate::rtt::RTO_MAX && rto >= self.min_rto,
            "tcp.max_rto",
            rto.to_string(),
            "1s to 120s, and not less than tcp.min_rto",
        )?;
        check(
            self.window_shift <= 14,
            "tcp.window_shift",
            self.window_shift.to_string(),
            "at most 14 (RFC 7323 section 2.3)",
        )?;
        let Some(memory) = self.receive_memory else {
            return Ok(());
        };
        check(
            memory.segment > 0 && memory.parts != Some(0),
            "tcp.receive_memory.segment",
            memory.segment.to_string(),
            "at least 1 byte, and parts too",
        )?;
        check(
            memory.size < 1 << 31 && memory.largest < 1 << 31,
            "tcp.receive_memory.size",
            memory.size.to_string(),
            "less than 2 GiB, and largest too",
        )
    }
}
