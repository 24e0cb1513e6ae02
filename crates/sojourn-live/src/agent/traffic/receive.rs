//! Datagrams with the time at which the kernel received them.

use crate::agent::actor::{AgentError, Doing, World};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd};

/// Larger than any datagram of the plan: a longer one is cut off, and its length shows that it is not ours.
const LONGEST: usize = 2048;

/// Has the kernel note when it receives each packet (`SO_TIMESTAMPNS`): so waking up is no part of a delay.
///
/// # Errors
/// If the kernel refuses.
pub(crate) fn stamp(socket: &impl AsFd, what: &str) -> Result<(), AgentError> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true).doing(|| format!("switching on the time stamps of {what}"))
}

/// Room for one datagram and its time stamp.
#[derive(Debug)]
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    control: Vec<u8>,
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            bytes: vec![0; LONGEST],
            control: cmsg_space!(TimeSpec),
        }
    }
}

impl Inbox {
    /// The next datagram of a non-blocking socket and when the kernel received it; `None` if none is there.
    ///
    /// # Errors
    /// If the kernel reports one, or if a datagram bears no time stamp.
    pub(crate) fn next(
        &mut self,
        socket: &impl AsFd,
        world: &dyn World,
        what: &str,
    ) -> Result<Option<(&[u8], i64)>, AgentError> {
        let fd = socket.as_fd().as_raw_fd();
        let receiving = || format!("receiving for {what}");
        let (length, stamp) = loop {
            let mut slices = [IoSliceMut::new(&mut self.bytes)];
            match recvmsg::<()>(fd, &mut slices, Some(&mut self.control), MsgFlags::MSG_DONTWAIT) {
                Ok(message) => {
                    let mut messages = message.cmsgs().doing(receiving)?;
                    let stamp = messages.find_map(|m| match m {
                        ControlMessageOwned::ScmTimestampns(t) => Some(t),
                        _ => None,
                    });
                    break (message.bytes, stamp);
                }
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::EINTR) => {}
                Err(e) => return Err(e).doing(receiving),
            }
        };
        let stamp = stamp.ok_or_else(|| AgentError::Plan(format!("a datagram for {what} bears no time stamp")))?;
        Ok(Some((&self.bytes[..length], world.at(stamp.tv_sec(), stamp.tv_nsec()))))
    }
}
