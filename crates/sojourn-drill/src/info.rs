//! The names of `tcp_info` that assertions may use, and their values.

use crate::connection::{Connection, LARGEST};
use crate::value::Scalar;
use sojourn_tcp::{AccEcn, CaState, ConnectionState, EcnMode, Held, OptionSeen, Sender};
use sojourn_units::{Duration, Ecn, Time};

/// What there is, by its name.
type Table<T> = &'static [(&'static str, T)];

/// Constants of the kernel's headers.
const CONSTANTS: Table<i64> = &[
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

/// Fields of `tcp_info` that are of the sender.
const OF_SENDER: Table<fn(&Sender) -> i64> = &[
    ("tcpi_ca_state", |s| match s.state() {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }),
    ("tcpi_snd_cwnd", |s| s.cwnd().into()),
    ("tcpi_snd_ssthresh", |s| s.ssthresh().map_or(UNBOUNDED, i64::from)),
    ("tcpi_unacked", |s| s.outstanding().packets.into()),
    ("tcpi_sacked", |s| s.outstanding().sacked.into()),
    ("tcpi_lost", |s| s.outstanding().lost.into()),
    ("tcpi_retrans", |s| s.outstanding().retransmitted.into()),
    ("tcpi_total_retrans", |s| s.stats().retransmissions.cast_signed()),
    ("tcpi_total_rto", |s| s.stats().timeouts.cast_signed()),
    ("tcpi_reordering", |s| s.reordering().into()),
    ("tcpi_backoff", |s| s.backoff().into()),
    ("tcpi_probes", |s| s.unanswered_window_probes().into()),
    ("tcpi_dsack_dups", |s| s.stats().duplicates.cast_signed()),
    ("tcpi_delivered_ce", |s| s.stats().delivered_ce.cast_signed()),
    ("tcpi_rto", |s| micros(s.rto())),
    ("tcpi_rtt", |s| s.srtt().map_or(0, micros)),
    ("tcpi_bytes_acked", |s| s.bytes_acked().cast_signed()),
];

/// Fields of `tcp_info` that are of AccECN; 0 without it. Deviation: Linux counts what is received without it, too.
const OF_ACCECN: Table<fn(&AccEcn) -> u32> = &[
    ("tcpi_accecn_opt_seen", |a| match a.option_seen() {
        OptionSeen::Never => 0,
        OptionSeen::Empty => 1,
        OptionSeen::Counters => 2,
        OptionSeen::Bad => 3,
    }),
    ("tcpi_accecn_fail_mode", |a| a.fail_mode().into()),
    ("tcpi_received_ce", AccEcn::received_ce),
    ("tcpi_received_ce_bytes", |a| a.received_bytes(Ecn::Ce)),
    ("tcpi_received_e0_bytes", |a| a.received_bytes(Ecn::Ect0)),
    ("tcpi_received_e1_bytes", |a| a.received_bytes(Ecn::Ect1)),
    ("tcpi_delivered_ce_bytes", |a| a.delivered_bytes(Ecn::Ce)),
    ("tcpi_delivered_e0_bytes", |a| a.delivered_bytes(Ecn::Ect0)),
    ("tcpi_delivered_e1_bytes", |a| a.delivered_bytes(Ecn::Ect1)),
];

/// Fields of what the receive buffer holds; 0 without one.
const OF_MEMORY: Table<fn(Held) -> u64> = &[
    ("tcpi_rcv_mss", |held| held.segment),
    ("SK_MEMINFO_RCVBUF", |held| held.size),
    ("SK_MEMINFO_RMEM_ALLOC", |held| held.taken),
];

/// All other fields of `tcp_info` that our TCP has.
const FIELDS: Table<fn(&Connection, Time) -> i64> = &[
    ("tcpi_state", |c, _| state_number(c.endpoint.state())),
    ("tcpi_options", |c, _| {
        i64::from(c.agreed.timestamps)
            + (i64::from(c.agreed.sack) << 1)
            + (i64::from(c.agreed.scale.is_some()) << 2)
            + (i64::from(c.endpoint.sender().ecn()) << 3)
    }),
    ("tcpi_snd_mss", |c, _| c.params.mss.into()),
    ("tcpi_advmss", |_, _| LARGEST.into()),
    ("tcpi_snd_wscale", |c, _| c.agreed.scale.map_or(0, i64::from)),
    ("tcpi_busy_time", |c, now| micros(c.spent.busy.until(now))),
    ("tcpi_sndbuf_limited", |c, now| micros(c.spent.full.until(now))),
    ("tcpi_rwnd_limited", |c, now| micros(c.spent.shut.until(now))),
    ("tcpi_ecn_mode", |c, _| match c.endpoint.ecn() {
        EcnMode::Off => 0,
        EcnMode::Classic => 1,
        EcnMode::Accurate => 2,
    }),
    ("tcpi_bytes_received", |c, _| {
        c.endpoint.receiver().bytes_in_order().cast_signed()
    }),
    ("tcpi_last_data_recv", |c, now| {
        now.since(c.last_data).as_millis().cast_signed()
    }),
];

/// States by the names of the kernel's headers, in the order of its numbers, which begin with 1.
const STATES: Table<ConnectionState> = &[
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

fn state_number(state: ConnectionState) -> i64 {
    let mut numbered = (1..).zip(STATES);
    numbered.find(|(_, one)| one.1 == state).map_or(0, |(number, _)| number)
}

fn micros(d: Duration) -> i64 {
    d.as_micros().cast_signed()
}

/// What a table has for a name.
fn entry<T: Copy>(table: Table<T>, name: &str) -> Option<T> {
    table.iter().find(|one| one.0 == name).map(|one| one.1)
}

/// Whether an assertion may use this name.
pub(crate) fn is_known(name: &str) -> bool {
    constant(name).is_some()
        || entry(OF_SENDER, name).is_some()
        || entry(OF_ACCECN, name).is_some()
        || entry(OF_MEMORY, name).is_some()
        || entry(FIELDS, name).is_some()
}

fn constant(name: &str) -> Option<i64> {
    entry(STATES, name).map(state_number).or_else(|| entry(CONSTANTS, name))
}

fn field(name: &str, connection: &Connection, now: Time) -> Option<i64> {
    let endpoint = &connection.endpoint;
    if let Some(of) = entry(OF_SENDER, name) {
        Some(of(endpoint.sender()))
    } else if let Some(of) = entry(OF_ACCECN, name) {
        Some(endpoint.accecn().map_or(0, of).into())
    } else if let Some(of) = entry(OF_MEMORY, name) {
        Some(endpoint.receiver().held_memory().map_or(0, of).cast_signed())
    } else {
        Some(entry(FIELDS, name)?(connection, now))
    }
}

/// The value of a name.
pub(crate) fn value(name: &str, connection: Option<&Connection>, now: Time) -> Option<Scalar> {
    let field = || field(name, connection?, now);
    constant(name).or_else(field).map(Scalar::from)
}
