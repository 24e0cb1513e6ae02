//! What both ends of a web connection send and read.

use crate::agent::traffic::route::nonblocking;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketType, bind, recv, send, sockopt};
use std::cmp::Ordering;
use std::net::SocketAddrV4;

/// The first bytes of a request say which object it wants, by its number in the page, little-endian. The rest is
/// zeros.
pub(super) const HEAD: usize = 2;
/// Most objects of a page.
pub(super) const MOST_OBJECTS: usize = 1 << 16;

static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A TCP socket that does not wait, with the congestion control of the plan. A segment that is not full leaves at
/// once, as browsers and web servers have it (TCP_NODELAY).
pub(super) fn tcp_socket(congestion_control: &str) -> Result<OwnedFd, Errno> {
    let socket = nonblocking(SocketType::STREAM)?;
    sockopt::set_tcp_congestion(&socket, congestion_control)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    Ok(socket)
}

/// A UDP socket that does not wait.
pub(super) fn udp_socket() -> Result<OwnedFd, Errno> {
    nonblocking(SocketType::DGRAM)
}

/// Gives a server's socket its address, also while connections of an earlier run are in TIME-WAIT there.
pub(super) fn bind_server(socket: BorrowedFd<'_>, address: SocketAddrV4) -> Result<(), Errno> {
    sockopt::set_socket_reuseaddr(socket, true)?;
    bind(socket, &address)
}

/// What a socket had to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// Nothing now.
    Nothing,
    /// So many bytes, at the beginning of the buffer.
    Bytes(usize),
    /// The other end has closed.
    End,
}

/// Reads once.
pub(super) fn read(socket: &OwnedFd, buffer: &mut [u8]) -> Result<Arrived, Errno> {
    loop {
        return match recv(socket, &mut *buffer, RecvFlags::empty()) {
            Ok((0, _)) => Ok(Arrived::End),
            Ok((count, _)) => Ok(Arrived::Bytes(count)),
            Err(Errno::INTR) => continue,
            Err(Errno::AGAIN) => Ok(Arrived::Nothing),
            Err(error) => Err(error),
        };
    }
}

/// A request or an answer on its way into a socket: a head and then zeros.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    head: [u8; HEAD],
    at: u64,
    length: u64,
}

impl Message {
    /// A request of `length` bytes for the object of this number.
    pub(super) fn request(object: usize, length: u64) -> Self {
        Self {
            head: (object as u16).to_le_bytes(),
            at: 0,
            length,
        }
    }

    /// An answer.
    pub(super) fn answer(length: u64) -> Self {
        Self {
            head: [0; HEAD],
            at: 0,
            length,
        }
    }

    /// Whether all of it is in the kernel's hands.
    pub(super) fn is_sent(&self) -> bool {
        self.at == self.length
    }

    /// Sends as much as the kernel takes. It is told that more comes (MSG_MORE), so only the last segment of a
    /// message may be shorter than others, as if all were written at once.
    pub(super) fn send(&mut self, socket: &OwnedFd) -> Result<(), Errno> {
        while !self.is_sent() {
            let left = self.length - self.at;
            let piece = match self.head.get(self.at as usize..) {
                Some(head) if !head.is_empty() => head,
                _ => &ZEROS,
            };
            let piece = &piece[..left.min(piece.len() as u64) as usize];
            let mut flags = SendFlags::NOSIGNAL;
            flags.set(SendFlags::MORE, (piece.len() as u64) < left);
            match send(socket.as_fd(), piece, flags) {
                Ok(count) => self.at += count as u64,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A request as it arrives at the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    head: [u8; HEAD],
    received: u64,
}

/// What a server knows of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Not all.
    Part,
    /// All of it, and the object it names; `None` if it is too short to name one.
    Whole(Option<usize>),
    /// The bytes go on beyond its end, which no client of ours does before it has an answer.
    TooMuch,
}

impl Request {
    /// Takes the next bytes of a request that is `length` bytes long.
    pub(super) fn take(&mut self, bytes: &[u8], length: u64) -> Heard {
        let before = self.received.min(HEAD as u64) as usize;
        for (place, &byte) in self.head[before..].iter_mut().zip(bytes) {
            *place = byte;
        }
        self.received = self.received.saturating_add(bytes.len() as u64);
        match self.received.cmp(&length) {
            Ordering::Less => Heard::Part,
            Ordering::Equal => {
                let named = length >= HEAD as u64;
                Heard::Whole(named.then_some(usize::from(u16::from_le_bytes(self.head))))
            }
            Ordering::Greater => Heard::TooMuch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However a request is cut, the server hears the number in its first two bytes, when its last byte is there.
        #[test]
        fn a_request_is_heard_the_same_however_it_is_cut(
            bytes in proptest::collection::vec(any::<u8>(), 1..300),
            cuts in proptest::collection::vec(1usize..40, 1..300),
        ) {
            let length = bytes.len() as u64;
            let (mut request, mut rest, mut cuts) = (Request::default(), &bytes[..], cuts.iter().cycle());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                let expected = match (after, &bytes[..]) {
                    ([], [a, b, ..]) => Heard::Whole(Some(usize::from(*a) + 256 * usize::from(*b))),
                    ([], _) => Heard::Whole(None),
                    _ => Heard::Part,
                };
                prop_assert_eq!(request.take(piece, length), expected);
                rest = after;
            }
            prop_assert_eq!(request.take(&bytes, length), Heard::TooMuch);
        }
    }
}
