//! What system calls return.

use std::os::fd::OwnedFd;

/// A control message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// `SCM_TIMESTAMPING`: nanoseconds of the kernel's clock of the day.
    Timestamp(i64),
    /// `IP_RECVERR`: errno, origin, type, code, info, data.
    Error([i64; 6]),
    /// `TCP_CM_INQ`.
    Inq(i64),
    /// Another.
    Other,
}

/// What a call has returned.
#[derive(Debug)]
pub(crate) enum Output {
    /// A number.
    Number(i64),
    /// A new descriptor.
    Descriptor(OwnedFd),
    /// Two of them.
    Pair(OwnedFd, OwnedFd),
    /// 0, and an integer in an argument.
    Filled(i64),
    /// The bytes of a message, its flags, and its control messages.
    Message(i64, i64, Vec<Control>),
    /// How many are ready, and the events of each.
    Polled(i64, Vec<i64>),
    /// The events, and the numbers of their descriptors.
    Events(Vec<(i64, i64)>),
}
