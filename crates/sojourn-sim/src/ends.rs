//! Calls into TCP, compiled once for all who have an endpoint but flows.
//!
//! [`Endpoint::on_segment`] and [`Endpoint::poll_into`] become part of whoever calls them. In a run with
//! downloads and web clients several copies did not fit into the first-level cache of the processor together:
//! docs/lab/performance.md.

use sojourn_tcp::{Endpoint, Segment};
use sojourn_units::Time;

/// [`Endpoint::on_segment`].
#[inline(never)]
pub(crate) fn arrive(end: &mut Endpoint, segment: &Segment, now: Time) {
    end.on_segment(segment, now);
}

/// [`Endpoint::poll_into`], called only for an end that may have something to send: most calls are for one that has
/// not.
#[inline]
pub(crate) fn poll(end: &mut Endpoint, segment: &mut Segment, now: Time) -> bool {
    !end.is_quiet() && transmit(end, segment, now)
}

/// [`poll`] for those who keep the segment elsewhere.
#[inline]
pub(crate) fn next(end: &mut Endpoint, now: Time) -> Option<Segment> {
    let mut segment = Segment::default();
    poll(end, &mut segment, now).then_some(segment)
}

#[inline(never)]
fn transmit(end: &mut Endpoint, segment: &mut Segment, now: Time) -> bool {
    end.poll_into(segment, now)
}
