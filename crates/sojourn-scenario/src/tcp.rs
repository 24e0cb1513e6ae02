//! The key `tcp` of a scenario.

use crate::{DURATION_MAX, ScenarioError, time};
use serde::{Deserialize, Serialize};
use sojourn_tcp::cc::{Algorithm, CubicParams, Params};
use sojourn_tcp::{Heads, ParamError, ReceiveBuffer, TcpParams};
use sojourn_units::{Duration, format_duration, parse_bytes};

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
pub(crate) struct TcpText {
    pub(crate) variant: String,
    pub(crate) mss: u16,
    pub(crate) initial_window: u32,
    pub(crate) receive_window: String,
    #[serde(skip_serializing_if = "is_auto")]
    pub(crate) receive_buffer: String,
    pub(crate) hystart: bool,
    pub(crate) ecn: bool,
    pub(crate) delayed_ack: bool,
    pub(crate) min_rto: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) save_metrics: bool,
}

impl Default for TcpText {
    fn default() -> Self {
        let p = TcpParams::default();
        Self {
            variant: p.variant.name().into(),
            mss: p.mss,
            initial_window: p.initial_window,
            receive_window: p.receive_window.to_string(),
            receive_buffer: p.receive_buffer.name().into(),
            hystart: p.cc.cubic.hystart,
            ecn: p.ecn,
            delayed_ack: p.delayed_ack,
            min_rto: format_duration(p.min_rto),
            save_metrics: false,
        }
    }
}

/// Whether a text of a buffer is the default, which canonical scenarios leave out.
fn is_auto(receive_buffer: &str) -> bool {
    receive_buffer == ReceiveBuffer::Auto.name()
}

impl TcpText {
    /// What it says; the congestion control is each flow's own.
    ///
    /// # Errors
    /// [`ScenarioError`] for a value that no connection can have.
    pub(crate) fn read(&self) -> Result<TcpParams, ScenarioError> {
        let told = |e: ParamError| ScenarioError(e.to_string());
        let tcp = TcpParams {
            variant: self.variant.parse().map_err(told)?,
            mss: self.mss,
            initial_window: self.initial_window,
            receive_window: parse_bytes(&self.receive_window)
                .map_err(|e| ScenarioError(format!("tcp.receive_window: {e}")))?,
            receive_buffer: self.receive_buffer.parse().map_err(told)?,
            congestion_control: Algorithm::Cubic,
            cc: Params {
                cubic: CubicParams { hystart: self.hystart },
                ..Params::default()
            },
            pacing: false,
            ecn: self.ecn,
            delayed_ack: self.delayed_ack,
            min_rto: time("tcp.min_rto", &self.min_rto, Duration::ZERO, DURATION_MAX)?,
            heads: Heads::default(),
        };
        tcp.validate().map_err(told)?;
        Ok(tcp)
    }

    /// The text of it.
    pub(crate) fn of(tcp: &TcpParams, save_metrics: bool) -> Self {
        Self {
            variant: tcp.variant.name().into(),
            mss: tcp.mss,
            initial_window: tcp.initial_window,
            receive_window: tcp.receive_window.to_string(),
            receive_buffer: tcp.receive_buffer.name().into(),
            hystart: tcp.cc.cubic.hystart,
            ecn: tcp.ecn,
            delayed_ack: tcp.delayed_ack,
            min_rto: format_duration(tcp.min_rto),
            save_metrics,
        }
    }
}
