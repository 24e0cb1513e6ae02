//! Between the segments of our TCP and those of a script.

use crate::connection::{Agreed, Connection, LARGEST};
use crate::script::{Packet, TcpOption};
use crate::settings::Settings;
use sojourn_tcp::{AccEcnOption, Flags, SackBlock, Segment, WINDOW_UNIT};
use sojourn_units::Ecn;

/// Which of our timestamps is which of the script's. A script's are relative to the first that it expects.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// The script's and ours, in the order in which they were seen.
    pairs: Vec<(u32, u32)>,
}

impl Clocks {
    /// Our timestamp `ours` was expected to be `script`.
    pub fn pair(&mut self, script: u32, ours: u32) {
        self.pairs.push((script, ours));
    }

    /// How far both clocks have gone since their first pair: the script's and ours.
    #[must_use]
    pub fn gone(&self, script: u32, ours: u32) -> Option<(u32, u32)> {
        let first = self.pairs.first()?;
        Some((script.wrapping_sub(first.0), ours.wrapping_sub(first.1)))
    }

    /// Our timestamp that the script calls `script`.
    #[must_use]
    pub fn ours(&self, script: u32) -> u32 {
        let known = self.pairs.iter().rev().find(|pair| pair.0 == script);
        match known.or(self.pairs.last()) {
            Some(pair) => pair.1.wrapping_add(script.wrapping_sub(pair.0)),
            None => script,
        }
    }
}

/// The letters of flags, in the order in which they are written.
const FLAGS: [(char, Flags); 8] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
    ('A', Flags::AE),
    ('.', Flags::ACK),
];

/// What a script's segment is to our TCP.
///
/// A SYN has the numbers that the script writes, and the others count from it, as in packetdrill. What a SYN carries is
/// not taken. Source: Linux without TCP Fast Open, `tcp_conn_request`, `tcp_rcv_synsent_state_process`.
pub(crate) fn segment(packet: &Packet, connection: &mut Connection, clocks: &Clocks) -> Segment {
    let agreed = connection.agreed;
    let syn = packet.has('S');
    if syn {
        connection.begins[1].get_or_insert(packet.start);
    }
    let [ours, peers] = connection.begins.map(|begin| begin.filter(|_| syn).unwrap_or(0));
    let mut flags = match packet.ecn {
        Some(Ecn::Ect0) => Flags::ECT0,
        Some(Ecn::Ect1) => Flags::ECT1,
        Some(Ecn::Ce) => Flags::CE,
        _ => Flags::NONE,
    };
    for (letter, flag) in FLAGS {
        if packet.has(letter) {
            flags |= flag;
        }
    }
    let ack = packet.ack.unwrap_or(0).wrapping_sub(ours);
    let shift = if syn { 0 } else { agreed.scale.unwrap_or(0) };
    let window = u64::from(packet.window.unwrap_or(0)) << shift;
    let mut segment = Segment {
        seq: u64::from(packet.start.wrapping_sub(peers)),
        ack: u64::from(ack),
        len: if syn {
            0
        } else {
            packet.len.min(u32::from(u16::MAX)) as u16
        },
        flags,
        window: (window / WINDOW_UNIT).min(u64::from(u16::MAX)) as u16,
        window_rest: (window % WINDOW_UNIT) as u8,
        ..Segment::default()
    };
    for option in packet.options.iter().flatten() {
        match option {
            TcpOption::Timestamps(value, echo) if agreed.timestamps => {
                segment.ts_val = *value;
                segment.ts_ecr = if *echo == 0 { 0 } else { clocks.ours(*echo) };
            }
            TcpOption::Sack(blocks) if agreed.sack => {
                segment.sack_count = blocks.len().min(3) as u8;
                for (to, &(start, end)) in segment.sack.iter_mut().zip(blocks) {
                    *to = SackBlock {
                        start: start.wrapping_sub(ack).cast_signed(),
                        end: end.wrapping_sub(ack).cast_signed(),
                    };
                }
            }
            TcpOption::AccEcn(order, fields) => segment.accecn = AccEcnOption::new(*order, fields),
            _ => {}
        }
    }
    segment
}

/// How a script would write a segment of ours.
pub(crate) fn packet(segment: &Segment, connection: &Connection, settings: &Settings) -> Packet {
    let has = |flag| segment.flags.has(flag);
    let mut flags = String::new();
    for (letter, flag) in FLAGS {
        if has(flag) {
            flags.push(letter);
        }
    }
    let syn = has(Flags::SYN);
    let agreed = connection.agreed;
    let [ours, peers] = connection.begins.map(|begin| begin.filter(|_| syn).unwrap_or(0));
    let bytes = segment.window_bytes();
    let window = if syn || agreed.scale.is_none() {
        bytes
    } else {
        bytes >> connection.shift
    };
    Packet {
        ecn: Some(segment.flags.ecn()),
        flags,
        start: (segment.seq as u32).wrapping_add(ours),
        len: u32::from(segment.len),
        ack: has(Flags::ACK).then_some((segment.ack as u32).wrapping_add(peers)),
        window: Some(window.min(u64::from(u16::MAX)) as u16),
        urgent: None,
        options: Some(options_of(segment, connection, settings)),
    }
}

fn options_of(segment: &Segment, connection: &Connection, settings: &Settings) -> Vec<TcpOption> {
    if segment.flags.has(Flags::SYN) {
        syn_options(segment, connection, settings)
    } else if segment.flags.has(Flags::RST) && !segment.flags.has(Flags::ACK) {
        // The answer to a segment of no connection.
        Vec::new()
    } else {
        options(segment, connection.agreed)
    }
}

/// Source: the order of Linux `tcp_options_write`.
fn syn_options(segment: &Segment, connection: &Connection, settings: &Settings) -> Vec<TcpOption> {
    let agreed = if connection.passive {
        connection.agreed
    } else {
        Agreed {
            sack: true,
            timestamps: settings.timestamps,
            scale: Some(connection.shift),
        }
    };
    let mut options = vec![TcpOption::Mss(LARGEST)];
    if agreed.timestamps {
        if agreed.sack {
            options.push(TcpOption::SackOk);
        } else {
            options.extend([TcpOption::Nop, TcpOption::Nop]);
        }
        options.push(TcpOption::Timestamps(segment.ts_val, segment.ts_ecr));
        accecn(segment.accecn, false, &mut options);
    } else {
        accecn(segment.accecn, agreed.sack, &mut options);
        if agreed.sack {
            options.push(TcpOption::SackOk);
        }
    }
    if agreed.scale.is_some() {
        options.extend([TcpOption::Nop, TcpOption::WindowScale(connection.shift)]);
    }
    options
}

fn options(segment: &Segment, agreed: Agreed) -> Vec<TcpOption> {
    let mut options = Vec::new();
    if agreed.timestamps {
        let timestamps = TcpOption::Timestamps(segment.ts_val, segment.ts_ecr);
        options.extend([TcpOption::Nop, TcpOption::Nop, timestamps]);
    }
    if agreed.sack && segment.sack_count > 0 {
        let absolute = |offset: i32| segment.ack.wrapping_add_signed(i64::from(offset)) as u32;
        let blocks = segment.sack.iter().take(usize::from(segment.sack_count));
        let blocks = blocks.map(|b| (absolute(b.start), absolute(b.end))).collect();
        accecn(segment.accecn, true, &mut options);
        options.push(TcpOption::Sack(blocks));
    } else {
        accecn(segment.accecn, false, &mut options);
    }
    options
}

/// The AccECN option and the padding behind it, which is there without an option too if a SACK option follows.
fn accecn(option: AccEcnOption, before_sack: bool, options: &mut Vec<TcpOption>) {
    if option.is_present() {
        let fields = option.fields().map(|field| field.1).collect();
        options.push(TcpOption::AccEcn(option.order(), fields));
    }
    let padding = usize::from(option.padding(before_sack));
    options.extend(std::iter::repeat_n(TcpOption::Nop, padding));
}
