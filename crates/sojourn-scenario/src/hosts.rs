//! What the hosts of each back end, and what is between them, cannot do.

use crate::{Backend, Direction, Scenario, ScenarioError, fail};
use sojourn_tcp::cc::{LaterBbrParams, RttControl, SlowStart, VegasParams};
use sojourn_tcp::{EcnMode, ReceiveBuffer, Variant};

fn refuse(field: &str, value: impl std::fmt::Display, why: &str) -> Result<(), ScenarioError> {
    let sentence = format!("{field} is {value}, but {why}: leave it out");
    Err(ScenarioError::because(sentence))
}

/// Refuses what the simulator does not model.
pub(crate) fn check_sim(s: &Scenario) -> Result<(), ScenarioError> {
    if s.tcp.save_metrics && !s.web.is_empty() {
        let rule = "false with web clients, whose servers remember nothing on the simulator";
        return fail("tcp.save_metrics", true, rule);
    }
    Ok(())
}

/// Refuses what real hosts, and what is between them, cannot do.
pub(crate) fn check_real(s: &Scenario, backend: Backend) -> Result<(), ScenarioError> {
    let name = backend.name();
    if s.wifi.is_some() && backend == Backend::Live {
        return Err(ScenarioError::because(format!(
            "wifi is given, but the {name} back end has wires only: use sim or linux"
        )));
    }
    if s.spare_acks {
        let why = match backend {
            Backend::Live => "the live back end's queues drop what the disciplines drop",
            Backend::Sim | Backend::Linux => "the linux back end's queues drop what the kernel drops",
        };
        return refuse("spare_acks", true, why);
    }
    if !s.delay_tick.is_zero() {
        let why = match backend {
            Backend::Live => "the live back end's delay lets a packet out when it is due",
            Backend::Sim | Backend::Linux => {
                "the linux back end's delay is the kernel's own, which lets a packet out when it is due"
            }
        };
        return refuse("delay_tick", s.delay_tick, why);
    }
    s.up.check_real(Direction::Up, backend)?;
    s.down.check_real(Direction::Down, backend)?;
    check_tcp(s, backend)?;
    match s.edge_rate {
        Some(rate) if backend == Backend::Live => {
            refuse("edge_rate", rate, "the live back end has no links but the bottleneck")
        }
        _ => Ok(()),
    }
}

/// Refuses what the TCP of real hosts cannot be set to.
fn check_tcp(s: &Scenario, backend: Backend) -> Result<(), ScenarioError> {
    let (tcp, name) = (&s.tcp, backend.name());
    if tcp.variant != Variant::default() {
        let why = format!("the {name} back end runs the kernel's own TCP");
        return refuse("tcp.variant", tcp.variant.name(), &why);
    }
    if tcp.abe {
        return refuse(
            "tcp.abe",
            "true",
            "Linux has no ABE (RFC 8511), so only the simulator takes it",
        );
    }
    if tcp.gso && backend == Backend::Live {
        let why = "the live back end leaves the trains of its hosts to the kernel";
        return refuse("tcp.gso", "true", why);
    }
    if tcp.gso && s.wifi.is_some() {
        let why = "the radios of a cell take single segments (gso_max_segs 1) on the linux back end";
        return refuse("tcp.gso", "true", why);
    }
    if tcp.ecn_low {
        return refuse(
            "tcp.ecn_low",
            "true",
            "only google's Linux has it, with BBRv3, so only the simulator takes it",
        );
    }
    if tcp.bbr2_ecn_max_rtt != LaterBbrParams::ECN_MAX_RTT {
        let why = "Linux has no BBRv2, so only the simulator takes it";
        return refuse("tcp.bbr2_ecn_max_rtt", tcp.bbr2_ecn_max_rtt, why);
    }
    if tcp.vegas_beta != VegasParams::BETA {
        let why = "a kernel's Vegas is set by its module's parameters, so only the simulator takes it";
        return refuse("tcp.vegas_beta", tcp.vegas_beta.to_string(), why);
    }
    if tcp.prague_fallback || tcp.prague_rtt != RttControl::default() {
        let why = "a kernel's Prague is set by its module's parameters, so only the simulator takes it";
        return if tcp.prague_fallback {
            refuse("tcp.prague_fallback", "true", why)
        } else {
            refuse("tcp.prague_rtt", format!("{:?}", tcp.prague_rtt.name()), why)
        };
    }
    if tcp.ecn == EcnMode::Accurate && backend == Backend::Live {
        let why =
            "the live back end runs on this machine's kernel, and only a kernel of its own is known to have AccECN";
        return refuse("tcp.ecn", "\"accecn\"", why);
    }
    if tcp.receive_buffer != ReceiveBuffer::Auto && s.wifi.is_none() {
        let why = match backend {
            Backend::Live => "the live back end leaves the size of receive buffers to the kernel",
            Backend::Sim | Backend::Linux => "the linux back end locks the receive buffers of a cell's hosts alone",
        };
        return refuse("tcp.receive_buffer", tcp.receive_buffer.name(), why);
    }
    if !tcp.min_rto.as_nanos().is_multiple_of(1_000_000) {
        let rule = format!("a whole number of milliseconds on the {name} back end, as a route carries it");
        return fail("tcp.min_rto", tcp.min_rto, rule);
    }
    if tcp.cc.cubic.slow_start == SlowStart::HyStartPlusPlus {
        return refuse("tcp.hystart", "\"plus-plus\"", "Linux has no HyStart++");
    }
    if backend == Backend::Live && tcp.cc.cubic.slow_start == SlowStart::Plain {
        let why = "the live back end runs on this machine's kernel, where HyStart is a setting of all of it";
        return refuse("tcp.hystart", "false", why);
    }
    Ok(())
}
