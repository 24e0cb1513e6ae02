//! The method `adaptive`.
//!
//! # What it does
//!
//! 1. **When.** A queue stands when the least RTT of a window of one base RTT (and of at least four samples) is above
//!    the trigger. The thesis waits for thirty samples of a smoothed RTT, by which time CUBIC has refilled the buffer
//!    (its section 6.3); the least of raw samples is immune to delayed acknowledgements and jitter, so one window is enough.
//! 2. **Whether it pays.** Each packet of a burst that reaches the buffer takes the link's time from the flows: a burst
//!    that fills 80 packets of a 5 Mbit/s link costs 192 ms of transfer, whatever it achieves. So a burst must be earned: a whole buffer
//!    of `full` in `interval`, times the square of the share that `full` has of `full` and the base RTT, and never more
//!    than `duty`. A sender recovers in real time, whatever the buffer holds (CUBIC's function has seconds on its axis): in an
//!    interval it is back. And where the base RTT is most of the RTT, a queue less shortens it little. A flow
//!    with fewer than `min_window` packets in flight is left alone: it could not recover without a timeout.
//!
//!    **CUBIC's memory.** Bursts at equal distances find CUBIC where it was before the last one: at its remembered maximum, at which
//!    it stands still. A loss there takes the window to 0.7 of it, and it returns to the same plateau. A loss below the
//!    memory lowers the memory as well, by 15 % (fast convergence, RFC 9438 section 4.7), so that the flow settles on a lower
//!    plateau and stays there for some 2 K, seconds. So bursts come in pairs: with the window at its memory one is made
//!    only when two are earned (`pair`), and the second one, right after the first has helped, finds the window below. With the same
//!    packets the queue of one CUBIC flow at 50 ms and 100 packets is a fifth shorter than with single bursts. Another
//!    algorithm remembers nothing; then a pair is two bursts.
//! 3. **How much.** The buffer's free space plus a few packets ([`Path`]). Sent at once, `n` packets overflow a buffer with
//!    `f` free places by `n - f`, and on a link that is not much faster than the bottleneck it is the flow's own packets
//!    behind the burst that are lost, so the excess must be small: one loss event needs one lost packet, and a hundred lost
//!    packets end in a timeout. (On such a link the free space may not be enough: the buffer drains while the burst comes in,
//!    and the flow has only its window to add. The search for the boost finds out.) On a fast link the burst overflows by its own last packets and the buffer is merely full;
//!    then the flow loses something only if a packet of its comes when no place is free. Since it sends as fast as
//!    the buffer drains, that is uncertain; so small top-ups over the following round trip keep the buffer full, and
//!    each takes at most a place or two. All losses fall within one round trip: one loss event, one reduction.
//! 4. **Did it help?** Samples of segments that were sent after the burst tell: the queue fell by `helped`, or not. If not and
//!    nothing was lost, the burst was too small. If not and something was lost, the queue is not made by whom we watch,
//!    or not by them alone: a cool-down doubles with each such flush, and after `max_failures` the path is left alone but for
//!    one attempt in `max_cool_down`.
//! 5. **Which rate.** A flow that shares the buffer with others whom we do not see gets a part of the link. The buffer is filled at the
//!    link's rate all the same. Acknowledgements of packets that stood one behind the other are spaced by that rate (`spacing`).
//! 6. **Whom.** One flush at a time. Flows whose queueing delays agree within a factor of two are taken to stand in the same
//!    buffer: their throughputs add up to its rate, and the fastest of them is the one to be flushed. A
//!    burst that one of four flows notices takes 0.3 of a quarter, and costs as much as one that all four notice: so it is larger by
//!    `margin` for each flow, those included that must be there as the link is faster than what we see of it.
//! 7. **A base RTT that never was seen** (every sample was taken in a full buffer) is looked for by a forced flush, at
//!    intervals that double as long as it finds nothing.
//!
//! # What it costs
//!
//! - A buffer's time in `interval`, up to `duty` of the link's, while a queue stands. A long interval leaves a longer queue.
//! - A delay spike of the whole buffer at each flush, for one round trip of the flow and for everyone else in the buffer.
//! - Losses of flows that were not meant, unresponsive ones included: a full buffer drops whoever comes.
//! - A flow that loses its share: reductions are not coordinated, and the fastest flow is asked first.
//! - While the free space is not known yet, bursts that fill a part of the buffer for nothing.
//! - Where others' traffic makes the queue: `max_failures` useless bursts, then one in `max_cool_down`.

mod campaign;
mod decide;
mod path;
mod spacing;
mod watch;

pub(crate) use campaign::Campaign;
pub(crate) use path::Path;
pub(crate) use watch::Watch;
