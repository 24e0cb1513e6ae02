//! The traffic of a scenario, checked: flows, probes, web clients.

use crate::text::{FlowText, ProbeText, WebText};
use crate::{
    Access, BINS_MAX, Backend, Codec, CongestionControl, Direction, FlowScenario, ProbeKindScenario, ProbeScenario,
    ScenarioError, Transport, Voice, WebScenario, WifiScenario, Writes, fail, rate, time,
};
use sojourn_units::{Duration, parse_bytes};

/// Most objects of a page, and connections of a client.
const OBJECTS_MAX: usize = 10_000;
const WORKERS_MAX: usize = 64;
/// Largest object, request and header, bytes.
pub(crate) const OBJECT_MAX: u64 = 1 << 40;
const MESSAGE_MAX: u64 = 1 << 20;
/// An Ethernet header.
const ETHERNET: u64 = 14;

pub(crate) fn check_name(field: &str, name: &str) -> Result<(), ScenarioError> {
    let ok = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if ok {
        Ok(())
    } else {
        fail(field, format!("{name:?}"), "1 to 64 letters, digits, '_', '-' or '.'")
    }
}

/// Most characters of an experiment's name, which heads tables and figures.
const TITLE_MAX: usize = 200;

/// Checks the one free name: it heads terminals, pages and figures, so it holds nothing that steers them.
pub(crate) fn check_title(field: &str, title: &str) -> Result<(), ScenarioError> {
    let rule = format!("at most {TITLE_MAX} printable characters, without '$'");
    let length = title.chars().count();
    if length > TITLE_MAX {
        return fail(field, format!("a text of {length} characters"), rule);
    }
    if title.chars().any(steers) {
        return fail(field, format!("{title:?}"), rule);
    }
    Ok(())
}

/// Whether a character changes how others are shown: the sign of a formula, controls, line ends, and what turns the
/// direction of text or joins it invisibly.
fn steers(c: char) -> bool {
    c == '$'
        || c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

pub(crate) fn flow(
    i: usize,
    f: &FlowText,
    rtt: Duration,
    duration: Duration,
    backend: Backend,
    wifi: Option<&WifiScenario>,
) -> Result<FlowScenario, ScenarioError> {
    let field = |key: &str| format!("flows[{i}].{key}");
    check_name(&field("name"), &f.name)?;
    if let Some(kind) = &f.kind
        && kind != "tcp"
    {
        return fail(&field("kind"), format!("{kind:?}"), "\"tcp\"");
    }
    let transport = transport(i, f, backend)?;
    if f.bytes == Some(0) {
        return fail(&field("bytes"), 0, "at least 1");
    }
    let (least, most) = (Duration::from_micros(1), Duration::from_secs(60));
    Ok(FlowScenario {
        name: f.name.clone(),
        transport,
        direction: Direction::parse(&field("direction"), &f.direction)?,
        congestion_control: CongestionControl::parse(
            &format!("flows[{i}]"),
            f.congestion_control.as_deref().unwrap_or("cubic"),
            backend,
        )?,
        rtt: f
            .rtt
            .as_deref()
            .map_or(Ok(rtt), |text| time(&field("rtt"), text, least, most))?,
        start: f.start.as_deref().map_or(Ok(Duration::ZERO), |text| {
            time(&field("start"), text, Duration::ZERO, duration)
        })?,
        bytes: f.bytes,
        rate: f.rate.as_deref().map(|text| rate(&field("rate"), text)).transpose()?,
        writes: writes(i, f, duration)?,
        access: Access::read(&format!("flows[{i}]"), f.station.as_deref(), f.dscp.as_ref(), wifi)?,
    })
}

/// What carries a flow, and that nothing is given that the other alone has.
fn transport(i: usize, f: &FlowText, backend: Backend) -> Result<Transport, ScenarioError> {
    let field = |key: &str| format!("flows[{i}].{key}");
    match f.protocol.as_deref().unwrap_or("tcp") {
        "tcp" => return Ok(Transport::Tcp),
        "udp" => {}
        other => return fail(&field("protocol"), format!("{other:?}"), "\"tcp\" or \"udp\""),
    }
    if backend == Backend::Live {
        return Err(ScenarioError(format!(
            "{} is \"udp\", but the {} back end has no such flows: use sim or linux",
            field("protocol"),
            backend.name()
        )));
    }
    for (key, given) in [
        ("kind", f.kind.is_some()),
        ("congestion_control", f.congestion_control.is_some()),
        ("bytes", f.bytes.is_some()),
        ("write", f.write.is_some()),
        ("write_interval", f.write_interval.is_some()),
    ] {
        if given {
            return fail(&field(key), "given", "absent for protocol \"udp\"");
        }
    }
    if f.rate.is_none() {
        return fail(&field("rate"), "missing", "given with protocol \"udp\", such as 50mbit");
    }
    Ok(Transport::Udp)
}

/// How the application of a thin stream writes, if it is one.
fn writes(i: usize, f: &FlowText, duration: Duration) -> Result<Option<Writes>, ScenarioError> {
    let field = |key: &str| format!("flows[{i}].{key}");
    let (bytes, interval) = match (&f.write, &f.write_interval) {
        (None, None) => return Ok(None),
        (Some(bytes), Some(interval)) => (bytes, interval),
        (Some(_), None) => return fail(&field("write_interval"), "missing", "given with write, such as 300ms"),
        (None, Some(_)) => return fail(&field("write"), "missing", "given with write_interval, such as 150b"),
    };
    if f.rate.is_some() {
        return fail(
            &field("rate"),
            "given",
            "absent with write: a thin stream writes at intervals",
        );
    }
    let size = parse_bytes(bytes).map_err(|e| ScenarioError(format!("{}: {e}", field("write"))))?;
    if !(1..=MESSAGE_MAX).contains(&size.get()) {
        return fail(&field("write"), bytes, format!("1 to {MESSAGE_MAX} bytes"));
    }
    let (least, most) = (Duration::from_millis(1), Duration::from_secs(3600));
    let interval = time(&field("write_interval"), interval, least, most)?;
    if duration.as_nanos() / interval.as_nanos() > BINS_MAX {
        return fail(
            &field("write_interval"),
            interval,
            format!("at least a {BINS_MAX}th of the duration"),
        );
    }
    Ok(Some(Writes { bytes: size, interval }))
}

pub(crate) fn probe(
    i: usize,
    p: &ProbeText,
    rtt: Duration,
    wifi: Option<&WifiScenario>,
) -> Result<ProbeScenario, ScenarioError> {
    let field = |key: &str| format!("probes[{i}].{key}");
    check_name(&field("name"), &p.name)?;
    let (least, most) = (Duration::from_millis(1), Duration::from_secs(60));
    let interval = || {
        p.interval.as_deref().map_or(Ok(Duration::from_millis(200)), |text| {
            time(&field("interval"), text, least, most)
        })
    };
    let unused = |key: &str, given: bool| {
        if given {
            fail(&field(key), "given", format!("absent for kind {:?}", p.kind))
        } else {
            Ok(())
        }
    };
    let mut voice_size = None;
    let direction = || Direction::parse(&field("direction"), p.direction.as_deref().unwrap_or("up"));
    if p.kind != "voip" {
        unused("codec", p.codec.is_some())?;
        unused("frame", p.frame.is_some())?;
        unused("bitrate", p.bitrate.is_some())?;
        unused("headers", p.headers.is_some())?;
    }
    // Sizes: ping's 64-byte ICMP message, netperf's one-byte UDP datagram (padded to the least Ethernet frame), and 160 bytes
    // of G.711 with RTP; each with its IP and Ethernet headers.
    let (kind, default_size) = match p.kind.as_str() {
        "icmp" => {
            unused("timeout", p.timeout.is_some())?;
            unused("direction", p.direction.is_some())?;
            (ProbeKindScenario::Icmp(interval()?), 98)
        }
        "udp_rr" => {
            unused("interval", p.interval.is_some())?;
            unused("direction", p.direction.is_some())?;
            let timeout = p.timeout.as_deref().map_or(Ok(Duration::from_secs(2)), |text| {
                time(&field("timeout"), text, least, most)
            })?;
            (ProbeKindScenario::UdpRr(timeout), 60)
        }
        "isochronous" | "poisson" => {
            unused("timeout", p.timeout.is_some())?;
            let kind = if p.kind == "poisson" {
                ProbeKindScenario::Poisson
            } else {
                ProbeKindScenario::Isochronous
            };
            (kind(direction()?, interval()?), 214)
        }
        "voip" => {
            unused("timeout", p.timeout.is_some())?;
            unused("interval", p.interval.is_some())?;
            unused("size", p.size.is_some())?;
            let (voice, size) = voice(i, p)?;
            voice_size = Some(size);
            (ProbeKindScenario::Voip(direction()?, voice), 214)
        }
        other => {
            return fail(
                &field("kind"),
                format!("{other:?}"),
                "\"icmp\", \"udp_rr\", \"isochronous\", \"poisson\" or \"voip\"",
            );
        }
    };
    let size = voice_size.or(p.size).unwrap_or(default_size);
    if !(60..=1514).contains(&size) {
        return fail(&field("size"), size, "60 to 1514 bytes");
    }
    let rtt = p.rtt.as_deref().map_or(Ok(rtt), |text| {
        time(&field("rtt"), text, Duration::from_micros(1), Duration::from_secs(60))
    })?;
    Ok(ProbeScenario {
        name: p.name.clone(),
        kind,
        size,
        rtt,
        access: Access::read(&format!("probes[{i}]"), p.station.as_deref(), p.dscp.as_ref(), wifi)?,
    })
}

/// What a voice stream sends, and the size of its packets on the wire.
fn voice(i: usize, p: &ProbeText) -> Result<(Voice, u16), ScenarioError> {
    let field = |key: &str| format!("probes[{i}].{key}");
    let codec = match p.codec.as_deref().unwrap_or("g711") {
        "g711" => Codec::G711,
        "opus" => Codec::Opus,
        other => return fail(&field("codec"), format!("{other:?}"), "\"g711\" or \"opus\""),
    };
    let (least, most) = (Duration::from_millis(1), Duration::from_secs(1));
    let frame = p.frame.as_deref().map_or(Ok(Duration::from_millis(20)), |text| {
        time(&field("frame"), text, least, most)
    })?;
    let bitrate = p
        .bitrate
        .as_deref()
        .map_or(Ok(codec.bitrate()), |text| rate(&field("bitrate"), text))?;
    let headers = p.headers.unwrap_or(40);
    let bit_ns = u128::from(bitrate.as_bps()) * u128::from(frame.as_nanos());
    if bit_ns == 0 || bit_ns % 8_000_000_000 != 0 {
        return fail(
            &field("bitrate"),
            bitrate,
            format!("a rate that fills each frame of {frame} with a whole number of bytes"),
        );
    }
    let size = bit_ns / 8_000_000_000 + u128::from(headers) + u128::from(ETHERNET);
    if !(60..=1514).contains(&size) {
        return fail(
            &field("bitrate"),
            bitrate,
            format!("a rate that makes packets of 60 to 1514 bytes (with {headers} bytes of headers they have {size})"),
        );
    }
    let voice = Voice {
        codec,
        frame,
        bitrate,
        headers,
    };
    Ok((voice, size as u16))
}

pub(crate) fn web(
    i: usize,
    w: &WebText,
    rtt: Duration,
    duration: Duration,
    backend: Backend,
    wifi: Option<&WifiScenario>,
) -> Result<WebScenario, ScenarioError> {
    let field = |key: &str| format!("web[{i}].{key}");
    check_name(&field("name"), &w.name)?;
    check_name(&field("page"), &w.page)?;
    let count = w.objects.len();
    if !(1..=OBJECTS_MAX).contains(&count) {
        return fail(
            &field("objects"),
            format!("a list of {count}"),
            format!("a list of 1 to {OBJECTS_MAX} sizes in bytes"),
        );
    }
    for (k, &bytes) in w.objects.iter().enumerate() {
        if !(1..=OBJECT_MAX).contains(&bytes) {
            return fail(
                &format!("web[{i}].objects[{k}]"),
                bytes,
                format!("1 to {OBJECT_MAX} bytes"),
            );
        }
    }
    if !(1..=WORKERS_MAX).contains(&w.workers) {
        return fail(&field("workers"), w.workers, format!("1 to {WORKERS_MAX}"));
    }
    if !(1..=MESSAGE_MAX).contains(&w.request_bytes) {
        return fail(&field("request_bytes"), w.request_bytes, format!("1 to {MESSAGE_MAX}"));
    }
    if w.header_bytes > MESSAGE_MAX {
        return fail(&field("header_bytes"), w.header_bytes, format!("0 to {MESSAGE_MAX}"));
    }
    let (least, most) = (Duration::from_millis(1), Duration::from_secs(3600));
    let interval = time(&field("interval"), &w.interval, least, most)?;
    if duration.as_nanos() / interval.as_nanos() > BINS_MAX {
        return fail(
            &field("interval"),
            interval,
            format!("at least a {BINS_MAX}th of the duration"),
        );
    }
    Ok(WebScenario {
        name: w.name.clone(),
        page: w.page.clone(),
        objects: w.objects.clone(),
        workers: w.workers,
        interval,
        congestion_control: CongestionControl::parse(&format!("web[{i}]"), &w.congestion_control, backend)?,
        rtt: w.rtt.as_deref().map_or(Ok(rtt), |text| {
            time(&field("rtt"), text, Duration::from_micros(1), Duration::from_secs(60))
        })?,
        start: time(&field("start"), &w.start, Duration::ZERO, duration)?,
        think_time: time(
            &field("think_time"),
            &w.think_time,
            Duration::ZERO,
            Duration::from_secs(60),
        )?,
        request_bytes: w.request_bytes,
        header_bytes: w.header_bytes,
        dns: w.dns,
        access: Access::read(&format!("web[{i}]"), w.station.as_deref(), w.dscp.as_ref(), wifi)?,
    })
}
