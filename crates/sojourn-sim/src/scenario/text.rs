//! A scenario as text: what a person writes and a file holds.

use super::download::DownloadText;
use super::flusher::FlusherText;
use super::tcp::TcpText;
use super::wifi::WifiText;
use super::{FlowScenario, ProbeKindScenario, ProbeScenario, Transport, WebScenario};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sojourn_units::{format_duration, format_rate};

/// The text form. Fields are in the order in which they are explained in the documentation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Text {
    pub(super) experiment: String,
    pub(super) duration: Option<String>,
    pub(super) lead: String,
    pub(super) up: String,
    pub(super) down: String,
    pub(super) rtt: String,
    pub(super) qdisc_up: String,
    pub(super) qdisc_down: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) burst_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) burst_down: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edge_rate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edge_burst: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) edge_limit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) loss_up: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) loss_down: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jitter_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) jitter_down: Option<String>,
    pub(super) delay_tick: String,
    pub(super) start_jitter: String,
    pub(super) spare_acks: bool,
    pub(super) sample_interval: String,
    pub(super) tcp: TcpText,
    pub(super) flows: Vec<FlowText>,
    pub(super) probes: Vec<ProbeText>,
    pub(super) web: Vec<WebText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) downloads: Vec<DownloadText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) wifi: Option<WifiText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) flusher: Option<FlusherText>,
    pub(super) seed: u64,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            experiment: "custom".into(),
            duration: None,
            lead: "2s".into(),
            up: "10mbit".into(),
            down: "10mbit".into(),
            rtt: "50ms".into(),
            qdisc_up: "fq_codel".into(),
            qdisc_down: "fq_codel".into(),
            burst_up: None,
            burst_down: None,
            edge_rate: None,
            edge_burst: None,
            edge_limit: None,
            loss_up: None,
            loss_down: None,
            jitter_up: None,
            jitter_down: None,
            delay_tick: "0s".into(),
            start_jitter: "50ms".into(),
            spare_acks: false,
            sample_interval: "200ms".into(),
            tcp: TcpText::default(),
            flows: Vec::new(),
            probes: Vec::new(),
            web: Vec::new(),
            downloads: Vec::new(),
            wifi: None,
            flusher: None,
            seed: 1,
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct FlowText {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<String>,
    pub(super) direction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) congestion_control: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rtt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) write_interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) station: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dscp: Option<Value>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ProbeText {
    pub(super) name: String,
    pub(super) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) direction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) codec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) frame: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) bitrate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) headers: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rtt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) station: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dscp: Option<Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WebText {
    pub(super) name: String,
    pub(super) page: String,
    pub(super) objects: Vec<u64>,
    pub(super) workers: usize,
    pub(super) interval: String,
    pub(super) congestion_control: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rtt: Option<String>,
    pub(super) start: String,
    pub(super) think_time: String,
    pub(super) request_bytes: u64,
    pub(super) header_bytes: u64,
    pub(super) dns: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) station: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dscp: Option<Value>,
}

impl Default for WebText {
    fn default() -> Self {
        Self {
            name: String::new(),
            page: "custom".into(),
            objects: Vec::new(),
            workers: 4,
            interval: "200ms".into(),
            congestion_control: "cubic".into(),
            rtt: None,
            start: "0s".into(),
            think_time: "0s".into(),
            // cURL's GET of a path of some 20 letters: request line, Host, User-Agent, Accept.
            request_bytes: 100,
            // Status line and the ten or so header lines of a plain server.
            header_bytes: 300,
            dns: true,
            station: None,
            dscp: None,
        }
    }
}

pub(super) fn flow_text(f: &FlowScenario) -> FlowText {
    FlowText {
        name: f.name.clone(),
        kind: (f.transport == Transport::Tcp).then(|| "tcp".into()),
        protocol: (f.transport == Transport::Udp).then(|| "udp".into()),
        direction: f.direction.name().into(),
        congestion_control: (f.transport == Transport::Tcp).then(|| f.congestion_control.name().into()),
        rtt: Some(format_duration(f.rtt)),
        start: Some(format_duration(f.start)),
        bytes: f.bytes,
        rate: f.rate.map(format_rate),
        write: f.writes.map(|w| w.bytes.to_string()),
        write_interval: f.writes.map(|w| format_duration(w.interval)),
        station: None,
        dscp: None,
    }
}

pub(super) fn probe_text(p: &ProbeScenario) -> ProbeText {
    let mut text = ProbeText {
        name: p.name.clone(),
        size: (!matches!(p.kind, ProbeKindScenario::Voip(..))).then_some(p.size),
        rtt: Some(format_duration(p.rtt)),
        ..ProbeText::default()
    };
    match p.kind {
        ProbeKindScenario::Icmp(interval) => {
            text.kind = "icmp".into();
            text.interval = Some(format_duration(interval));
        }
        ProbeKindScenario::UdpRr(timeout) => {
            text.kind = "udp_rr".into();
            text.timeout = Some(format_duration(timeout));
        }
        ProbeKindScenario::Isochronous(direction, interval) | ProbeKindScenario::Poisson(direction, interval) => {
            let regular = matches!(p.kind, ProbeKindScenario::Isochronous(..));
            text.kind = if regular { "isochronous" } else { "poisson" }.into();
            text.direction = Some(direction.name().into());
            text.interval = Some(format_duration(interval));
        }
        ProbeKindScenario::Voip(direction, voice) => {
            text.kind = "voip".into();
            text.direction = Some(direction.name().into());
            text.codec = Some(voice.codec.name().into());
            text.frame = Some(format_duration(voice.frame));
            text.bitrate = Some(format_rate(voice.bitrate));
            text.headers = Some(voice.headers);
        }
    }
    text
}

pub(super) fn web_text(w: &WebScenario) -> WebText {
    WebText {
        name: w.name.clone(),
        page: w.page.clone(),
        objects: w.objects.clone(),
        workers: w.workers,
        interval: format_duration(w.interval),
        congestion_control: w.congestion_control.name().into(),
        rtt: Some(format_duration(w.rtt)),
        start: format_duration(w.start),
        think_time: format_duration(w.think_time),
        request_bytes: w.request_bytes,
        header_bytes: w.header_bytes,
        dns: w.dns,
        station: None,
        dscp: None,
    }
}
