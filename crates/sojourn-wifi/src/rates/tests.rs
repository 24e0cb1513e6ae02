use super::*;
use proptest::prelude::*;

/// Tenths of Mbit/s, rounded, as the tables of the standard print them.
fn tenths(text: &str) -> u64 {
    (PhyRate::parse(text).unwrap().nominal().as_bps() + 50_000) / 100_000
}

fn row(prefix: &str, suffix: &str, mcs: std::ops::Range<u8>) -> Vec<u64> {
    mcs.map(|m| tenths(&format!("{prefix} mcs {m} {suffix}"))).collect()
}

#[test]
fn ht_rates_are_those_of_the_standard() {
    // IEEE 802.11-2020 tables 19-27 to 19-34.
    assert_eq!(row("ht", "20mhz lgi", 0..8), [65, 130, 195, 260, 390, 520, 585, 650]);
    assert_eq!(row("ht", "20mhz sgi", 0..8), [72, 144, 217, 289, 433, 578, 650, 722]);
    assert_eq!(
        row("ht", "20mhz lgi", 8..16),
        [130, 260, 390, 520, 780, 1040, 1170, 1300]
    );
    assert_eq!(
        row("ht", "20mhz sgi", 8..16),
        [144, 289, 433, 578, 867, 1156, 1300, 1444]
    );
    assert_eq!(
        row("ht", "20mhz lgi", 24..32),
        [260, 520, 780, 1040, 1560, 2080, 2340, 2600]
    );
    assert_eq!(
        row("ht", "40mhz lgi", 0..8),
        [135, 270, 405, 540, 810, 1080, 1215, 1350]
    );
    assert_eq!(
        row("ht", "40mhz sgi", 0..8),
        [150, 300, 450, 600, 900, 1200, 1350, 1500]
    );
    assert_eq!(
        row("ht", "40mhz sgi", 16..24),
        [450, 900, 1350, 1800, 2700, 3600, 4050, 4500]
    );
    assert_eq!(
        row("ht", "40mhz lgi", 24..32),
        [540, 1080, 1620, 2160, 3240, 4320, 4860, 5400]
    );
}

#[test]
fn vht_rates_are_those_of_the_standard() {
    // IEEE 802.11-2020 tables 21-30, 21-38, 21-46, 21-47, 21-54 and 21-61.
    assert_eq!(
        row("vht", "20mhz lgi", 0..9),
        [65, 130, 195, 260, 390, 520, 585, 650, 780]
    );
    assert_eq!(
        row("vht", "nss 1 40mhz sgi", 0..10),
        [150, 300, 450, 600, 900, 1200, 1350, 1500, 1800, 2000]
    );
    assert_eq!(
        row("vht", "nss 1 80mhz lgi", 0..10),
        [293, 585, 878, 1170, 1755, 2340, 2633, 2925, 3510, 3900]
    );
    assert_eq!(
        row("vht", "nss 2 80mhz sgi", 0..10),
        [650, 1300, 1950, 2600, 3900, 5200, 5850, 6500, 7800, 8667]
    );
    assert_eq!(
        row("vht", "nss 1 160mhz sgi", 0..10),
        [650, 1300, 1950, 2600, 3900, 5200, 5850, 6500, 7800, 8667]
    );
    assert_eq!(tenths("vht mcs 9 nss 8 160mhz sgi"), 69333);
    assert_eq!(tenths("vht mcs 9 nss 3 20mhz lgi"), 2600);
}

#[test]
fn every_rate_is_bits_per_symbol_by_symbol_time() {
    for rate in PhyRate::all() {
        let modulation = match rate.format() {
            Format::Ofdm => continue,
            Format::Ht => rate.mcs() % 8,
            Format::Vht => rate.mcs(),
        };
        let bits = [0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 4.5, 5.0, 6.0, 20.0 / 3.0][usize::from(modulation)];
        let tones = match rate.width() {
            Width::Mhz20 => 52.0,
            Width::Mhz40 => 108.0,
            Width::Mhz80 => 234.0,
            Width::Mhz160 => 468.0,
        };
        let microseconds = if rate.guard() == Guard::Long { 4.0 } else { 3.6 };
        let exact = tones * bits * f64::from(rate.streams()) / microseconds * 1e6;
        assert!((rate.nominal().as_bps() as f64 - exact).abs() < 1.0, "{rate}");
    }
}

#[test]
fn there_are_as_many_rates_as_the_tables_list() {
    let count = |format| PhyRate::all().filter(|rate| rate.format() == format).count();
    assert_eq!(count(Format::Ofdm), 8);
    assert_eq!(count(Format::Ht), 32 * 2 * 2);
    assert_eq!(count(Format::Vht), (10 * 8 * 4 - 6 - 3 - 1) * 2);
}

#[test]
fn encoders_are_those_of_the_standard() {
    let encoders = |text: &str| PhyRate::parse(text).unwrap().encoders();
    assert_eq!(encoders("ht mcs 15 40mhz sgi"), 1);
    assert_eq!(encoders("ht mcs 20 40mhz"), 1);
    assert_eq!(encoders("ht mcs 21 40mhz"), 2);
    assert_eq!(encoders("ht mcs 28 40mhz"), 2);
    assert_eq!(encoders("vht mcs 9 nss 2 80mhz"), 2);
    assert_eq!(encoders("vht mcs 7 nss 2 80mhz"), 2);
    assert_eq!(encoders("vht mcs 6 nss 2 80mhz"), 1);
    // Tables 21-30 to 21-61: where N_ES is not the rate divided by 600 Mbit/s.
    for (mcs, streams, width, want) in [
        (2, 7, 80, 3),
        (7, 7, 80, 6),
        (8, 7, 80, 6),
        (7, 8, 80, 6),
        (7, 4, 160, 6),
        (8, 5, 160, 8),
        (7, 6, 160, 8),
        (3, 7, 160, 4),
        (4, 7, 160, 6),
        (5, 7, 160, 7),
        (7, 7, 160, 9),
        (8, 7, 160, 12),
        (9, 7, 160, 12),
        (5, 8, 160, 8),
        (9, 8, 160, 12),
    ] {
        let text = format!("vht mcs {mcs} nss {streams} {width}mhz");
        assert_eq!(encoders(&text), want, "{text}");
    }
}

#[test]
fn words_may_stand_in_any_order_and_have_defaults() {
    let canonical = |text| PhyRate::parse(text).unwrap().to_string();
    assert_eq!(canonical("ht mcs 15 20mhz sgi"), "ht mcs 15 20mhz sgi");
    assert_eq!(canonical("ht 40mhz mcs 3"), "ht mcs 3 40mhz lgi");
    assert_eq!(canonical("vht sgi nss 2 80mhz mcs 9"), "vht mcs 9 nss 2 80mhz sgi");
    assert_eq!(canonical("vht mcs 0"), "vht mcs 0 nss 1 20mhz lgi");
    assert_eq!(canonical("ofdm  54mbit"), "ofdm 54mbit");
}

#[test]
fn what_the_standard_lacks_is_refused_with_the_rule() {
    let rule = |text: &str| {
        let error = PhyRate::parse(text).unwrap_err();
        assert_eq!(error.text, text);
        error.rule
    };
    assert_eq!(rule("ht mcs 99"), HT_MCS_RULE);
    assert_eq!(rule("ht mcs 99999"), HT_MCS_RULE);
    assert_eq!(rule("ht mcs 7 80mhz"), HT_WIDTH_RULE);
    assert_eq!(rule("vht mcs 10"), VHT_MCS_RULE);
    assert_eq!(rule("vht mcs 9 nss 9 80mhz"), VHT_NSS_RULE);
    assert_eq!(rule("vht mcs 9 nss 0 80mhz"), VHT_NSS_RULE);
    assert_eq!(rule("vht mcs 9"), VHT_HOLE_RULE);
    assert_eq!(rule("vht mcs 6 nss 3 80mhz"), VHT_HOLE_RULE);
    assert_eq!(rule("vht mcs 9 nss 6 80mhz"), VHT_HOLE_RULE);
    assert_eq!(rule("vht mcs 9 nss 3 160mhz"), VHT_HOLE_RULE);
    assert_eq!(rule("ofdm 11mbit"), OFDM_RULE);
    for text in [
        "",
        "ht",
        "he mcs 1",
        "ht mcs",
        "ht mcs -1",
        "ht mcs +1",
        "ht mcs 1 mcs 1",
        "ht mcs 1 lgi sgi",
        "vht nss 2",
        "ht mcs 1 10mhz",
        "ofdm 54",
        "ofdm 54mbit sgi",
        "ofdm mbit",
    ] {
        assert_eq!(rule(text), GRAMMAR, "{text}");
    }
    assert!(rule("ht mcs 1 nss 2").contains("HT takes no nss"));
}

#[test]
fn every_rate_survives_a_round_trip_through_text() {
    for rate in PhyRate::all() {
        assert_eq!(PhyRate::parse(&rate.to_string()), Ok(rate));
    }
}

proptest! {
    #[test]
    fn any_text_is_a_rate_or_an_error_that_quotes_it(text in "(ht|vht|ofdm|x)( (mcs|nss|sgi|lgi|20mhz|80mhz|[0-9]{1,3}|6mbit)){0,6}") {
        match PhyRate::parse(&text) {
            Ok(rate) => prop_assert_eq!(PhyRate::parse(&rate.to_string()), Ok(rate)),
            Err(error) => prop_assert_eq!(error.text, text),
        }
    }
}
