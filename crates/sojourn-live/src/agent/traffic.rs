//! The traffic of a plan: each kind is an actor, or both ends of one.

pub(crate) mod bulk;
pub(crate) mod download;
pub(crate) mod flood;
pub mod icmp;
pub(crate) mod mark;
pub mod one_way;
pub(crate) mod probe;
pub(crate) mod receive;
pub(crate) mod route;
pub mod udp_rr;
pub(crate) mod web;
