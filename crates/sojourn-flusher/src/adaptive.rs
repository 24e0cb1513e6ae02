//! The method `adaptive`.
//!
//! # What it does
//!
//! 1. **When.** A queue stands when the least RTT of a window of one base RTT (and of at least four samples) is above
//!    the trigger. The thesis waits for thirty samples of a smoothed RTT, by which time CUBIC has refilled the buffer
//!    (its section 6.3); the least of raw samples is immune to delayed acknowledgements and jitter, so one window is
//!    enough.
//! 2. **Whether it pays.** Each packet of a burst that reaches the buffer takes the link's time from the flows: a
//!    burst that fills 80 packets of a 5 Mbit/s link costs 192 ms of transfer, whatever it achieves. So a burst waits
//!    until its cost is within `duty` of the time since the last one. Meanwhile the queue grows, free space shrinks,
//!    and so does the cost. A flow with fewer than `min_window` packets in flight is left alone: it could not recover
//!    without a timeout.
//! 3. **How much.** The buffer's free space plus a few packets ([`Path`]). Sent at once, `n` packets overflow a
//!    buffer with `f` free places by `n - f`, and on a link that is not much faster than the bottleneck it is the
//!    flow's own packets behind the burst that are lost, so the excess must be small: one loss event needs one lost
//!    packet, and a hundred lost packets end in a timeout. (On such a link the free space may not be enough: the
//!    buffer drains while the burst comes in, and the flow has only its window to add. The search for the boost finds
//!    out.) On a fast link the burst overflows by its own last packets and the buffer is merely full; then the flow
//!    loses something only if a packet of its comes when no place is free. Since it sends as fast as the buffer
//!    drains, that is uncertain; so small top-ups over the following round trip keep the buffer full, and each takes
//!    at most a place or two. All losses fall within one round trip: one loss event, one reduction.
//! 4. **What of.** What a burst costs is its bytes: in a passive run of one flow the link carries 4.76 Mbit/s of
//!    payload, and all that bursts of full packets took from it were the bytes of those that entered the buffer; the
//!    link was never idle. But the buffers of routers and of the thesis's bed (netem, ipfw) count packets, and there
//!    a packet of 64 bytes takes the place of one of 1500. So where a loss has shown how large the buffer is, and a
//!    quarter of it is free, bursts are of `small_packet`. They fill it within milliseconds, and while the flow's own
//!    packets drain before them it stays full at the price of the places that become free; then it is empty of them
//!    at once, so that there is no spike of delay. Since they cost so little they may take `small_duty` only, and a
//!    flow may be asked with `small_window` packets. Top-ups are a golden ratio of a packet's time apart, so that
//!    some of them come just before a packet of the flow does, and as many as there are flows. A buffer that counts
//!    bytes is not filled by them: after four that nobody noticed bursts are of full packets, and after 64, 128, ...
//!    of these that helped a small one is tried.
//! 5. **Did it help?** Samples of segments that were sent after the burst tell: the queue fell by `helped`, or not.
//!    If not and nothing was lost, the burst was too small. If not and something was lost, the queue is not made by
//!    whom we watch, or not by them alone: a cool-down doubles with each such flush, and after `max_failures` the
//!    path is left alone but for one attempt in `max_cool_down`.
//! 6. **Whom.** One flush at a time. Flows whose queueing delays agree within a factor of two are taken to stand in
//!    the same buffer: their throughputs add up to its rate, and the fastest of them is the one to be flushed.
//! 7. **A base RTT that never was seen** (every sample was taken in a full buffer) is looked for by a forced flush,
//!    at intervals that double as long as it finds nothing.
//!
//! # What it costs
//!
//! - Up to `duty` of the link's time while a queue stands; of small packets up to `small_duty`.
//! - A delay spike of the whole buffer at each flush of full packets, for one round trip of the flow and for everyone
//!   else in the buffer.
//! - In a buffer that counts bytes, a few small bursts that do nothing while the queue stands.
//! - Losses of flows that were not meant, unresponsive ones included: a full buffer drops whoever comes.
//! - A flow that loses its share: reductions are not coordinated, and the fastest flow is asked first.
//! - While the free space is not known yet, bursts that fill a part of the buffer for nothing.
//! - Where others' traffic makes the queue: `max_failures` useless bursts, then one in `max_cool_down`.

mod campaign;
mod decide;
mod path;
mod watch;

pub(crate) use campaign::Campaign;
pub(crate) use path::Path;
pub(crate) use watch::Watch;
