//! Probes: what measures and is not counted as goodput.

use crate::context::Context;
use crate::cost::{Estimate, times};
use crate::error::within;
use crate::name::check_name;
use crate::{Direction, Dscp, RATE, RTT, ScenarioError, Traffic as _, fail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_units::{Duration, Rate, words};

/// Bytes of memory for each bin of the series of a voice stream (three values), and of a probe by bins.
const VOICE_BIN: f64 = 360.0;
const PROBE_BIN: f64 = 150.0;
/// The same for each sample of a probe, and packet of voice.
const SAMPLE: f64 = 250.0;
const VOICE_PACKET: f64 = 40.0;

/// An Ethernet header, bytes.
const ETHERNET: u16 = 14;
/// Packets that are neither shorter than the least Ethernet frame nor longer than a full one, bytes.
pub(crate) const SIZES: std::ops::RangeInclusive<u64> = 60..=1514;

words! {
    /// The kind of a probe.
    #[derive(Default)]
    pub enum ProbeWord {
        /// An ICMP echo request every interval.
        #[default]
        Icmp = "icmp",
        /// Request and response in turn: the next leaves on the answer or the time-out.
        UdpRr = "udp_rr",
        /// A packet every interval one way.
        Isochronous = "isochronous",
        /// Packets one way, at random intervals.
        Poisson = "poisson",
        /// One direction of a voice call.
        Voip = "voip",
    }
}

words! {
    /// A voice codec.
    #[derive(Default)]
    pub enum Codec {
        /// 64 kbit/s (ITU-T G.711).
        #[default]
        G711 = "g711",
        /// 24 kbit/s at a constant rate, between what RFC 7587 section 3.1.1 recommends for wide-band speech (16 to 20
        /// kbit/s) and for full-band speech (28 to 40).
        Opus = "opus",
    }
}

impl Codec {
    /// What it sends if nothing else is said.
    #[must_use]
    pub const fn bitrate(self) -> Rate {
        match self {
            Self::G711 => Rate::from_bps(64_000),
            Self::Opus => Rate::from_bps(24_000),
        }
    }
}

/// One measuring flow, which is not counted as goodput.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Probe", extend("required" = ["name", "kind"]))]
pub struct ProbeScenario {
    /// Unique within the scenario.
    #[serde(default)]
    pub name: String,
    /// `"icmp"` (an echo every `interval`), `"udp_rr"` (the next question leaves when the answer is there),
    /// `"isochronous"` (one way), `"poisson"` (one way, at random intervals) or `"voip"` (one way, as a voice call).
    pub kind: ProbeWord,
    /// For the one-way kinds: `"up"` (default) or `"down"`.
    pub direction: Option<Direction>,
    /// Between two packets (default 200 ms); of `"poisson"`, the mean.
    pub interval: Option<Duration>,
    /// Of `"udp_rr"`: when a lost answer is given up (default 2 s).
    pub timeout: Option<Duration>,
    /// Bytes on the wire (default 98, 60, 214 and 214).
    pub size: Option<u16>,
    /// Of `"voip"`: `"g711"` (default; 64 kbit/s) or `"opus"` (24 kbit/s).
    pub codec: Option<Codec>,
    /// Of `"voip"`: time between two packets (default 20 ms).
    pub frame: Option<Duration>,
    /// Of `"voip"`: rate of the coded speech, if not the codec's. A packet has `bitrate x frame / 8 + headers + 14` bytes.
    pub bitrate: Option<Rate>,
    /// Of `"voip"`: bytes beside the speech in each packet, without Ethernet's 14 (default 40: RTP, UDP, IPv4).
    pub headers: Option<u16>,
    /// Base round-trip time (default: the path's).
    #[serde(default)]
    #[schemars(extend("default" = null))]
    pub rtt: Duration,
    /// Which of the hosts on the client's side this is, 1 to 5000, or 64 on a kernel (default 1). Absent with `wifi`, where
    /// stations are the clients.
    pub client: Option<u16>,
    /// Which of the hosts on the server's side the other end is, 1 to 5000, or 64 on a kernel (default 1).
    pub server: Option<u16>,
    /// In a cell: at which station (default: the first).
    pub station: Option<String>,
    /// The code point of both directions' packets, 0 to 63, or `CS0` to `CS7`, `AF11` to `AF43`, `EF`, `VA`, `LE`
    /// (default 0).
    pub dscp: Option<Dscp>,
    /// With `topology`: the nodes of client and server (default: those of `topology.ends`).
    pub ends: Option<[String; 2]>,
}

/// What a probe does, with all that its kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeKindScenario {
    /// An echo request every interval.
    Icmp(Duration),
    /// Request and response in turn, with this time-out; sampled with the series.
    UdpRr(Duration),
    /// A packet every interval one way.
    Isochronous(Direction, Duration),
    /// Packets one way, as a Poisson process with this mean interval.
    Poisson(Direction, Duration),
    /// One direction of a voice call.
    Voip(Direction, Voice),
}

impl ProbeKindScenario {
    /// Which way its packets go; `None` for those that are answered.
    #[must_use]
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Self::Isochronous(direction, _) | Self::Poisson(direction, _) | Self::Voip(direction, _) => Some(direction),
            Self::Icmp(_) | Self::UdpRr(_) => None,
        }
    }
}

/// What a voice stream sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// Its codec.
    pub codec: Codec,
    /// Time between packets, and of speech in each.
    pub frame: Duration,
    /// Rate of the coded speech.
    pub bitrate: Rate,
    /// Bytes beside it in each packet, on the IP level: RTP 12, UDP 8 and IPv4 20 by default.
    pub headers: u16,
}

impl Voice {
    /// Bits of speech in a packet, times 10^9.
    fn bit_ns(&self) -> u128 {
        u128::from(self.bitrate.as_bps()) * u128::from(self.frame.as_nanos())
    }

    /// Bytes of a packet on the wire.
    fn size(&self) -> u64 {
        let speech = u64::try_from(self.bit_ns() / 8_000_000_000).unwrap_or(u64::MAX);
        speech.saturating_add(u64::from(self.headers) + u64::from(ETHERNET))
    }
}

impl ProbeScenario {
    /// What it does.
    #[must_use]
    pub fn kind(&self) -> ProbeKindScenario {
        let direction = self.direction.unwrap_or(Direction::Up);
        let interval = self.interval.unwrap_or(Duration::from_millis(200));
        match self.kind {
            ProbeWord::Icmp => ProbeKindScenario::Icmp(interval),
            ProbeWord::UdpRr => ProbeKindScenario::UdpRr(self.timeout.unwrap_or(Duration::from_secs(2))),
            ProbeWord::Isochronous => ProbeKindScenario::Isochronous(direction, interval),
            ProbeWord::Poisson => ProbeKindScenario::Poisson(direction, interval),
            ProbeWord::Voip => ProbeKindScenario::Voip(direction, self.voice()),
        }
    }

    fn voice(&self) -> Voice {
        let codec = self.codec.unwrap_or_default();
        Voice {
            codec,
            frame: self.frame.unwrap_or(Duration::from_millis(20)),
            bitrate: self.bitrate.unwrap_or(codec.bitrate()),
            headers: self.headers.unwrap_or(40),
        }
    }

    /// Bytes on the wire: by default of ping's 64-byte ICMP message, netperf's one-byte UDP datagram (padded to the least
    /// Ethernet frame), and 160 bytes of G.711 with RTP; each with its IP and Ethernet headers.
    #[must_use]
    pub fn size(&self) -> u16 {
        match (self.kind, self.size) {
            (ProbeWord::Voip, _) => u16::try_from(self.voice().size()).unwrap_or(u16::MAX),
            (_, Some(size)) => size,
            (ProbeWord::Icmp, None) => 98,
            (ProbeWord::UdpRr, None) => 60,
            (ProbeWord::Isochronous | ProbeWord::Poisson, None) => 214,
        }
    }

    /// What the probes of a run need.
    pub(crate) fn cost(all: &[Self], run: &mut Estimate<'_>) {
        let bin = |p: &Self| match p.kind {
            ProbeWord::Voip => VOICE_BIN,
            ProbeWord::UdpRr => PROBE_BIN,
            ProbeWord::Icmp | ProbeWord::Isochronous | ProbeWord::Poisson => 0.0,
        };
        run.bins(all.len(), "probes", all.iter().map(bin).sum());
        let window = run.window();
        let (mut samples, mut voice, mut packets) = (0.0, 0.0, 0.0);
        for p in all {
            let n = match p.kind() {
                ProbeKindScenario::Voip(_, codec) => {
                    voice += times(window, codec.frame);
                    packets += times(window, codec.frame);
                    continue;
                }
                ProbeKindScenario::Icmp(interval)
                | ProbeKindScenario::Isochronous(_, interval)
                | ProbeKindScenario::Poisson(_, interval) => times(window, interval),
                // Each waits for the one before: for its round trip, and for the slower of the two ways to carry it.
                ProbeKindScenario::UdpRr(_) => {
                    let (size, seconds) = (f64::from(p.size()), window.as_secs_f64());
                    let carried = run.ways.map(|way| way.carries(size, seconds));
                    times(window, p.rtt).min(carried[0]).min(carried[1])
                }
            };
            samples += n;
            packets += if p.kind().direction().is_none() { 2.0 * n } else { n };
        }
        run.packets(packets);
        run.part(
            format!("{} probes with {samples:.0} samples", all.len()),
            samples * SAMPLE,
            "lengthen their intervals or shorten duration",
        );
        run.part(
            format!("voice streams with {voice:.0} packets"),
            voice * VOICE_PACKET,
            "lengthen their frames or shorten duration",
        );
    }

    /// Writes out what is left out, but for what another field of the scenario decides.
    pub(crate) fn complete(&mut self) {
        if self.kind != ProbeWord::Voip {
            self.size = Some(self.size());
        }
        match self.kind() {
            ProbeKindScenario::Icmp(interval) => self.interval = Some(interval),
            ProbeKindScenario::UdpRr(timeout) => self.timeout = Some(timeout),
            ProbeKindScenario::Isochronous(direction, interval) | ProbeKindScenario::Poisson(direction, interval) => {
                self.direction = Some(direction);
                self.interval = Some(interval);
            }
            ProbeKindScenario::Voip(direction, voice) => {
                self.direction = Some(direction);
                self.codec = Some(voice.codec);
                self.frame = Some(voice.frame);
                self.bitrate = Some(voice.bitrate);
                self.headers = Some(voice.headers);
            }
        }
    }

    pub(crate) fn check(&self, i: usize, on: &Context<'_>) -> Result<(), ScenarioError> {
        let place = format!("probes[{i}]");
        let field = |key: &str| format!("{place}.{key}");
        check_name(&field("name"), &self.name)?;
        self.check_unused(&place)?;
        let (least, most) = (Duration::from_millis(1), Duration::from_secs(60));
        for (key, span) in [("interval", self.interval), ("timeout", self.timeout)] {
            if let Some(span) = span {
                within(&field(key), span, least, most)?;
            }
        }
        if self.kind == ProbeWord::Voip {
            self.check_voice(&place)?;
        }
        let size = self.size();
        if !SIZES.contains(&u64::from(size)) {
            return fail(&field("size"), size, "60 to 1514 bytes");
        }
        within(&field("rtt"), self.rtt, RTT.0, RTT.1)?;
        self.identity().check(&place, on)?;
        on.check_ends(&place, self.ends.as_ref())
    }

    /// Refuses what its kind does not have.
    fn check_unused(&self, place: &str) -> Result<(), ScenarioError> {
        use ProbeWord::{Icmp, Isochronous, Poisson, UdpRr, Voip};
        let one_way: &[ProbeWord] = &[Isochronous, Poisson, Voip];
        for (key, present, of) in [
            ("codec", self.codec.is_some(), &[Voip][..]),
            ("frame", self.frame.is_some(), &[Voip]),
            ("bitrate", self.bitrate.is_some(), &[Voip]),
            ("headers", self.headers.is_some(), &[Voip]),
            ("timeout", self.timeout.is_some(), &[UdpRr]),
            ("direction", self.direction.is_some(), one_way),
            ("interval", self.interval.is_some(), &[Icmp, Isochronous, Poisson]),
            ("size", self.size.is_some(), &[Icmp, UdpRr, Isochronous, Poisson]),
        ] {
            if present && !of.contains(&self.kind) {
                let rule = format!("absent for kind {:?}", self.kind.name());
                return fail(&format!("{place}.{key}"), "given", rule);
            }
        }
        Ok(())
    }

    fn check_voice(&self, place: &str) -> Result<(), ScenarioError> {
        let field = |key: &str| format!("{place}.{key}");
        let voice = self.voice();
        within(
            &field("frame"),
            voice.frame,
            Duration::from_millis(1),
            Duration::from_secs(1),
        )?;
        within(&field("bitrate"), voice.bitrate, RATE.0, RATE.1)?;
        let bit_ns = voice.bit_ns();
        if bit_ns == 0 || !bit_ns.is_multiple_of(8_000_000_000) {
            let rule = format!(
                "a rate that fills each frame of {} with a whole number of bytes",
                voice.frame
            );
            return fail(&field("bitrate"), voice.bitrate, rule);
        }
        let (size, headers) = (voice.size(), voice.headers);
        if !SIZES.contains(&size) {
            let rule = format!(
                "a rate that makes packets of 60 to 1514 bytes (with {headers} bytes of headers they have {size})"
            );
            return fail(&field("bitrate"), voice.bitrate, rule);
        }
        Ok(())
    }
}
