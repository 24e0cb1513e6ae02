//! The names of `tcp_info` that assertions may use, and their values.

use crate::connection::{Connection, LARGEST};
use crate::value::Scalar;
use crate::wire::state_number;
use sojourn_tcp::{AccEcn, CaState, ConnectionState, EcnMode, Held, OptionSeen};
use sojourn_units::{Duration, Ecn, Time};

/// Constants of the kernel's headers.
const CONSTANTS: &[(&str, i64)] = &[
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
    ("TCPI_ECN_MODE_DISABLED", 0),
    ("TCPI_ECN_MODE_RFC3168", 1),
    ("TCPI_ECN_MODE_ACCECN", 2),
    ("TCP_ACCECN_ACE_FAIL_SEND", 1),
    ("TCP_ACCECN_ACE_FAIL_RECV", 2),
    ("TCP_ACCECN_OPT_FAIL_SEND", 4),
    ("TCP_ACCECN_OPT_FAIL_RECV", 8),
    ("TCP_ACCECN_OPT_NOT_SEEN", 0),
    ("TCP_ACCECN_OPT_EMPTY_SEEN", 1),
    ("TCP_ACCECN_OPT_COUNTER_SEEN", 2),
    ("TCP_ACCECN_OPT_FAIL_SEEN", 3),
];

/// `tcp_info` of a sender that has no slow-start threshold. Source: Linux `TCP_INFINITE_SSTHRESH`.
const UNBOUNDED: i64 = 0x7fff_ffff;

/// A field of `tcp_info`, and what it is of a connection.
type Field = (&'static str, fn(&Connection, Time) -> i64);

/// Fields of `tcp_info` that our TCP has.
const FIELDS: &[Field] = &[
    ("tcpi_state", |c, _| state_number(c.endpoint.state())),
    ("tcpi_ca_state", |c, _| match c.endpoint.sender().state() {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }),
    ("tcpi_options", |c, _| {
        i64::from(c.agreed.timestamps)
            + (i64::from(c.agreed.sack) << 1)
            + (i64::from(c.agreed.scale.is_some()) << 2)
            + (i64::from(c.endpoint.sender().ecn()) << 3)
    }),
    ("tcpi_snd_cwnd", |c, _| i64::from(c.endpoint.sender().cwnd())),
    ("tcpi_snd_ssthresh", |c, _| {
        c.endpoint.sender().ssthresh().map_or(UNBOUNDED, i64::from)
    }),
    ("tcpi_snd_mss", |c, _| i64::from(c.params.mss)),
    ("tcpi_advmss", |_, _| i64::from(LARGEST)),
    ("tcpi_snd_wscale", |c, _| c.agreed.scale.map_or(0, i64::from)),
    ("tcpi_unacked", |c, _| {
        i64::from(c.endpoint.sender().outstanding().packets)
    }),
    ("tcpi_sacked", |c, _| {
        i64::from(c.endpoint.sender().outstanding().sacked)
    }),
    ("tcpi_lost", |c, _| i64::from(c.endpoint.sender().outstanding().lost)),
    ("tcpi_retrans", |c, _| {
        i64::from(c.endpoint.sender().outstanding().retransmitted)
    }),
    ("tcpi_total_retrans", |c, _| {
        c.endpoint.sender().stats().retransmissions.cast_signed()
    }),
    ("tcpi_total_rto", |c, _| {
        c.endpoint.sender().stats().timeouts.cast_signed()
    }),
    ("tcpi_reordering", |c, _| i64::from(c.endpoint.sender().reordering())),
    ("tcpi_backoff", |c, _| i64::from(c.endpoint.sender().backoff())),
    ("tcpi_probes", |c, _| {
        i64::from(c.endpoint.sender().unanswered_window_probes())
    }),
    ("tcpi_rcv_mss", |c, _| held(c, |held| held.segment)),
    ("SK_MEMINFO_RCVBUF", |c, _| held(c, |held| held.size)),
    ("SK_MEMINFO_RMEM_ALLOC", |c, _| held(c, |held| held.taken)),
    ("tcpi_busy_time", |c, now| micros(c.spent.busy(now))),
    ("tcpi_sndbuf_limited", |c, now| micros(c.spent.full(now))),
    ("tcpi_rwnd_limited", |c, now| micros(c.spent.shut(now))),
    ("tcpi_dsack_dups", |c, _| {
        c.endpoint.sender().stats().duplicates.cast_signed()
    }),
    ("tcpi_delivered_ce", |c, _| {
        c.endpoint.sender().stats().delivered_ce.cast_signed()
    }),
    ("tcpi_ecn_mode", |c, _| match c.endpoint.ecn() {
        EcnMode::Off => 0,
        EcnMode::Classic => 1,
        EcnMode::Accurate => 2,
    }),
    ("tcpi_accecn_opt_seen", |c, _| {
        c.endpoint.accecn().map_or(0, |a| match a.option_seen() {
            OptionSeen::Never => 0,
            OptionSeen::Empty => 1,
            OptionSeen::Counters => 2,
            OptionSeen::Bad => 3,
        })
    }),
    ("tcpi_accecn_fail_mode", |c, _| accecn(c, |a| a.fail_mode().into())),
    ("tcpi_received_ce", |c, _| accecn(c, AccEcn::received_ce)),
    ("tcpi_received_ce_bytes", |c, _| {
        accecn(c, |a| a.received_bytes(Ecn::Ce))
    }),
    ("tcpi_received_e0_bytes", |c, _| {
        accecn(c, |a| a.received_bytes(Ecn::Ect0))
    }),
    ("tcpi_received_e1_bytes", |c, _| {
        accecn(c, |a| a.received_bytes(Ecn::Ect1))
    }),
    ("tcpi_delivered_ce_bytes", |c, _| {
        accecn(c, |a| a.delivered_bytes(Ecn::Ce))
    }),
    ("tcpi_delivered_e0_bytes", |c, _| {
        accecn(c, |a| a.delivered_bytes(Ecn::Ect0))
    }),
    ("tcpi_delivered_e1_bytes", |c, _| {
        accecn(c, |a| a.delivered_bytes(Ecn::Ect1))
    }),
    ("tcpi_rto", |c, _| micros(c.endpoint.sender().rto())),
    ("tcpi_rtt", |c, _| c.endpoint.sender().srtt().map_or(0, micros)),
    ("tcpi_bytes_acked", |c, _| {
        c.endpoint.sender().bytes_acked().cast_signed()
    }),
    ("tcpi_bytes_received", |c, _| {
        c.endpoint.receiver().bytes_in_order().cast_signed()
    }),
    ("tcpi_last_data_recv", |c, now| {
        now.since(c.last_data).as_millis().cast_signed()
    }),
];

/// What the receive buffer holds.
fn held(connection: &Connection, what: fn(Held) -> u64) -> i64 {
    let held = connection.endpoint.receiver().held_memory();
    held.map_or(0, what).cast_signed()
}

/// What AccECN knows; 0 without it. Deviation: Linux counts what is received without it, too.
fn accecn(connection: &Connection, what: fn(&AccEcn) -> u32) -> i64 {
    connection.endpoint.accecn().map_or(0, what).into()
}

/// States by the names of the kernel's headers.
const STATES: &[(&str, ConnectionState)] = &[
    ("TCP_ESTABLISHED", ConnectionState::Established),
    ("TCP_SYN_SENT", ConnectionState::SynSent),
    ("TCP_SYN_RECV", ConnectionState::SynReceived),
    ("TCP_FIN_WAIT1", ConnectionState::FinWait1),
    ("TCP_FIN_WAIT2", ConnectionState::FinWait2),
    ("TCP_TIME_WAIT", ConnectionState::TimeWait),
    ("TCP_CLOSE", ConnectionState::Closed),
    ("TCP_CLOSE_WAIT", ConnectionState::CloseWait),
    ("TCP_LAST_ACK", ConnectionState::LastAck),
    ("TCP_LISTEN", ConnectionState::Listen),
    ("TCP_CLOSING", ConnectionState::Closing),
];

fn micros(d: Duration) -> i64 {
    d.as_micros().cast_signed()
}

/// Whether an assertion may use this name.
pub(crate) fn is_known(name: &str) -> bool {
    constant(name).is_some() || FIELDS.iter().any(|field| field.0 == name)
}

fn constant(name: &str) -> Option<i64> {
    let state = STATES
        .iter()
        .find(|state| state.0 == name)
        .map(|state| state_number(state.1));
    state.or_else(|| CONSTANTS.iter().find(|one| one.0 == name).map(|one| one.1))
}

/// The value of a name.
pub(crate) fn value(name: &str, connection: Option<&Connection>, now: Time) -> Option<Scalar> {
    let field = || {
        let field = FIELDS.iter().find(|field| field.0 == name)?;
        Some(field.1(connection?, now))
    };
    constant(name).or_else(field).map(Scalar::from)
}
