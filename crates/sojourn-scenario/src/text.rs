//! A scenario as text: what a person writes and a file holds.

use crate::download::DownloadText;
use crate::flusher::FlusherText;
use crate::tcp::TcpText;
use crate::wifi::WifiText;
use crate::{FlowScenario, ProbeKindScenario, ProbeScenario, Transport, WebScenario};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sojourn_units::{format_duration, format_rate};

/// The text form. Fields are in the order in which they are explained in the documentation.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Text {
    pub(crate) experiment: String,
    pub(crate) duration: Option<String>,
    pub(crate) lead: String,
    pub(crate) up: String,
    pub(crate) down: String,
    pub(crate) rtt: String,
    pub(crate) qdisc_up: String,
    pub(crate) qdisc_down: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) burst_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) burst_down: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edge_rate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edge_burst: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) edge_limit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loss_up: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loss_down: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jitter_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jitter_down: Option<String>,
    pub(crate) delay_tick: String,
    pub(crate) start_jitter: String,
    pub(crate) spare_acks: bool,
    pub(crate) sample_interval: String,
    pub(crate) tcp: TcpText,
    pub(crate) flows: Vec<FlowText>,
    pub(crate) probes: Vec<ProbeText>,
    pub(crate) web: Vec<WebText>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) downloads: Vec<DownloadText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wifi: Option<WifiText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flusher: Option<FlusherText>,
    pub(crate) seed: u64,
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
pub(crate) struct FlowText {
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol: Option<String>,
    pub(crate) direction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) congestion_control: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rtt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) write: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) write_interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) station: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dscp: Option<Value>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ProbeText {
    pub(crate) name: String,
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) codec: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frame: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bitrate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) headers: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rtt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) station: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dscp: Option<Value>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WebText {
    pub(crate) name: String,
    pub(crate) page: String,
    pub(crate) objects: Vec<u64>,
    pub(crate) workers: usize,
    pub(crate) interval: String,
    pub(crate) congestion_control: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rtt: Option<String>,
    pub(crate) start: String,
    pub(crate) think_time: String,
    pub(crate) request_bytes: u64,
    pub(crate) header_bytes: u64,
    pub(crate) dns: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) station: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dscp: Option<Value>,
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

pub(crate) fn flow_text(f: &FlowScenario) -> FlowText {
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

pub(crate) fn probe_text(p: &ProbeScenario) -> ProbeText {
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

pub(crate) fn web_text(w: &WebScenario) -> WebText {
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
