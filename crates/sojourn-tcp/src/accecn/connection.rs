//! What one end of a connection with AccECN knows, and what it writes into each segment.

use super::delivered::{Covered, Delivered};
use super::negotiation::{is_valid, reflected, reflection};
use super::option::{AccEcnOption, FIELDS, FieldOrder, fit};
use super::received::Received;
use super::{AccEcnParams, OptionUse, initial};
use crate::cc::Marked;
use crate::segment::{Flags, Segment};
use sojourn_units::{Duration, Ecn, Time};

/// Bytes of options that a segment may have (RFC 9293 section 3.1).
const SPACE: u16 = 40;
/// Bytes of the timestamp option, with padding.
const TIMESTAMPS: u16 = 12;
/// Bytes of the SACK option without its blocks, with padding.
const SACK: u16 = 4;
/// After so many bytes an option that comes first may be one whose counters have wrapped. Source: Linux
/// `tcp_accecn_process_option`.
const TOO_LATE: u64 = (1 << 23) - 1;

/// What is known of the peer's AccECN options. Source: Linux `tcpi_accecn_opt_seen`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OptionSeen {
    /// None has come.
    #[default]
    Never,
    /// One without fields.
    Empty,
    /// One with counters.
    Counters,
    /// One whose first counters were cleared on the way; or none has come for so long that the counters could have
    /// wrapped.
    Bad,
}

/// What is wrong with the path, as bits. Source: Linux `tcpi_accecn_fail_mode`.
mod fails {
    /// SYN-ACKs were lost again and again: nothing that is sent is ECN-capable (RFC 9768 section 3.1.5).
    pub(super) const ACE_SEND: u8 = 1;
    /// ACE comes as it was not sent: nothing that is sent is ECN-capable (RFC 9768 sections 3.1.5, 3.2.2.3, 3.2.2.4).
    pub(super) const ACE_RECEIVE: u8 = 2;
    /// Acknowledgements with the option are lost: it is not sent any more (RFC 9768 section 3.2.3.2.2).
    pub(super) const OPTION_SEND: u8 = 4;
    /// Options come as they were not sent: they are not looked at (RFC 9768 section 3.2.3.2.4).
    pub(super) const OPTION_RECEIVE: u8 = 8;
}

/// What the end of a connection begins from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub(crate) params: AccEcnParams,
    /// Segments have timestamps.
    pub(crate) timestamps: bool,
    /// The codepoint that its own SYN or SYN-ACK has.
    pub(crate) sent: Ecn,
    /// The codepoint that all has that is sent later: ECT(0), or ECT(1) with a scalable control.
    pub(crate) ect: Flags,
}

/// AccECN at one end of a connection that has agreed on it.
#[derive(Clone, Debug)]
pub struct AccEcn {
    opening: Opening,
    /// The codepoint with which the peer's last SYN or SYN-ACK has come.
    peer_syn: Ecn,
    /// SYN-ACKs sent, and time-outs that made some of them.
    syn_acks: u8,
    timeouts: u8,
    /// The SYN-ACK that is due was not given up as one that the network drops.
    ace_due: bool,
    /// The next segment without data says how the SYN or SYN-ACK has come.
    reflects: bool,
    received: Received,
    delivered: Delivered,
    seen: OptionSeen,
    failed: u8,
    /// The timestamp of the segment at hand is newer than those before.
    pub(crate) newer: bool,
}

impl AccEcn {
    /// The end that was opened or has answered, when a SYN or SYN-ACK with this codepoint has come.
    fn new(opening: Opening, come: Ecn) -> Self {
        Self {
            opening,
            peer_syn: come,
            syn_acks: 0,
            timeouts: 0,
            ace_due: true,
            reflects: false,
            received: Received::default(),
            delivered: Delivered::default(),
            seen: OptionSeen::Never,
            failed: 0,
            newer: false,
        }
    }

    /// Packets that have come with a mark. Source: Linux `tcpi_received_ce`.
    #[must_use]
    pub fn received_ce(&self) -> u32 {
        self.received.packets
    }
    /// Payload bytes that have come with this codepoint, modulo 2^32; 0 for Not-ECT, which is not counted.
    #[must_use]
    pub fn received_bytes(&self, ecn: Ecn) -> u32 {
        self.received.bytes.of(ecn)
    }
    /// Packets that came to the peer with a mark, as far as it has told. Source: Linux `tcpi_delivered_ce`.
    #[must_use]
    pub fn delivered_ce(&self) -> u32 {
        self.delivered.packets
    }
    /// Payload bytes that came to the peer with this codepoint, as far as its options have told, modulo 2^32.
    #[must_use]
    pub fn delivered_bytes(&self, ecn: Ecn) -> u32 {
        self.delivered.bytes.of(ecn)
    }
    /// What is known of the peer's options.
    #[must_use]
    pub fn option_seen(&self) -> OptionSeen {
        self.seen
    }
    /// What is wrong with the path: 1 and 2 if ACE cannot be sent or received, 4 and 8 if the option cannot. Source:
    /// Linux `TCP_ACCECN_ACE_FAIL_SEND` and the names beside it.
    #[must_use]
    pub fn fail_mode(&self) -> u8 {
        self.failed
    }

    /// How the option is used from now on.
    pub(crate) fn set_option(&mut self, option: OptionUse) {
        self.opening.params.option = option;
    }

    // ---------------------------------------------------------------- handshake

    /// The end that answers a SYN.
    pub(crate) fn server(opening: Opening, syn: &Segment) -> Self {
        Self::new(opening, syn.flags.ecn())
    }

    /// The SYN has come again, and is answered. Source: Linux `tcp_check_req`.
    pub(crate) fn on_syn_again(&mut self, syn: &Segment) {
        self.peer_syn = syn.flags.ecn();
        self.ace_due = self.timeouts == 0;
        if syn.flags.ace() == 0 {
            self.failed |= fails::ACE_RECEIVE;
        }
    }

    /// The SYN-ACK is sent again because none has answered it. The second time it does without ACE (RFC 9768 section
    /// 3.2.3.2.2).
    pub(crate) fn on_syn_ack_timeout(&mut self) {
        self.ace_due = self.timeouts == 0;
        self.timeouts = self.timeouts.saturating_add(1);
    }

    /// Writes the SYN-ACK that is due; only the first has the option. Source: Linux `tcp_ecn_make_synack`,
    /// `tcp_synack_options`, `reqsk_timer_handler`.
    pub(crate) fn write_syn_ack(&mut self, segment: &mut Segment) {
        if self.ace_due {
            segment.flags |= Flags::of_ace(reflection(self.peer_syn));
        }
        if self.syn_acks == 0 && self.opening.params.option > OptionUse::Never {
            segment.accecn = AccEcnOption::new(FieldOrder::Ect1First, &ORDER.map(initial));
        }
        if self.syn_acks > 1 {
            self.failed |= fails::ACE_SEND;
        }
        self.syn_acks = self.syn_acks.saturating_add(1);
    }

    /// The acknowledgement of the SYN-ACK, which may have data. Source: Linux `tcp_ecn_openreq_child`,
    /// `tcp_accecn_third_ack`; RFC 9768 section 3.2.2.1. Deviation: Linux forgets here that the option was cleared.
    pub(crate) fn on_third_ack(&mut self, segment: &Segment) {
        self.look_at_first(segment.accecn);
        let ace = segment.flags.ace();
        if ace == 0 && segment.sack_count == 0 {
            self.failed |= fails::ACE_RECEIVE | fails::OPTION_RECEIVE;
        } else if segment.span() == 0
            && segment.sack_count == 0
            && let Some(come) = reflected(ace)
            && self.believes(come)
            && come == Ecn::Ce
        {
            self.delivered.packets = 1;
        }
        self.received.previous = self.peer_syn;
        self.received.demand = 1;
        self.received.count(segment.flags.ecn(), segment.len);
    }

    /// The end that opened the connection, with the SYN-ACK. Source: Linux `tcp_ecn_rcv_synack`.
    pub(crate) fn client(opening: Opening, syn_ack: &Segment) -> Self {
        let mut accecn = Self::new(opening, syn_ack.flags.ecn());
        if syn_ack.accecn.is_present() {
            accecn.look_at_first(syn_ack.accecn);
            accecn.received.demand = 2;
            if accecn.failed & fails::OPTION_RECEIVE == 0 {
                accecn.delivered.take_option(syn_ack.accecn);
            }
        }
        // Linux looks at what the SYN-ACK says of the SYN only then.
        if syn_ack.flags.ecn() == Ecn::Ce && reflected(syn_ack.flags.ace()).is_none_or(|come| accecn.believes(come)) {
            accecn.received.count_mark();
        }
        // The SYN is a packet that was delivered.
        accecn.delivered.note_size(1);
        accecn.reflects = true;
        accecn
    }

    /// Whether the SYN or SYN-ACK can have come so; if not, nothing ECN-capable is sent. Source: Linux
    /// `tcp_accecn_validate_syn_feedback`.
    fn believes(&mut self, come: Ecn) -> bool {
        let valid = !self.opening.params.fallback || is_valid(self.opening.sent, come);
        if !valid {
            self.failed |= fails::ACE_RECEIVE;
        }
        valid
    }

    /// A SYN or SYN-ACK has come again on the established connection. It is answered as the first was. Source: Linux
    /// `tcp_validate_incoming`.
    pub(crate) fn on_late_syn(&mut self, segment: &Segment, answered: bool) {
        self.peer_syn = segment.flags.ecn();
        self.reflects |= answered;
        if segment.accecn.is_present() && self.seen < OptionSeen::Counters {
            self.look_at_first(segment.accecn);
            self.received.demand = self.received.demand.max(1);
        }
    }

    /// The first options may show that something clears their fields (RFC 9768 section 3.2.3.2.4). Source: Linux
    /// `tcp_accecn_option_init`.
    fn look_at_first(&mut self, option: AccEcnOption) {
        if !option.is_present() || self.seen >= OptionSeen::Counters {
            return;
        }
        let fields: Vec<u32> = option.fields().map(|field| field.1).collect();
        // The first and the third count codepoints that do not begin from 0.
        self.seen = match fields[..] {
            [] => OptionSeen::Empty,
            [0, ..] | [_, _, 0] => OptionSeen::Bad,
            _ => OptionSeen::Counters,
        };
        if self.seen == OptionSeen::Bad {
            self.failed |= fails::OPTION_RECEIVE;
        }
    }

    // ---------------------------------------------------------------- what comes

    /// A segment has come; `old` says that its data has come before. Answers whether data that it has is acknowledged
    /// at once.
    pub(crate) fn on_arrival(&mut self, segment: &Segment, old: bool) -> bool {
        self.received.count(segment.flags.ecn(), segment.len);
        // The acknowledgement that had an option, and said that this had come twice, was lost. Source: Linux
        // `tcp_rcv_spurious_retrans`.
        if old && self.received.reported_with_duplicate == Some(segment.seq) {
            self.failed |= fails::OPTION_SEND;
        }
        self.received.hurries
    }

    /// What an acknowledgement says of marks, of all that it covers. Source: Linux `tcp_accecn_process`.
    pub(crate) fn on_ack(&mut self, segment: &Segment, covered: &Covered) -> Marked {
        // It may have been overtaken.
        if !covered.progress && !self.newer {
            return Marked::default();
        }
        let ce_before = self.delivered.bytes.of(Ecn::Ce);
        let reliable = self.take_option(segment.accecn, covered);
        if covered.packets > 0 {
            self.delivered.note_size(covered.packets);
        }
        self.delivered
            .take_ace(segment.flags.ace(), covered, reliable, ce_before)
    }

    fn take_option(&mut self, option: AccEcnOption, covered: &Covered) -> bool {
        if self.failed & fails::OPTION_RECEIVE != 0 {
            return false;
        }
        if option.is_present() {
            self.look_at_first(option);
            return self.delivered.take_option(option);
        }
        if self.seen == OptionSeen::Never {
            if covered.sent >= TOO_LATE {
                self.seen = OptionSeen::Bad;
                self.failed |= fails::OPTION_RECEIVE;
            }
            return false;
        }
        self.delivered.without_option(covered.bytes)
    }

    // ---------------------------------------------------------------- what is sent

    /// Whether the next segment is to have the option. Source: Linux `tcp_established_options`.
    fn wants_option(&self, srtt: Duration, now: Time) -> bool {
        let use_of = self.opening.params.option;
        if self.seen == OptionSeen::Never || use_of == OptionUse::Never {
            return false;
        }
        if use_of < OptionUse::Persist && self.failed & fails::OPTION_SEND != 0 {
            return false;
        }
        use_of >= OptionUse::Always || self.received.demand > 0 || self.is_due(srtt, now)
    }

    /// Source: Linux `tcp_accecn_option_beacon_check`.
    fn is_due(&self, srtt: Duration, now: Time) -> bool {
        let beacon = u64::from(self.opening.params.beacon);
        beacon > 0 && now.since(self.received.reported).as_micros().saturating_mul(beacon) >= srtt.as_micros()
    }

    /// By how many bytes the next segment with data is shorter than a full one, because it has the option.
    pub(crate) fn room(&self, srtt: Duration, now: Time) -> u16 {
        if self.wants_option(srtt, now) {
            AccEcnOption::new(FieldOrder::Ect1First, &[0; FIELDS]).occupied(false)
        } else {
            0
        }
    }

    /// Writes what a segment says of congestion, when all else is written. A connection in TIME-WAIT says nothing any
    /// more, because Linux keeps no counters of it (`tcp_v4_timewait_ack`).
    pub(crate) fn write(&mut self, segment: &mut Segment, in_time_wait: bool, srtt: Duration, now: Time) {
        if self.failed & (fails::ACE_SEND | fails::ACE_RECEIVE) == 0 {
            segment.flags |= self.opening.ect;
        }
        if in_time_wait {
            return;
        }
        if segment.len == 0 && std::mem::take(&mut self.reflects) {
            segment.flags |= Flags::of_ace(reflection(self.peer_syn));
        } else {
            segment.flags |= self.received.tell();
        }
        self.received.hurries = false;
        self.received.reported_with_duplicate = None;
        if !self.wants_option(srtt, now) {
            return;
        }
        let timestamps = if self.opening.timestamps { TIMESTAMPS } else { 0 };
        let sacks = match segment.sack_count {
            0 => 0,
            n => SACK + 8 * u16::from(n),
        };
        let space = SPACE - timestamps - sacks;
        let Some((fields, blocks)) = fit(self.received.fields, segment.sack_count, space) else {
            return;
        };
        segment.sack_count = blocks;
        let values = ORDER.map(|ecn| self.received.bytes.of(ecn).wrapping_add(initial(ecn)));
        segment.accecn = AccEcnOption::new(FieldOrder::Ect1First, &values[..fields]);
        self.received.fields = 0;
        self.received.reported = now;
        self.received.demand = self.received.demand.saturating_sub(1);
        self.received.reported_with_duplicate = segment.duplicate();
    }
}

/// The order of the fields that are sent.
const ORDER: [Ecn; FIELDS] = FieldOrder::Ect1First.codepoints();
