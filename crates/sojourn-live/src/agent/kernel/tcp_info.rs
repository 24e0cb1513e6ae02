//! What the kernel tells of a TCP socket: `struct tcp_info` (`linux/tcp.h`), asked for by `sock_diag`(7).
//!
//! `getsockopt(TCP_INFO)` tells the same, but no library wraps it safely; netlink answers many sockets at once.

use crate::agent::kernel::netlink::{self, Netlink, attribute, u16_at, u32_at};
use std::io;
use std::net::SocketAddrV4;

/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `INET_DIAG_INFO`.
const INFO: u16 = 2;
const AF_INET: u8 = 2;
const IPPROTO_TCP: u8 = 6;
/// `struct inet_diag_msg`.
const DIAG_MESSAGE: usize = 72;
/// Most sockets asked for at a time: their answers wait in a buffer of the kernel.
const AT_ONCE: usize = 32;

/// What is wanted of a sender's `struct tcp_info`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    /// `tcpi_snd_mss`, bytes.
    pub mss: u32,
    /// `tcpi_rtt`: smoothed RTT, microseconds.
    pub srtt_us: u32,
    /// `tcpi_snd_ssthresh`, segments.
    pub ssthresh: u32,
    /// `tcpi_snd_cwnd`, segments.
    pub cwnd: u32,
    /// `tcpi_total_retrans`: segments sent again, SYNs among them.
    pub retransmissions: u32,
    /// `tcpi_data_segs_out`: segments with data, retransmissions included.
    pub data_segments: u32,
    /// `TCPI_OPT_ECN` of `tcpi_options`: both ends have agreed on ECN.
    pub ecn: bool,
    /// `tcpi_delivered_ce`, from Linux 4.18 on: segments acknowledged with an ECN echo.
    pub delivered_ce: Option<u32>,
    /// `tcpi_total_rto`, from Linux 6.7 on: retransmission time-outs.
    pub timeouts: Option<u16>,
}

impl TcpInfo {
    /// Reads the structure; older kernels have a shorter one.
    fn parse(info: &[u8]) -> Option<Self> {
        Some(Self {
            mss: u32_at(info, 16)?,
            srtt_us: u32_at(info, 68)?,
            ssthresh: u32_at(info, 76)?,
            cwnd: u32_at(info, 80)?,
            retransmissions: u32_at(info, 100)?,
            data_segments: u32_at(info, 156)?,
            ecn: info.get(5)? & 8 != 0,
            delivered_ce: u32_at(info, 196),
            timeouts: u16_at(info, 240),
        })
    }
}

/// Both ends of a socket: its own address, and its peer's.
pub(crate) type Ends = (SocketAddrV4, SocketAddrV4);

/// `struct inet_diag_req_v2` for one socket.
fn request((own, peer): Ends) -> Vec<u8> {
    let mut body = vec![AF_INET, IPPROTO_TCP, 1 << (INFO - 1), 0];
    body.extend_from_slice(&u32::MAX.to_ne_bytes());
    body.extend_from_slice(&own.port().to_be_bytes());
    body.extend_from_slice(&peer.port().to_be_bytes());
    for address in [own, peer] {
        body.extend_from_slice(&address.ip().octets());
        body.extend_from_slice(&[0; 12]);
    }
    body.extend_from_slice(&0_u32.to_ne_bytes());
    // INET_DIAG_NOCOOKIE, twice.
    body.extend_from_slice(&[0xff; 8]);
    body
}

/// Asks for sockets of the namespace of `socket`. The answer for one that the kernel no longer has is `None`.
///
/// # Errors
/// If the kernel has no `tcp_diag`, or refuses.
pub(crate) fn ask(socket: &mut Netlink, ends: &[Ends]) -> io::Result<Vec<Option<TcpInfo>>> {
    let mut all = vec![None; ends.len()];
    for (ends, found) in ends.chunks(AT_ONCE).zip(all.chunks_mut(AT_ONCE)) {
        let first = socket.next_sequence();
        let mut messages = Vec::new();
        for (i, &ends) in ends.iter().enumerate() {
            let sequence = if i == 0 { first } else { socket.next_sequence() };
            messages.extend(netlink::message(BY_FAMILY, netlink::REQUEST, sequence, &request(ends)));
        }
        socket.send(&messages)?;
        let mut answered = 0;
        while answered < ends.len() {
            for answer in socket.receive()? {
                let Some(place) = found.get_mut(answer.sequence.wrapping_sub(first) as usize) else {
                    continue;
                };
                answered += 1;
                match answer.status() {
                    Some(Err(e)) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                    Some(_) => {}
                    None => {
                        *place = answer
                            .body
                            .get(DIAG_MESSAGE..)
                            .and_then(|a| TcpInfo::parse(attribute(a, INFO)?));
                    }
                }
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{SocketAddr, TcpListener, TcpStream};

    #[test]
    fn a_connection_of_this_machine_is_told_with_its_segments() {
        let v4 = |address| match address {
            SocketAddr::V4(a) => a,
            SocketAddr::V6(_) => unreachable!("an IPv4 socket"),
        };
        let listener = TcpListener::bind("127.0.0.1:0").expect("no loopback");
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        sender.write_all(&[0; 10]).unwrap();
        let ends = (v4(sender.local_addr().unwrap()), v4(sender.peer_addr().unwrap()));
        let nobody = (
            SocketAddrV4::new([127, 0, 0, 1].into(), 1),
            SocketAddrV4::new([127, 0, 0, 2].into(), 1),
        );
        let mut socket = Netlink::socket_diagnosis().expect("no sock_diag");
        let answers = match ask(&mut socket, &[nobody, ends]) {
            Ok(answers) => answers,
            Err(e) => {
                eprintln!("skipped: this kernel has no tcp_diag: {e}");
                return;
            }
        };
        let [None, answer] = answers[..] else {
            panic!("{answers:?}")
        };
        let Some(info) = answer else {
            eprintln!("skipped: this kernel does not tell of TCP sockets");
            return;
        };
        assert_eq!((info.data_segments, info.retransmissions), (1, 0));
        assert!(info.mss >= 536 && info.cwnd >= 2, "{info:?}");
    }

    #[test]
    fn a_short_structure_has_no_count_of_timeouts() {
        let mut info = [0; 232];
        info[80] = 10;
        assert_eq!(TcpInfo::parse(&info).map(|i| (i.cwnd, i.timeouts)), Some((10, None)));
        assert_eq!(TcpInfo::parse(&[0; 244]).and_then(|i| i.timeouts), Some(0));
        assert_eq!(TcpInfo::parse(&info[..100]), None);
    }

    /// By hand from `struct tcp_info` of `linux/tcp.h`: the options are its sixth byte, the count its words 49.
    #[test]
    fn ecn_is_an_option_and_a_count() {
        let mut info = [0; 232];
        info[5] = 1 | 2 | 4;
        assert_eq!(
            TcpInfo::parse(&info).map(|i| (i.ecn, i.delivered_ce)),
            Some((false, Some(0)))
        );
        info[5] = 8;
        info[196..200].copy_from_slice(&77_u32.to_ne_bytes());
        assert_eq!(
            TcpInfo::parse(&info).map(|i| (i.ecn, i.delivered_ce)),
            Some((true, Some(77)))
        );
        assert_eq!(TcpInfo::parse(&info[..160]).and_then(|i| i.delivered_ce), None);
    }
}
