//! What a scenario may ask of each back end.

use crate::ScenarioError;
use crate::text::Text;
use sojourn_qdisc::Discipline;
use sojourn_tcp::{ReceiveBuffer, TcpParams, Variant};
use sojourn_units::{Duration, parse_duration};

/// The largest jitter of a kernel's path: netem counts half of it in 31 bits of nanoseconds.
const NETEM_JITTER_MAX: Duration = Duration::from_secs(4);

/// What runs a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The simulator.
    #[default]
    Sim,
    /// A Linux kernel, its TCP and its disciplines.
    Linux,
    /// This machine's TCP, and disciplines of ours on its packets.
    Live,
}

impl Backend {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sim, Self::Linux, Self::Live];

    /// `sim`, `linux` or `live`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Linux => "linux",
            Self::Live => "live",
        }
    }

    /// Whether hosts have a kernel's TCP.
    #[must_use]
    pub const fn has_real_hosts(self) -> bool {
        matches!(self, Self::Linux | Self::Live)
    }
}

impl std::str::FromStr for Backend {
    type Err = ScenarioError;
    fn from_str(s: &str) -> Result<Self, ScenarioError> {
        let found = Self::ALL.into_iter().find(|b| b.name() == s);
        found.ok_or_else(|| ScenarioError(format!("backend is {s:?}, but must be \"sim\", \"linux\" or \"live\"")))
    }
}

/// The discipline as this back end runs it.
///
/// # Errors
/// [`ScenarioError`] for one that it does not have, or cannot be told.
pub(crate) fn discipline(field: &str, discipline: Discipline, backend: Backend) -> Result<Discipline, ScenarioError> {
    match backend {
        Backend::Sim | Backend::Live => {
            if discipline.modelled().is_none() {
                return Err(ScenarioError(not_modelled(field, discipline.kind(), backend)));
            }
            Ok(discipline)
        }
        Backend::Linux => {
            let discipline = discipline.for_kernel();
            let told = discipline.kernel_options();
            told.map_err(|e| ScenarioError(format!("{field}: {e}")))?;
            Ok(discipline)
        }
    }
}

/// The sentence for a kind that a back end with our own disciplines lacks.
#[must_use]
pub fn not_modelled(field: &str, kind: &str, backend: Backend) -> String {
    let whose = match backend {
        Backend::Live => "live back end",
        Backend::Sim | Backend::Linux => "simulator",
    };
    format!("{field} is {kind}, but the {whose} has no such discipline: use the linux back end")
}

/// Refuses what is not modelled.
///
/// # Errors
/// [`ScenarioError`]: the field, its value, and why.
pub(crate) fn check_sim(t: &Text) -> Result<(), ScenarioError> {
    if t.tcp.save_metrics && !t.web.is_empty() {
        let error = "tcp.save_metrics is true, but must be false with web clients, whose servers remember nothing on the simulator";
        return Err(ScenarioError(error.to_owned()));
    }
    Ok(())
}

/// Refuses what real hosts, and what is between them, cannot be asked for.
///
/// # Errors
/// [`ScenarioError`]: the field, its value, and why.
pub(crate) fn check_real(
    t: &Text,
    tcp: &TcpParams,
    delay_tick: Duration,
    backend: Backend,
) -> Result<(), ScenarioError> {
    let name = backend.name();
    let refuse = |field: &str, value: &dyn std::fmt::Display, why: &str| {
        Err(ScenarioError(format!("{field} is {value}, but {why}: leave it out")))
    };
    if t.wifi.is_some() && backend == Backend::Live {
        return Err(ScenarioError(format!(
            "wifi is given, but the {name} back end has wires only: use sim or linux"
        )));
    }
    if t.spare_acks {
        let why = match backend {
            Backend::Live => "the live back end's queues drop what the disciplines drop",
            Backend::Sim | Backend::Linux => "the linux back end's queues drop what the kernel drops",
        };
        return refuse("spare_acks", &true, why);
    }
    if !delay_tick.is_zero() {
        let why = match backend {
            Backend::Live => "the live back end's delay lets a packet out when it is due",
            Backend::Sim | Backend::Linux => {
                "the linux back end's delay is the kernel's own, which lets a packet out when it is due"
            }
        };
        return refuse("delay_tick", &t.delay_tick, why);
    }
    for (field, jitter) in [("jitter_up", &t.jitter_up), ("jitter_down", &t.jitter_down)] {
        let Some((text, long)) = jitter
            .as_ref()
            .and_then(|text| Some((text, parse_duration(text).ok()?)))
        else {
            continue;
        };
        if backend == Backend::Live && !long.is_zero() {
            let why = "the live back end's delay cannot vary and keep the order of packets";
            return refuse(field, text, why);
        }
        if backend == Backend::Linux && long > NETEM_JITTER_MAX {
            let rule = format!("must be at most {NETEM_JITTER_MAX} on the linux back end, as netem counts it");
            return Err(ScenarioError(format!("{field} is {text}, but {rule}")));
        }
    }
    if tcp.variant != Variant::default() {
        let why = format!("the {name} back end runs the kernel's own TCP");
        return refuse("tcp.variant", &tcp.variant.name(), &why);
    }
    if tcp.receive_buffer != ReceiveBuffer::Auto && t.wifi.is_none() {
        let why = match backend {
            Backend::Live => "the live back end leaves the size of receive buffers to the kernel",
            Backend::Sim | Backend::Linux => "the linux back end locks the receive buffers of a cell's hosts alone",
        };
        return refuse("tcp.receive_buffer", &tcp.receive_buffer.name(), why);
    }
    if !tcp.min_rto.as_nanos().is_multiple_of(1_000_000) {
        return Err(ScenarioError(format!(
            "tcp.min_rto is {}, but must be a whole number of milliseconds on the {name} back end, as a route carries it",
            t.tcp.min_rto
        )));
    }
    if backend == Backend::Live {
        if let Some(rate) = &t.edge_rate {
            return refuse("edge_rate", rate, "the live back end has no links but the bottleneck");
        }
        if !tcp.cc.cubic.hystart {
            let why = "the live back end runs on this machine's kernel, where HyStart is a setting of all of it";
            return refuse("tcp.hystart", &false, why);
        }
    }
    Ok(())
}
