//! How kinds of disciplines drop and count, as Linux 6.1's `net/sched/sch_*.c` does.

use sojourn_qdisc::{descriptor, descriptors};

/// Kind; whether it drops arrivals only; whether it has one queue; whether it shapes; counters of drops for want of
/// room, and of memory.
type Habit = (
    &'static str,
    bool,
    bool,
    bool,
    Option<&'static [&'static str]>,
    Option<&'static str>,
);

const HABITS: &[Habit] = &[
    ("pfifo", true, true, false, None, None),
    ("bfifo", true, true, false, None, None),
    // Three bands.
    ("pfifo_fast", true, false, false, None, None),
    ("red", true, true, false, Some(&["pdrop", "other"]), None),
    ("pie", true, true, false, Some(&["overlimit"]), None),
    // From the head of the queue, when it leaves.
    ("codel", false, true, false, Some(&["drop_overlimit"]), None),
    // Out of the longest or fattest queue.
    ("sfq", false, false, false, None, None),
    (
        "fq_codel",
        false,
        false,
        false,
        Some(&["drop_overlimit"]),
        Some("drop_overmemory"),
    ),
    ("tbf", true, true, true, None, None),
    ("netem", true, false, false, None, None),
    // Classes have disciplines of any kind, which alone know why they drop.
    ("prio", false, false, false, Some(&[]), None),
    ("drr", false, false, false, Some(&[]), None),
    ("ets", false, false, false, Some(&[]), None),
    ("htb", false, false, true, Some(&[]), None),
    ("cake", false, false, true, Some(&[]), None),
    ("fq", true, false, false, None, None),
    // From the heads of both queues, when they leave.
    ("dualpi2", false, false, false, Some(&[]), None),
    // Its `overmemory` counts arrivals that are taken in.
    ("fq_pie", true, false, false, Some(&["overlimit"]), None),
];

#[test]
fn each_kind_drops_and_counts_as_the_kernels_does() {
    for &(kind, arrivals, one_queue, shapes, room, memory) in HABITS {
        let about = descriptor(kind).expect(kind);
        assert_eq!(about.drops_arrivals_only, arrivals, "{kind}");
        assert_eq!(about.one_queue, one_queue, "{kind}");
        assert_eq!(about.shapes, shapes, "{kind}");
        assert_eq!((about.drops.room, about.drops.memory), (room, memory), "{kind}");
        // In the kernel `drop_overmemory` is a part of `drop_overlimit`.
        assert_eq!(about.drops.room_has_memory, kind == "fq_codel", "{kind}");
    }
    for about in descriptors() {
        assert!(
            HABITS.iter().any(|habit| habit.0 == about.kind),
            "{} is not in the table",
            about.kind
        );
    }
}
