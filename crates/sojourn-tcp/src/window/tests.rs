use super::*;
use crate::variant::Variant;
use sojourn_units::Bytes;

fn automatic(variant: Variant, receive_window: u64) -> ReceiveWindow {
    ReceiveWindow::new(&TcpParams {
        variant,
        heads: variant.heads(),
        receive_window: Bytes::new(receive_window),
        ..TcpParams::default()
    })
}

/// A full segment comes that echoes `echo` (ms) at `now` (ms), while `held` bytes lie above a gap.
fn comes(w: &mut ReceiveWindow, echo: u32, held: u64, now: u64) -> bool {
    w.on_echo(true, echo, Time::from_millis(now));
    takes(w, 1448, held)
}

/// A segment of `len` bytes comes: whether the window grows.
fn takes(w: &mut ReceiveWindow, len: u16, held: u64) -> bool {
    w.on_segment(len) && w.grow_for(len, held)
}

#[test]
fn the_window_starts_at_44_segments_and_grows_while_more_is_read() {
    let mut w = automatic(Variant::Linux61, 3 << 20);
    assert_eq!(w.offered(), 64_088);
    assert!(!comes(&mut w, 1, 0, 50));
    assert_eq!(w.rtt(), Some(Duration::from_millis(50)));
    // Twelve segments in the first round trip: 56 segments' worth of window (seen on Linux 6.1: 82,496 bytes).
    w.on_read(1 + 11 * 1448, Time::from_millis(50));
    w.on_read(1 + 12 * 1448, Time::from_millis(50));
    for _ in 0..20 {
        comes(&mut w, 1, 0, 51);
    }
    assert_eq!(w.offered().next_multiple_of(64), 82_496);
    assert!(!comes(&mut w, 1, 0, 50));
}

#[test]
fn data_above_a_gap_keeps_the_window_from_growing() {
    // A buffer that may offer 200 kB more: of its memory half counts. 300,000 bytes of it are taken, worth 150,000,
    // and 2216 by the segment at hand.
    let mut w = automatic(Variant::Linux61, 3 << 20);
    w.resize(528_176);
    let grown = (0..200).filter(|_| comes(&mut w, 1, 300_000, 50)).count();
    assert_eq!(w.offered(), 264_088 - 150_000 - 1_108);
    assert_eq!(grown as u64, (w.offered() - 64_088).div_ceil(2 * 1448));
    assert!(w.select(264_089, 0).crowded && !w.select(264_088, 0).crowded);
    // What is free is said: (528,176 - 450,000) / 2, by units of 256 bytes.
    assert_eq!(w.select(450_000, 0).window, 38_912);
    // A sixteenth of the buffer is not free: nothing is offered.
    assert_eq!(w.select(500_000, 0).window, 0);
    // More than the buffer holds.
    assert!(!comes(&mut w, 1, 1 << 30, 50));
}

/// Of a frame from a radio, whose head has its payload: 300 bytes take 1088, worth 544, more than they are. A quarter of
/// it, 136, is less; so is a quarter of the largest window (1.5 MiB) more than what is offered.
#[test]
fn a_short_segment_from_a_radio_enlarges_the_window_while_that_is_small() {
    let radio = |window| locked(Heads::Wireless612, window);
    let mut w = radio(3 << 20);
    w.offered = 400_000;
    assert!(takes(&mut w, 300, 0));
    assert_eq!(w.offered, 400_000 + 2 * 536);
    assert!(!takes(&mut w, 127, 0));
    w.offered = 1_600_000;
    assert!(!takes(&mut w, 300, 0));
    assert!(takes(&mut w, 1448, 0));
    // On a wire the head of a segment does not count.
    let mut w = automatic(Variant::Linux61, 3 << 20);
    w.resize(6 << 20);
    w.offered = 1_600_000;
    assert!(takes(&mut w, 300, 0));
    assert_eq!(w.offered, 1_600_000 + 2 * 1448);
}

#[test]
fn the_round_trip_rises_by_an_eighth_and_falls_at_once() {
    let mut w = automatic(Variant::Linux61, 3 << 20);
    comes(&mut w, 1, 0, 50);
    comes(&mut w, 2, 0, 131);
    assert_eq!(w.rtt(), Some(Duration::from_micros(60_000)));
    // And a smaller one counts at once (seen on Linux 6.1.192: without a queue, after samples up to 122 ms, a round
    // of 100 ms).
    comes(&mut w, 3, 0, 54);
    assert_eq!(w.rtt(), Some(Duration::from_millis(52)));
    let mut old = automatic(Variant::Linux314, 3 << 20);
    comes(&mut old, 1, 0, 80);
    comes(&mut old, 2, 0, 73);
    assert_eq!(old.rtt(), Some(Duration::from_millis(79)));
}

/// A window of Linux since 6.6, by hand. Of 7.3 a full segment takes 576 + 256 + 1448 = 2280 bytes, so 162 of 256 parts of
/// the buffer are window once one has come. Of 6.12 it takes 64 more, so 158 are. Of these the segment at hand takes its
/// part: (131,072 - 2280) x 162 / 256 = 81,501 and (131,072 - 2344) x 158 / 256 = 79,449 are left.
#[test]
fn the_window_since_linux_6_6_is_the_part_of_the_buffer_that_is_payload() {
    for (variant, growths, offered) in [(Variant::Linux612, 6, 79_449), (Variant::Linux73, 7, 81_501)] {
        let mut w = automatic(variant, 3 << 20);
        assert_eq!(w.offered(), 64_088);
        assert_eq!(enlarging(&mut w, 10), growths);
        assert_eq!(w.offered(), offered);
        // A buffer that may offer 2,000,000 bytes. What lies above a gap leaves room for one segment, and none.
        w.enlarge(2_000_000);
        assert_eq!(w.clamp, 1_999_999);
        assert!(comes(&mut w, 2, 0, 60));
        assert_eq!(w.offered(), offered + 2896);
        let left = (w.offered() * 256).div_ceil(w.ratio);
        let held = w.size - w.full - left;
        assert!(!comes(&mut w, 2, held, 60));
        assert!(comes(&mut w, 2, held - 256, 60));
        w.resize(131_072);
        assert!(w.select(65_537, 0).crowded && !w.select(65_536, 0).crowded);
    }
}

/// Twice the best round trip of 14,480 bytes, and what is between the gap and the last byte: 82,944 bytes are 162 of 256
/// parts of the buffer as it is, and one more takes a byte and a half.
#[test]
fn what_is_above_a_gap_enlarges_the_buffer_of_linux_7_3() {
    for (variant, span, size) in [
        (Variant::Linux73, 53_984, 131_073),
        (Variant::Linux612, 53_984, 131_072),
    ] {
        let mut w = automatic(variant, 3 << 20);
        comes(&mut w, 1, 0, 50);
        w.on_span(span);
        assert_eq!(w.size, 131_072);
        w.on_span(span + 1);
        assert_eq!(w.size, size);
    }
}

/// Worked by hand: 43,440 bytes after 14,480. Linux 7.3 wants twice that, and four times that for each time that it
/// grew by what it was before: 434,400 bytes. Linux 6.12 adds 16 segments first: (86,880 + 23,168) x 5.
#[test]
fn the_window_follows_twice_what_was_read() {
    for (variant, wanted, ratio) in [(Variant::Linux73, 434_400, 162), (Variant::Linux612, 550_240, 158)] {
        let mut w = automatic(variant, 3 << 20);
        comes(&mut w, 1, 0, 50);
        assert_eq!(w.rtt(), Some(Duration::from_millis(50)));
        w.on_read(1 + 30 * 1448, Time::from_millis(50));
        comes(&mut w, 1, 0, 51);
        assert_eq!(w.size, wanted * 256 / ratio);
    }
    // A sample below a millisecond does not count in Linux 7.3.
    let mut w = automatic(Variant::Linux73, 3 << 20);
    comes(&mut w, 50, 0, 49);
    assert_eq!(w.rtt(), None);
}

#[test]
fn the_buffer_never_exceeds_its_largest_size() {
    // 200,000 bytes, of which the segment at hand takes 2216; half of the rest is window.
    let mut w = automatic(Variant::Linux61, 100_000);
    comes(&mut w, 1, 0, 50);
    let mut next = 1;
    for round in 1..20u64 {
        next += 1_448 << round.min(12);
        w.on_read(next, Time::from_millis(50 * round));
        for _ in 0..100 {
            comes(&mut w, 1, 0, 50 * round + 1);
        }
    }
    assert_eq!(w.offered(), 98_892);
}

/// Source: `tcp_rcv_space_adjust` of Linux 6.1, with `SKB_TRUESIZE(mss + MAX_TCP_HEADER)`.
#[test]
fn linux_6_1_reckons_so_much_for_a_segment_that_half_of_it_holds_it() {
    assert_eq!([536, 1448, 8948].map(reckoned), [1304, 2984, 17_908]);
}

fn locked(heads: Heads, window: u64) -> ReceiveWindow {
    ReceiveWindow::new(&TcpParams {
        receive_buffer: ReceiveBuffer::Locked,
        receive_window: Bytes::new(window),
        heads,
        ..TcpParams::default()
    })
}

/// Segments that enlarge the window, of so many that come and are read at once.
fn enlarging(w: &mut ReceiveWindow, segments: u64) -> u64 {
    let mut grown = 0;
    for i in 0..segments {
        grown += u64::from(comes(w, 1, 0, 50 + i));
        w.on_read(1 + 1448 * (i + 1), Time::from_millis(50 + i));
    }
    grown
}

#[test]
fn a_locked_buffer_of_linux_6_12_has_its_whole_window_after_357_segments() {
    // Seen on Linux 6.12 in a cell, by `tcpi_snd_wnd` of the sender: 3,213,824 after 24 segments, 4,114,560 after
    // 335 to 345, then 4,177,920.
    let mut w = locked(Heads::Wireless612, 3 << 20);
    assert_eq!(w.offered(), 3_144_280);
    assert_eq!(enlarging(&mut w, 24), 24);
    assert_eq!(w.offered().next_multiple_of(128), 3_213_824);
    assert_eq!(enlarging(&mut w, 5_000), 333);
    assert_eq!(w.offered(), 4_177_920);
}

#[test]
fn a_locked_buffer_of_linux_6_1_offers_half_of_it_less_a_segment() {
    let mut w = locked(Heads::Lean61, 1 << 20);
    assert_eq!(w.offered(), 65_535);
    assert_eq!(enlarging(&mut w, 5_000), (1_047_128_u64 - 65_535).div_ceil(2_896));
    assert_eq!(w.offered(), 1_047_128);
    // The smallest that may be given: two segments.
    assert_eq!(locked(Heads::Lean61, 2_896).offered(), 2_896);
    // And no more is offered than the field of a segment can say.
    let mut w = locked(Heads::Lean612, 65_535 * WINDOW_UNIT);
    enlarging(&mut w, 20_000);
    assert_eq!(w.offered(), 65_535 * WINDOW_UNIT);
}

#[test]
fn the_shift_makes_the_largest_buffer_fit_the_field() {
    // 32 MiB are 65,536 units of 512; Linux takes the next shift, because the field ends at 65,535.
    let about = ReceiveMemory {
        size: 131_072,
        locked: false,
        largest: 32 << 20,
        shrinks: false,
        segment: 1460,
        parts: None,
    };
    assert_eq!(about.shift(4 << 20), 10);
    assert_eq!(
        ReceiveMemory {
            size: 2_000_000,
            locked: true,
            ..about
        }
        .shift(4 << 20),
        4
    );
    assert_eq!(ReceiveMemory::doubled(10_000), 20_000);
    assert_eq!(ReceiveMemory::doubled(1), 2304);
}
