//! Constants of the kernel's headers by their names in scripts (`linux/socket.h`, `asm-generic/fcntl.h`,
//! `linux/errqueue.h`, `linux/net_tstamp.h`, `linux/eventpoll.h`, `linux/tcp.h`).

use sojourn_drill::{Missing, Value};

const CONSTANTS: &[(&str, i64)] = &[
    ("AF_INET", 2),
    ("AF_UNSPEC", 0),
    ("SOCK_STREAM", 1),
    ("SOCK_NONBLOCK", 0x800),
    ("SOCK_CLOEXEC", 0x8_0000),
    ("IPPROTO_TCP", 6),
    ("O_RDONLY", 0),
    ("O_RDWR", 2),
    ("O_NONBLOCK", 0x800),
    ("SHUT_RD", 0),
    ("SHUT_WR", 1),
    ("SHUT_RDWR", 2),
    ("MSG_OOB", 1),
    ("MSG_PEEK", 2),
    ("MSG_TRUNC", 0x20),
    ("MSG_DONTWAIT", 0x40),
    ("MSG_EOR", 0x80),
    ("MSG_WAITALL", 0x100),
    ("MSG_ERRQUEUE", 0x2000),
    ("MSG_NOSIGNAL", 0x4000),
    ("MSG_MORE", 0x8000),
    ("MSG_ZEROCOPY", 0x400_0000),
    ("MSG_FASTOPEN", 0x2000_0000),
    ("POLLIN", 1),
    ("POLLPRI", 2),
    ("POLLOUT", 4),
    ("POLLERR", 8),
    ("POLLHUP", 16),
    ("POLLRDHUP", 0x2000),
    ("EPOLLIN", 1),
    ("EPOLLPRI", 2),
    ("EPOLLOUT", 4),
    ("EPOLLERR", 8),
    ("EPOLLHUP", 16),
    ("EPOLLRDHUP", 0x2000),
    ("EPOLLEXCLUSIVE", 1 << 28),
    ("EPOLLONESHOT", 1 << 30),
    ("EPOLLET", 1 << 31),
    ("IP_PMTUDISC_DONT", 0),
    ("IP_PMTUDISC_WANT", 1),
    ("IP_PMTUDISC_DO", 2),
    ("IP_PMTUDISC_PROBE", 3),
    ("SOF_TIMESTAMPING_TX_HARDWARE", 1),
    ("SOF_TIMESTAMPING_TX_SOFTWARE", 1 << 1),
    ("SOF_TIMESTAMPING_RX_HARDWARE", 1 << 2),
    ("SOF_TIMESTAMPING_RX_SOFTWARE", 1 << 3),
    ("SOF_TIMESTAMPING_SOFTWARE", 1 << 4),
    ("SOF_TIMESTAMPING_OPT_ID", 1 << 7),
    ("SOF_TIMESTAMPING_TX_SCHED", 1 << 8),
    ("SOF_TIMESTAMPING_TX_ACK", 1 << 9),
    ("SOF_TIMESTAMPING_OPT_CMSG", 1 << 10),
    ("SOF_TIMESTAMPING_OPT_TSONLY", 1 << 11),
    ("SOF_TIMESTAMPING_OPT_STATS", 1 << 12),
    ("SOF_TIMESTAMPING_OPT_ID_TCP", 1 << 16),
    ("SO_EE_ORIGIN_TIMESTAMPING", 4),
    ("SO_EE_ORIGIN_ZEROCOPY", 5),
    ("SO_EE_CODE_ZEROCOPY_COPIED", 1),
    ("SCM_TSTAMP_SND", 0),
    ("SCM_TSTAMP_SCHED", 1),
    ("SCM_TSTAMP_ACK", 2),
    ("ENOMSG", 42),
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
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
];

/// The constant of this name.
pub(crate) fn constant(name: &str) -> Option<i64> {
    CONSTANTS.iter().find(|one| one.0 == name).map(|one| one.1)
}

/// A number, or constants joined by `|`, also as the only member of a list.
///
/// # Errors
/// The word that is not known.
pub(crate) fn number(value: &Value) -> Result<i64, Missing> {
    match value {
        Value::Number(n) => Ok(*n),
        Value::List(list) if list.len() == 1 => number(&list[0]),
        Value::Words(words) => words.iter().try_fold(0, |all, word| {
            let one = constant(word).ok_or_else(|| unknown(word))?;
            Ok(all | one)
        }),
        Value::Any => Ok(0),
        _ => Err(Missing::new("an argument", "a number must stand here")),
    }
}

/// A word of a call that is not known.
pub(crate) fn unknown(word: &str) -> Missing {
    Missing::new(word, "this word is not known to sojourn-drill")
}
