//! Fields of the kernel's `struct tcp_info` by the names of assertions (`linux/tcp.h`).

use crate::options;
use std::os::fd::OwnedFd;

/// How wide a field is: bytes, or bits from the lowest on.
#[derive(Clone, Copy)]
enum Width {
    B1,
    B2,
    B4,
    B8,
    Bits(u8, u8),
}

use Width::{B1, B2, B4, B8, Bits};

/// Names, and where they are.
const FIELDS: &[(&str, usize, Width)] = &[
    ("tcpi_state", 0, B1),
    ("tcpi_ca_state", 1, B1),
    ("tcpi_retransmits", 2, B1),
    ("tcpi_probes", 3, B1),
    ("tcpi_backoff", 4, B1),
    ("tcpi_options", 5, B1),
    ("tcpi_snd_wscale", 6, Bits(0, 4)),
    ("tcpi_rcv_wscale", 6, Bits(4, 4)),
    ("tcpi_delivery_rate_app_limited", 7, Bits(0, 1)),
    ("tcpi_fastopen_client_fail", 7, Bits(1, 2)),
    ("tcpi_rto", 8, B4),
    ("tcpi_ato", 12, B4),
    ("tcpi_snd_mss", 16, B4),
    ("tcpi_rcv_mss", 20, B4),
    ("tcpi_unacked", 24, B4),
    ("tcpi_sacked", 28, B4),
    ("tcpi_lost", 32, B4),
    ("tcpi_retrans", 36, B4),
    ("tcpi_fackets", 40, B4),
    ("tcpi_last_data_sent", 44, B4),
    ("tcpi_last_ack_sent", 48, B4),
    ("tcpi_last_data_recv", 52, B4),
    ("tcpi_last_ack_recv", 56, B4),
    ("tcpi_pmtu", 60, B4),
    ("tcpi_rcv_ssthresh", 64, B4),
    ("tcpi_rtt", 68, B4),
    ("tcpi_rttvar", 72, B4),
    ("tcpi_snd_ssthresh", 76, B4),
    ("tcpi_snd_cwnd", 80, B4),
    ("tcpi_advmss", 84, B4),
    ("tcpi_reordering", 88, B4),
    ("tcpi_rcv_rtt", 92, B4),
    ("tcpi_rcv_space", 96, B4),
    ("tcpi_total_retrans", 100, B4),
    ("tcpi_pacing_rate", 104, B8),
    ("tcpi_max_pacing_rate", 112, B8),
    ("tcpi_bytes_acked", 120, B8),
    ("tcpi_bytes_received", 128, B8),
    ("tcpi_segs_out", 136, B4),
    ("tcpi_segs_in", 140, B4),
    ("tcpi_notsent_bytes", 144, B4),
    ("tcpi_min_rtt", 148, B4),
    ("tcpi_data_segs_in", 152, B4),
    ("tcpi_data_segs_out", 156, B4),
    ("tcpi_delivery_rate", 160, B8),
    ("tcpi_busy_time", 168, B8),
    ("tcpi_rwnd_limited", 176, B8),
    ("tcpi_sndbuf_limited", 184, B8),
    ("tcpi_delivered", 192, B4),
    ("tcpi_delivered_ce", 196, B4),
    ("tcpi_bytes_sent", 200, B8),
    ("tcpi_bytes_retrans", 208, B8),
    ("tcpi_dsack_dups", 216, B4),
    ("tcpi_reord_seen", 220, B4),
    ("tcpi_rcv_ooopack", 224, B4),
    ("tcpi_snd_wnd", 228, B4),
    ("tcpi_rcv_wnd", 232, B4),
    ("tcpi_rehash", 236, B4),
    ("tcpi_total_rto", 240, B2),
    ("tcpi_total_rto_recoveries", 242, B2),
    ("tcpi_total_rto_time", 244, B4),
    ("tcpi_received_ce", 248, B4),
    ("tcpi_delivered_e1_bytes", 252, B4),
    ("tcpi_delivered_e0_bytes", 256, B4),
    ("tcpi_delivered_ce_bytes", 260, B4),
    ("tcpi_received_e1_bytes", 264, B4),
    ("tcpi_received_e0_bytes", 268, B4),
    ("tcpi_received_ce_bytes", 272, B4),
    ("tcpi_ecn_mode", 276, Bits(0, 2)),
    ("tcpi_accecn_opt_seen", 276, Bits(2, 2)),
    ("tcpi_accecn_fail_mode", 276, Bits(4, 4)),
];

/// What `SO_MEMINFO` tells, in its order.
const MEMORY: [&str; 9] = [
    "SK_MEMINFO_RMEM_ALLOC",
    "SK_MEMINFO_RCVBUF",
    "SK_MEMINFO_WMEM_ALLOC",
    "SK_MEMINFO_SNDBUF",
    "SK_MEMINFO_FWD_ALLOC",
    "SK_MEMINFO_WMEM_QUEUED",
    "SK_MEMINFO_OPTMEM",
    "SK_MEMINFO_BACKLOG",
    "SK_MEMINFO_DROPS",
];

/// Whether an assertion may use this name.
pub(crate) fn is_known(name: &str) -> bool {
    FIELDS.iter().any(|field| field.0 == name) || MEMORY.contains(&name)
}

fn field(info: &[u8], name: &str) -> Option<i128> {
    let (_, at, width) = FIELDS.iter().find(|field| field.0 == name)?;
    let bytes = |n: usize| info.get(*at..at + n);
    Some(match width {
        B1 => i128::from(bytes(1)?[0]),
        B2 => i128::from(u16::from_ne_bytes(bytes(2)?.try_into().ok()?)),
        B4 => i128::from(u32::from_ne_bytes(bytes(4)?.try_into().ok()?)),
        B8 => u64::from_ne_bytes(bytes(8)?.try_into().ok()?).into(),
        Bits(shift, count) => i128::from((bytes(1)?[0] >> shift) & ((1 << count) - 1)),
    })
}

/// The value of a name for a socket; `None` if the kernel does not tell it.
pub(crate) fn value(fd: &OwnedFd, name: &str, version: (u32, u32)) -> Option<i128> {
    if let Some(at) = MEMORY.iter().position(|one| *one == name) {
        return options::memory_info(fd).ok().map(|all| all[at].into());
    }
    field(&options::tcp_info(fd, version).ok()?, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: libc's `struct tcp_info`, which ends at `tcpi_total_retrans`.
    #[test]
    fn fields_are_where_the_c_library_has_them() {
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans), 100);
        assert_eq!(std::mem::offset_of!(libc::tcp_info, tcpi_snd_cwnd), 80);
        let mut info = [0; 104];
        info[6] = 0x87;
        info[80] = 10;
        assert_eq!(field(&info, "tcpi_snd_wscale"), Some(7));
        assert_eq!(field(&info, "tcpi_rcv_wscale"), Some(8));
        assert_eq!(field(&info, "tcpi_snd_cwnd"), Some(10));
        assert_eq!(field(&info, "tcpi_received_ce"), None);
        assert!(!is_known("tcpi_nonsense"));
    }
}
