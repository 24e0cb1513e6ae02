//! Packet sockets (`AF_PACKET`): copies of the frames at a host's interfaces, with the kernel's time stamps.
//!
//! `nix` is used because it wraps `recvmmsg` and the kernel's time stamps safely. `rustix` knows neither, and
//! `socket2` gives control messages as memory that only `unsafe` code may read.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, MultiHeaders, recvmmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use rustix::net::netdevice::name_to_index;
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::io::IoSliceMut;
use std::os::fd::RawFd;

/// Frames read at a time.
pub(crate) const BATCH: usize = 64;
/// The receive buffer of each socket, bytes; the kernel doubles it for its own needs.
const BUFFER: usize = 64 << 20;
/// `ETH_P_ALL` (linux/if_ether.h).
const ANY_PROTOCOL: u16 = 3;

/// `PACKET_OUTGOING` (linux/if_packet.h): the type of a packet that leaves.
pub(crate) const OUTGOING: u8 = 4;

/// Words of classic BPF, with the extensions of linux/filter.h.
pub(crate) mod filter {
    /// `ld [k]`.
    pub(in crate::agent) const LOAD_WORD: u16 = 0x20;
    /// `ldh [k]`.
    pub(in crate::agent) const LOAD_HALF: u16 = 0x28;
    pub(in crate::agent) const JUMP_IF_EQUAL: u16 = 0x15;
    pub(in crate::agent) const RETURN: u16 = 0x06;
    /// `SKF_AD_OFF + SKF_AD_PKTTYPE`.
    pub(in crate::agent) const PACKET_TYPE: u32 = 0xffff_f000 + 4;
    /// `SKF_AD_OFF + SKF_AD_IFINDEX`.
    pub(in crate::agent) const INTERFACE: u32 = 0xffff_f000 + 8;
    /// `ETH_P_IP` (linux/if_ether.h).
    pub(in crate::agent) const IPV4: u32 = 0x0800;
    /// `ETH_P_IPV6`.
    pub(in crate::agent) const IPV6: u32 = 0x86dd;
}

/// A copy of a frame.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    /// When, by the kernel's real-time clock: seconds and nanoseconds; `None` only from before [`watch`].
    pub(crate) at: Option<(i64, i64)>,
    /// The interface, and whether it came or left.
    pub(crate) address: Option<LinkAddr>,
    /// Its length.
    pub(crate) length: usize,
    /// What was read of it.
    pub(crate) bytes: &'a [u8],
}

/// A socket in the namespace of `host`, in which this thread is. It takes frames from now on; [`watch`] is to follow
/// soon.
pub(crate) fn socket(host: &str) -> Result<Socket, AgentError> {
    let protocol = Protocol::from(i32::from(ANY_PROTOCOL.to_be()));
    let opened = Socket::new(Domain::PACKET, Type::RAW.nonblocking(), Some(protocol));
    opened.doing(|| what("opening", host))
}

fn what(doing: &str, host: &str) -> String {
    format!("{doing} the packet socket on {host}")
}

impl Frame<'_> {
    /// Its time stamp.
    ///
    /// # Errors
    /// If it has none.
    pub(crate) fn stamp(&self, host: &str) -> Result<(i64, i64), AgentError> {
        self.at
            .ok_or_else(|| AgentError::Plan(format!("a frame on {host} bears no time stamp")))
    }
}

/// The number of an interface of `host`.
pub(crate) fn interface(socket: &Socket, name: &str, host: &str) -> Result<u32, AgentError> {
    name_to_index(socket, name).doing(|| format!("looking up the interface {name} on {host}"))
}

/// Lets only what passes `filter` through, with time stamps.
pub(crate) fn watch(socket: &Socket, filter: &[SockFilter], host: &str) -> Result<(), AgentError> {
    socket.attach_filter(filter).doing(|| what("filtering at", host))?;
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).doing(|| what("switching on the time stamps of", host))?;
    setsockopt(socket, sockopt::RxqOvfl, &1).doing(|| what("switching on the drop counter of", host))?;
    // In a user namespace root may not exceed the system's limit; a buffer that is too small shows in the counter.
    if set_socket_recv_buffer_size_force(socket, BUFFER).is_err() {
        socket
            .set_recv_buffer_size(BUFFER)
            .doing(|| what("enlarging the buffer of", host))?;
    }
    Ok(())
}

/// Reads until nothing is left. `buffer` has room for [`BATCH`] frames of `snap` bytes.
///
/// # Errors
/// The first of `each`; or if the socket's buffer was full, so that frames are missing.
pub(crate) fn read(
    fd: RawFd,
    buffer: &mut [u8],
    snap: usize,
    host: &str,
    mut each: impl FnMut(&Frame<'_>) -> Result<(), AgentError>,
) -> Result<(), AgentError> {
    let watching = || format!("watching {host}");
    loop {
        // Anew for each batch: the kernel shortens the room for control messages to what it used.
        let mut headers = MultiHeaders::<LinkAddr>::preallocate(BATCH, Some(cmsg_space!(TimeSpec, u32)));
        let mut slices: Vec<_> = buffer.chunks_exact_mut(snap).map(|c| [IoSliceMut::new(c)]).collect();
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
        let messages = match recvmmsg(fd, &mut headers, slices.iter_mut(), flags, None) {
            Ok(messages) => messages,
            Err(Errno::EAGAIN) => return Ok(()),
            Err(Errno::EINTR) => continue,
            Err(e) => return Err(e).doing(watching),
        };
        let mut count = 0;
        for message in messages {
            count += 1;
            let mut at = None;
            let controls = message.cmsgs();
            for control in controls.doing(watching)? {
                match control {
                    ControlMessageOwned::ScmTimestampns(t) => at = Some((t.tv_sec(), t.tv_nsec())),
                    ControlMessageOwned::RxqOvfl(dropped @ 1..) => {
                        return Err(AgentError::Plan(format!(
                            "the observer on {host} missed {dropped} frames: its receive buffer was full"
                        )));
                    }
                    _ => {}
                }
            }
            each(&Frame {
                at,
                address: message.address,
                length: message.bytes,
                bytes: message.iovs().next().unwrap_or_default(),
            })?;
        }
        if count < BATCH {
            return Ok(());
        }
    }
}
