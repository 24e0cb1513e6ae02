//! Choices between readings of the thesis, and between its method and ours.

use super::setting::plain;
use serde::{Deserialize, Serialize};

/// Choices, which a file names by their words in `snake_case`.
macro_rules! choices {
    ($( $(#[$about:meta])* pub enum $Choice:ident { $($words:tt)+ } )+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $Choice { $($words)+ }

        plain!($Choice);
    )+};
}

choices! {
    /// Who decides when and how much.
    pub enum Method {
        /// Seed 003: windows of samples against a threshold, a flood RTT that grows by a fifth with each flush.
        Thesis,
        /// Ours: time-based windows, a burst sized by the buffer's free space, judged by its effect.
        Adaptive,
    }

    /// What to make of a segment that is seen again.
    pub enum Retransmissions {
        /// Its time becomes that of the newest copy. Source: seed 003 section 4.3 and Listing 4.3.
        NewestCopy,
        /// It gives no sample, and neither does an acknowledgement that covers it. Source: RFC 6298 section 3 (Karn).
        Karn,
    }

    /// Which of the segments that an acknowledgement covers gives the RTT sample: section 4.3 of seed 003 has "the
    /// youngest corresponding packet".
    pub enum SampleOf {
        /// The one whose end is acknowledged. Source: section 4.3, "by matching the ACK number to the sum of a packet
        /// sequence number and packet length", and Listing 4.6.
        AcknowledgedEnd,
        /// The one that was sent last, which after a loss is the retransmission that filled the hole; the acknowledgement
        /// must still end where a segment does.
        ///
        /// Deviation: section 4.3 tells the corresponding packet by its end, so no preset has this.
        LastSent,
    }

    /// How the base RTT is kept. Source: seed 003 section 4.3.2.
    pub enum BaseKind {
        /// The least sample, replaced by whatever sample comes when it has not fallen for `base_window`. Source: Listing
        /// 4.6.
        Renewed,
        /// The least sample of the last `base_window`. Source: section 4.3.2, "in the last segment of time".
        SlidingMinimum,
    }

    /// Which bytes count as throughput.
    pub enum Counted {
        /// TCP payload. Source: seed 003, Eq. 4.2.
        Payload,
        /// IP packets, headers included. Source: Listing 4.4, `totlen`.
        Wire,
    }

    /// Which of the segments that an acknowledgement covers count as throughput.
    pub enum Acknowledged {
        /// All of them. Source: section 4.7, "the sum of ACKed packet sizes".
        All,
        /// The one whose end is acknowledged. Source: Listing 4.4, `item`.
        Youngest,
    }

    /// What a sum of bytes is taken over.
    pub enum Span {
        /// `throughput_interval`. Source: seed 003, Eq. 4.2.
        Interval,
        /// The current smoothed RTT. Source: section 4.4, "divided by the current RTT".
        Rtt,
    }

    /// Where a new interval's sum begins.
    pub enum Restart {
        /// At zero. Source: Eq. 4.2.
        Zero,
        /// At the segment that closed the last one, which so counts twice. Source: Listing 4.4.
        LastItem,
    }

    /// What is put into a window.
    pub enum Samples {
        /// The smoothed RTT at each sample. Source: Listing 4.6.
        Smoothed,
        /// The samples themselves. Source: section 4.5.1, "the current RTT of each ACK".
        Raw,
    }

    /// When a window is tested.
    pub enum Test {
        /// When it is full, and then it begins anew. Source: section 4.5.1.
        FilledWindow,
        /// At every acknowledgement, over the last `window_samples` samples. Source: Listing 4.2.
        EveryAck,
    }

    /// What a test that fails does to the count.
    pub enum Miss {
        /// Sets it to zero. Source: section 4.5.1, "consecutive".
        Reset,
        /// Lowers it by one. Source: Listing 4.2.
        Decrement,
    }

    /// How `forced_after` acts.
    pub enum Forced {
        /// It is a flush by itself. Source: section 4.5.2.
        AtOnce,
        /// It passes the test, and so counts as a window above the trigger does. Source: Listing 4.2.
        Counted,
    }

    /// Whether the time of a flush is remembered.
    pub enum LastFlush {
        /// `forced_after` runs from the last flush. Source: section 4.5.2.
        Recorded,
        /// It runs from the flow's beginning for ever: no listing writes `lastFlood`. Source: Listings 4.2 and 4.7.
        Never,
    }

    /// Which RTT sizes a flush.
    pub enum FlushRtt {
        /// 2 x base RTT, times `growth` from flush to flush. Source: section 4.5.2, Listing 4.7.
        Growing,
        /// The largest RTT of the window. Source: section 4.5.3.
        WindowMax,
    }

    /// Whether the flood RTT of one flush is where the next begins.
    pub enum Growth {
        /// It is. Source: section 4.5.2, "for each subsequent flush".
        Kept,
        /// It is not: `rttFlood` is written and `floodRtt` read. Source: Listing 4.7.
        Lost,
    }

    /// Where growth begins.
    pub enum FirstFlush {
        /// The first flush has 2 x base RTT. Source: section 4.5.2, "starting with".
        TwiceBase,
        /// The first flush is multiplied too. Source: Listing 4.7.
        Multiplied,
    }

    /// The bounds of the flood RTT.
    pub enum Clamp {
        /// At least 2 x base RTT and at most 2 x the largest RTT. Source: section 4.5.2.
        Both,
        /// The second assignment undoes the first: only the upper one is left. Source: Listing 4.7.
        UpperOnly,
    }

    /// Which value of the flood RTT gives the number of packets.
    pub enum SizeRtt {
        /// The clamped one. Source: section 4.5.2.
        Clamped,
        /// The one before clamping, `rtt`. Source: Listing 4.7.
        Unclamped,
    }
}
