//! Worked by hand from the draft and from `tcp_bbr.c`.

use super::constants::*;
use super::*;
use crate::cc::{SenderView, Threshold};
use sojourn_units::{Duration, Time};

const MSS: u16 = 1448;
/// Round trip of the handshake.
const RTT: Duration = Duration::from_millis(40);

/// 277/100 x 256 + 1 = 710, 1000/2885 x 256 = 88, 91/100 x 256 = 232; 0.7 is 180, 0.15 is 38, 2 % are 5.
#[test]
fn gains_and_thresholds_are_the_kernels_integers() {
    assert_eq!((STARTUP_GAIN, DRAIN_GAIN, UP_GAIN, DOWN_GAIN), (710, 88, 320, 232));
    assert_eq!((WINDOW_GAIN, UP_WINDOW_GAIN), (512, 576));
    assert_eq!((BETA, HEADROOM, LOSS_THRESHOLD, ECN_FACTOR), (180, 38, 5, 85));
}
