//! When a daemon looks at what it has captured, and acts on what has fallen due: shared by `sojournd flush` and by
//! its model in the simulator.

use sojourn_units::Duration;

/// Frames gather for so long before the next look: waking up for each costs more than handling it. Decisions do not
/// change by it, the stamps are the kernel's; a burst that a frame begins leaves so much later at most.
pub const GATHER: Duration = Duration::from_millis(2);
/// How long a wait for a frame may take.
pub const WAIT: Duration = Duration::from_millis(10);
/// What falls due is seen to so much later: by then a frame that was stamped before it can be read, so that a capture
/// gives the same decisions.
pub const MARGIN: Duration = Duration::from_micros(200);
/// What falls due later than this after the last frame waits for the next one: without frames nothing stands in a
/// queue, and how much time passed after the last frame of a capture, the capture does not tell.
pub const HORIZON: Duration = Duration::from_secs(1);
