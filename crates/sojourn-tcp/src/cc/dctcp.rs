//! DCTCP: a window that is reduced by as much as the share of marked segments says.
//!
//! Sources: RFC 8257; Linux 6.1 `tcp_dctcp.c`.

use super::{Ack, CongestionControl, Listed, Needs, Threshold, Window};
use crate::variant::Variant;

/// The share of marked segments is in 1024ths; at first it is the whole (RFC 8257 section 4.2).
const ALPHA_MAX: u64 = 1024;
/// The weight of a new share is 2^-4 (RFC 8257 section 4.2: g = 1/16).
const SHIFT: u32 = 4;

/// Reno, of which each window of data with a mark costs half of the share of marked segments.
///
/// The receiver of such a flow echoes each mark once (RFC 8257 section 3.2), and ECN is negotiated whatever `tcp.ecn`
/// says. All segments are ECN-capable, handshake, acknowledgements and retransmissions too. Source: Linux
/// `TCP_CONG_NEEDS_ECN`.
#[derive(Clone, Copy, Debug)]
pub struct Dctcp {
    /// The smoothed share of marked segments.
    alpha: u64,
    /// The window of data is over when this is acknowledged.
    next: u64,
    /// Delivered in it, and of those marked.
    delivered: u64,
    delivered_ce: u64,
}

impl Listed for Dctcp {
    const NAME: &'static str = "dctcp";
    const NEEDS: Needs = Needs {
        ecn: true,
        ..Needs::NONE
    };
    type Params = ();

    fn new((): &(), _: Variant) -> Self {
        Self {
            alpha: ALPHA_MAX,
            next: 0,
            delivered: 0,
            delivered_ce: 0,
        }
    }
}

impl Dctcp {
    /// A window of data is over. Source: `dctcp_update_alpha`.
    fn update(&mut self) {
        let decay = self.alpha >> SHIFT;
        // A share that is too small to decay is nothing.
        self.alpha -= if decay > 0 { decay } else { self.alpha };
        let share = (self.delivered_ce << (10 - SHIFT)) / self.delivered.max(1);
        self.alpha = (self.alpha + share).min(ALPHA_MAX);
        (self.delivered, self.delivered_ce) = (0, 0);
    }
}

impl CongestionControl for Dctcp {
    /// What this acknowledgement covers belongs to the window of data that it ends, as in Linux 6.1.192 and 7.3. Source:
    /// `tcp_in_ack_event`, after `tcp_clean_rtx_queue`.
    fn on_rtt(&mut self, ack: &Ack, _: &mut Window) {
        self.delivered += u64::from(ack.acked);
        self.delivered_ce += u64::from(ack.marked.packets);
        if ack.una >= self.next {
            self.update();
            self.next = ack.nxt;
        }
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        let cwnd = window.cwnd;
        window.additive_increase(cwnd, acked);
    }

    /// Half of the share (RFC 8257 section 3.3, step 9). Source: `dctcp_ssthresh`.
    fn reduce(&mut self, window: &Window) -> u32 {
        let less = (u64::from(window.cwnd) * self.alpha) >> 11;
        (window.cwnd - less as u32).max(2)
    }

    /// A loss is what it is to Reno (RFC 8257 section 3.5). Source: `dctcp_react_to_loss`.
    fn on_lost(&mut self, window: &mut Window) {
        window.ssthresh = Threshold::Segments((window.cwnd / 2).max(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Marked;
    use sojourn_units::Time;

    fn window(cwnd: u32) -> Window {
        Window {
            cwnd,
            ssthresh: Threshold::Segments(10),
            credit: 0,
        }
    }

    /// `windows` windows of 100 segments each, `marked` of them with an echo.
    fn run(dctcp: &mut Dctcp, windows: u64, marked: u32) {
        for _ in 0..windows {
            let end = dctcp.next;
            for (una, acked, ece) in [(end - 1, marked, true), (end, 100 - marked, false)] {
                let ack = Ack {
                    now: Time::ZERO,
                    acked,
                    una,
                    nxt: end + 100,
                    rtt: None,
                    mss: 1448,
                    pacing_rate: None,
                    ece,
                    marked: Marked {
                        packets: if ece { acked } else { 0 },
                        bytes: 0,
                    },
                };
                dctcp.on_rtt(&ack, &mut window(100));
            }
        }
    }

    /// Worked by hand from `dctcp_update_alpha`: 1024 - 64 = 960, - 60 = 900, - 56 = 844; and with 50 of 100 marked
    /// 844 - 52 + (50 << 6) / 100 = 824.
    #[test]
    fn the_share_decays_by_a_sixteenth_and_follows_the_marks() {
        let mut dctcp = Dctcp {
            next: 1,
            ..Dctcp::new(&(), Variant::Linux61)
        };
        for (marked, alpha) in [(0, 960), (0, 900), (0, 844), (50, 824), (1, 824 - 51)] {
            run(&mut dctcp, 1, marked);
            assert_eq!(dctcp.alpha, alpha, "(1 << 6) / 100 is 0");
        }
        // Without marks it comes to zero: from 15 at once, as the kernel's min_not_zero has it.
        dctcp.alpha = 16;
        run(&mut dctcp, 1, 0);
        assert_eq!(dctcp.alpha, 15);
        run(&mut dctcp, 1, 0);
        assert_eq!(dctcp.alpha, 0);
        // With all marked it comes to the whole.
        run(&mut dctcp, 200, 100);
        assert_eq!(dctcp.alpha, 1024);
    }

    /// 100 segments: half of the share of 512/1024 is 25; the whole share halves; a loss halves in any case.
    #[test]
    fn a_mark_costs_half_of_the_share_and_a_loss_half_of_the_window() {
        let mut dctcp = Dctcp::new(&(), Variant::Linux61);
        assert_eq!(dctcp.reduce(&window(100)), 50);
        dctcp.alpha = 512;
        assert_eq!(dctcp.reduce(&window(100)), 75);
        dctcp.alpha = 20;
        assert_eq!(dctcp.reduce(&window(100)), 100, "(100 x 20) >> 11 is 0");
        assert_eq!(dctcp.reduce(&window(1)), 2);
        let mut lost = window(100);
        dctcp.on_lost(&mut lost);
        assert_eq!((lost.cwnd, lost.ssthresh), (100, Threshold::Segments(50)));
    }
}
