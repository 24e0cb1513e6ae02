//! What a kernel is asked and told by netlink, packet sockets and files, and what it must not do to a bed.

pub(crate) mod controls;
pub(crate) mod netlink;
pub(crate) mod packets;
pub(crate) mod pitfalls;
pub(crate) mod tcp_info;
pub(crate) mod xstats;
