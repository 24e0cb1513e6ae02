use super::*;
use proptest::prelude::*;

#[test]
fn an_ethernet_frame_of_1514_bytes_is_an_mpdu_of_1538() {
    assert_eq!(mpdu(Bytes::new(1514)), Bytes::new(1500 + 8 + 26 + 4));
    assert_eq!(mpdu(Bytes::new(0)), Bytes::new(38));
}

#[test]
fn a_single_frame_has_a_delimiter_in_vht_only() {
    let psdu = |text| PhyRate::parse(text).unwrap().single(Bytes::new(1538)).get();
    assert_eq!(psdu("ht mcs 0"), 1538);
    assert_eq!(psdu("ofdm 54mbit"), 1538);
    assert_eq!(psdu("vht mcs 0"), 1542);
}

proptest! {
    /// The sum over all subframes, written the other way round: all padded, less the padding of the last.
    #[test]
    fn the_length_is_the_padded_sum_less_the_last_padding(mpdus in prop::collection::vec(38u64..2_400, 1..64)) {
        let mut length = AmpduLength::default();
        for &size in &mpdus {
            let told = length.with(Bytes::new(size));
            length.push(Bytes::new(size));
            prop_assert_eq!(length.bytes(), told);
        }
        let pad = |n: u64| (4 - n % 4) % 4;
        let all: u64 = mpdus.iter().map(|&n| 4 + n + pad(n)).sum();
        prop_assert_eq!(length.bytes().get(), all - pad(*mpdus.last().unwrap()));
        prop_assert_eq!(usize::from(length.mpdus()), mpdus.len());
    }
}
