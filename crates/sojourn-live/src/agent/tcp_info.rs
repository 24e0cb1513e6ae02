//! What the kernel tells of a TCP connection (`TCP_INFO`, tcp(7)).

use rustix::fd::{AsRawFd, BorrowedFd};
use std::io;

/// Of `struct tcp_info` in `linux/tcp.h`, which only grows at its end: bytes as far as they are read here, and where a
/// field begins.
const LENGTH: usize = 104;
const STATE: usize = 0;
const TOTAL_RETRANS: usize = 100;

/// `TCP_SYN_SENT` of `net/tcp_states.h`.
const SYN_SENT: u8 = 2;

/// A connection at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpInfo {
    /// Whether the handshake is over, or was given up.
    pub(crate) left_syn_sent: bool,
    /// Segments sent again so far, SYNs among them (`tcpi_total_retrans`).
    pub(crate) retransmissions: u32,
}

impl TcpInfo {
    /// Asks the kernel.
    ///
    /// # Errors
    /// If `socket` is no TCP socket.
    pub(crate) fn read(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut info = [0u8; LENGTH];
        let length = uapi::getsockopt(
            socket.as_raw_fd(),
            uapi::c::IPPROTO_TCP,
            uapi::c::TCP_INFO,
            info.as_mut_slice(),
        )
        .map_err(io::Error::from)?;
        if length < LENGTH {
            return Err(io::Error::other(format!(
                "TCP_INFO has {length} bytes, but must have {LENGTH}"
            )));
        }
        let [.., a, b, c, d] = info;
        const { assert!(TOTAL_RETRANS + 4 == LENGTH, "the last field is the last four bytes") };
        Ok(Self {
            left_syn_sent: info[STATE] != SYN_SENT,
            retransmissions: u32::from_ne_bytes([a, b, c, d]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fd::AsFd;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, listen, socket_with};
    use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
    use std::time::Duration;

    #[test]
    fn an_open_connection_has_sent_nothing_again() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let expected = TcpInfo {
            left_syn_sent: true,
            retransmissions: 0,
        };
        assert_eq!(TcpInfo::read(stream.as_fd()).unwrap(), expected);
    }

    /// A listener whose queue is full drops SYNs; the first is repeated after one second (RFC 6298 section 2.1).
    #[test]
    fn a_syn_sent_again_is_counted() {
        let new = || socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::NONBLOCK, None).unwrap();
        let listener = new();
        bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
        listen(&listener, 0).unwrap();
        let address = SocketAddrV4::try_from(getsockname(&listener).unwrap()).unwrap();
        let clients = [new(), new(), new()];
        for client in &clients {
            let _ = connect(client, &address);
        }
        std::thread::sleep(Duration::from_millis(1500));
        let last = TcpInfo::read(clients[2].as_fd()).unwrap();
        assert_eq!((last.left_syn_sent, last.retransmissions), (false, 1));
    }
}
