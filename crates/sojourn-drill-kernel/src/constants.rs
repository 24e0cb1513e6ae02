//! Constants of the kernel's headers by their names in scripts (`linux/socket.h`, `asm-generic/fcntl.h`,
//! `linux/errqueue.h`, `linux/net_tstamp.h`, `linux/eventpoll.h`, `linux/tcp.h`).

use sojourn_drill::{Missing, Value};

/// Constants of the C library by their own names.
macro_rules! of_libc {
    ($($name:ident)+) => {
        &[$((stringify!($name), libc::$name as i64)),+]
    };
}

const OF_LIBC: &[(&str, i64)] = of_libc! {
    AF_INET AF_UNSPEC SOCK_STREAM SOCK_NONBLOCK SOCK_CLOEXEC IPPROTO_TCP O_RDONLY O_RDWR O_NONBLOCK SHUT_RD SHUT_WR
    SHUT_RDWR MSG_OOB MSG_PEEK MSG_TRUNC MSG_DONTWAIT MSG_EOR MSG_WAITALL MSG_ERRQUEUE MSG_NOSIGNAL MSG_MORE
    MSG_ZEROCOPY MSG_FASTOPEN POLLIN POLLPRI POLLOUT POLLERR POLLHUP POLLRDHUP EPOLLIN EPOLLPRI EPOLLOUT EPOLLERR
    EPOLLHUP EPOLLRDHUP EPOLLEXCLUSIVE EPOLLONESHOT IP_PMTUDISC_DONT IP_PMTUDISC_WANT IP_PMTUDISC_DO IP_PMTUDISC_PROBE
    SOF_TIMESTAMPING_TX_HARDWARE SOF_TIMESTAMPING_TX_SOFTWARE SOF_TIMESTAMPING_RX_HARDWARE
    SOF_TIMESTAMPING_RX_SOFTWARE SOF_TIMESTAMPING_SOFTWARE SOF_TIMESTAMPING_OPT_ID SOF_TIMESTAMPING_TX_SCHED
    SOF_TIMESTAMPING_TX_ACK SOF_TIMESTAMPING_OPT_CMSG SOF_TIMESTAMPING_OPT_TSONLY SOF_TIMESTAMPING_OPT_STATS
    SOF_TIMESTAMPING_OPT_ID_TCP SO_EE_ORIGIN_TIMESTAMPING ENOMSG
};

/// Those that it does not have, and `EPOLLET`, to which it gives a sign.
const CONSTANTS: &[(&str, i64)] = &[
    ("EPOLLET", 1 << 31),
    ("SO_EE_ORIGIN_ZEROCOPY", 5),
    ("SO_EE_CODE_ZEROCOPY_COPIED", 1),
    ("SCM_TSTAMP_SND", 0),
    ("SCM_TSTAMP_SCHED", 1),
    ("SCM_TSTAMP_ACK", 2),
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
    let mut all = OF_LIBC.iter().chain(CONSTANTS);
    all.find(|one| one.0 == name).map(|one| one.1)
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
