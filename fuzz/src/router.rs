//! A frame in the bottleneck of user space.

use sojourn_live::bottleneck::frame::Frame;
use sojourn_qdisc::Packet as _;

/// A router's view: its mark changes the ECN field and the checksum, and the sum over the header stays what it was.
pub(crate) fn routed(bytes: &[u8]) {
    let Ok(mut frame) = Frame::new(bytes.to_vec(), 14, 7) else {
        return;
    };
    assert_eq!(frame.size().get(), bytes.len() as u64 + 14);
    assert!(frame.band() < 3);
    let hash = frame.flow_hash();
    let before = ones_complement(bytes);
    let marked = frame.mark_ce();
    let after = ones_complement(frame.bytes());
    // 0 and 0xffff are the same number in ones' complement.
    assert!(
        before % 0xFFFF == after % 0xFFFF,
        "the checksum was {before:x} and is {after:x}"
    );
    let changed: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] != frame.bytes()[i]).collect();
    assert!(
        changed.iter().all(|at| [1, 10, 11].contains(at)),
        "bytes {changed:?} have changed"
    );
    assert!(marked || changed.is_empty());
    let again = Frame::new(frame.into_bytes(), 14, 7).expect("a marked packet is still one");
    assert_eq!(again.flow_hash(), hash, "a mark changes no flow");
}

/// The sum over the header of IPv4; of IPv6, which has none, 0.
fn ones_complement(bytes: &[u8]) -> u32 {
    if bytes[0] >> 4 != 4 {
        return 0;
    }
    let header = &bytes[..usize::from(bytes[0] & 15) * 4];
    let mut sum: u32 = header
        .chunks_exact(2)
        .map(|b| u32::from(u16::from_be_bytes([b[0], b[1]])))
        .sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum
}
