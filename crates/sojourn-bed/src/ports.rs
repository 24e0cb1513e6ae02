//! Which port belongs to what: so a frame on the wire tells its conversation.
//!
//! Ports of the connecting side are the kernel's choice, from 32768 on.

/// First port of the receivers of TCP flows.
pub const FLOWS: u16 = 10_000;
/// First port of probes. An ICMP probe has this number as its identifier.
pub const PROBES: u16 = 20_000;
/// First port of web servers.
pub const WEB: u16 = 25_000;
/// First port of resolvers.
pub const DNS: u16 = 28_000;
/// First port of the receivers of downloads.
pub const DOWNLOADS: u16 = 31_000;
/// One beyond the last.
pub const END: u16 = 32_000;

/// Most flows, probes and web clients of a plan.
pub const MOST_FLOWS: usize = (PROBES - FLOWS) as usize;
/// Most probes.
pub const MOST_PROBES: usize = (WEB - PROBES) as usize;
/// Most web clients.
pub const MOST_WEB: usize = (DNS - WEB) as usize;
/// Most downloads.
pub const MOST_DOWNLOADS: usize = (END - DOWNLOADS) as usize;
