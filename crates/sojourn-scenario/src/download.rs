//! Files that are sent one after the other, with idle times between them.

use crate::load::{OBJECT_MAX, check_name};
use crate::{Access, BINS_MAX, Backend, CongestionControl, Direction, ScenarioError, WifiScenario, fail, time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sojourn_units::{Duration, format_duration};

/// Files of one size, one after the other, each over a TCP connection of its own.
#[derive(Clone, Debug)]
pub struct DownloadScenario {
    /// Unique name.
    pub name: String,
    /// Which way the files go.
    pub direction: Direction,
    /// Bytes of each file.
    pub bytes: u64,
    /// Mean of the exponential time between the end of one file and the start of the next.
    pub gap: Duration,
    /// Congestion control of the senders.
    pub congestion_control: CongestionControl,
    /// Base RTT.
    pub rtt: Duration,
    /// When the first file starts, from the beginning of the measured window, before jitter.
    pub start: Duration,
    /// Where its client is.
    pub access: Access,
}

/// Its text form.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct DownloadText {
    pub(crate) name: String,
    pub(crate) direction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gap: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) congestion_control: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rtt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) station: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dscp: Option<Value>,
}

pub(crate) fn download(
    i: usize,
    d: &DownloadText,
    rtt: Duration,
    duration: Duration,
    backend: Backend,
    wifi: Option<&WifiScenario>,
) -> Result<DownloadScenario, ScenarioError> {
    let field = |key: &str| format!("downloads[{i}].{key}");
    check_name(&field("name"), &d.name)?;
    let bytes = match d.bytes {
        Some(bytes) if (1..=OBJECT_MAX).contains(&bytes) => bytes,
        Some(bytes) => return fail(&field("bytes"), bytes, format!("1 to {OBJECT_MAX} bytes")),
        None => return fail(&field("bytes"), "missing", "given, such as 1700000"),
    };
    let Some(gap) = &d.gap else {
        return fail(&field("gap"), "missing", "given, such as 9.5s");
    };
    let gap = time(
        &field("gap"),
        gap,
        Duration::from_millis(1),
        Duration::from_secs(86_400),
    )?;
    if duration.as_nanos() / gap.as_nanos() > BINS_MAX {
        return fail(&field("gap"), gap, format!("at least a {BINS_MAX}th of the duration"));
    }
    Ok(DownloadScenario {
        name: d.name.clone(),
        direction: Direction::parse(&field("direction"), &d.direction)?,
        bytes,
        gap,
        congestion_control: CongestionControl::parse(
            &format!("downloads[{i}]"),
            d.congestion_control.as_deref().unwrap_or("cubic"),
            backend,
        )?,
        rtt: d.rtt.as_deref().map_or(Ok(rtt), |text| {
            time(&field("rtt"), text, Duration::from_micros(1), Duration::from_secs(60))
        })?,
        start: d.start.as_deref().map_or(Ok(Duration::ZERO), |text| {
            time(&field("start"), text, Duration::ZERO, duration)
        })?,
        access: Access::read(&format!("downloads[{i}]"), d.station.as_deref(), d.dscp.as_ref(), wifi)?,
    })
}

pub(crate) fn download_text(d: &DownloadScenario) -> DownloadText {
    DownloadText {
        name: d.name.clone(),
        direction: d.direction.name().into(),
        bytes: Some(d.bytes),
        gap: Some(format_duration(d.gap)),
        congestion_control: Some(d.congestion_control.name().into()),
        rtt: Some(format_duration(d.rtt)),
        start: Some(format_duration(d.start)),
        station: None,
        dscp: None,
    }
}
