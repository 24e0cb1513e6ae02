use crate::{Factor, FlusherParams, Samples};
use sojourn_units::Duration;

fn read(text: &str) -> Result<FlusherParams, String> {
    serde_json::from_str(text).map_err(|e| e.to_string())
}

#[test]
fn a_preset_is_read_by_its_name() {
    assert_eq!(read("\"as_written\""), Ok(FlusherParams::AS_WRITTEN));
    assert_eq!(read("\"as_described\""), Ok(FlusherParams::AS_DESCRIBED));
    assert_eq!(read("\"adaptive\""), Ok(FlusherParams::ADAPTIVE));
    assert!(
        read("\"aggressive\"").unwrap_err().starts_with(
            "flusher.preset is \"aggressive\", but must be \"as_written\", \"as_described\" or \"adaptive\""
        )
    );
}

#[test]
fn a_table_changes_single_fields_of_a_preset() {
    let params =
        read(r#"{"preset": "as_described", "threshold": 1.5, "forced_after": "off", "floor": "20ms"}"#).unwrap();
    let expected = FlusherParams {
        threshold: Factor::from_thousandths(1500),
        forced_after: None,
        floor: Duration::from_millis(20),
        ..FlusherParams::AS_DESCRIBED
    };
    assert_eq!(params, expected);
    assert_eq!(read("{}"), Ok(FlusherParams::ADAPTIVE));
}

/// A text with every parameter names the method; before there were small packets it had none.
#[test]
fn a_text_from_before_small_packets_means_what_it_did() {
    assert_eq!(
        read(r#"{"preset": "adaptive", "threshold": 1.5}"#)
            .unwrap()
            .small_packet
            .map(sojourn_units::Bytes::get),
        Some(64)
    );
    for text in [
        r#"{"method": "adaptive"}"#,
        r#"{"preset": "adaptive", "small_packet": "off"}"#,
        "\"as_described\"",
    ] {
        let params = read(text).unwrap();
        assert_eq!(params.small_packet, None, "{text}");
        assert!(!serde_json::to_string(&params).unwrap().contains("small"), "{text}");
    }
}

/// So does one from before the maxima were those of smoothed values: what it says of the thesis's text is what was
/// run.
#[test]
fn a_text_from_before_smoothed_maxima_means_what_it_did() {
    let new = serde_json::to_value(FlusherParams::AS_DESCRIBED).unwrap();
    assert_eq!(
        (&new["largest_rtt"], &new["throughput_weight"]),
        (&"smoothed".into(), &1.into())
    );
    let mut old = new;
    for name in ["largest_rtt", "throughput_weight"] {
        old.as_object_mut().unwrap().remove(name);
    }
    let params = read(&old.to_string()).unwrap();
    let expected = FlusherParams {
        largest_rtt: Samples::Raw,
        throughput_weight: 8,
        ..FlusherParams::AS_DESCRIBED
    };
    assert_eq!(params, expected);
    assert_eq!(serde_json::to_value(params).unwrap(), old);
    for preset in [FlusherParams::ADAPTIVE, FlusherParams::AS_WRITTEN] {
        let text = serde_json::to_string(&preset).unwrap();
        assert!(
            ["largest_rtt", "throughput_weight", "sample_of"]
                .iter()
                .all(|name| !text.contains(name)),
            "{text}"
        );
    }
}

#[test]
fn what_is_written_is_what_is_read() {
    for name in FlusherParams::PRESETS {
        let params = FlusherParams::named(name).unwrap();
        assert_eq!(params.validate(), Ok(()), "{name}");
        assert_eq!(read(&serde_json::to_string(&params).unwrap()), Ok(params), "{name}");
        assert_eq!(toml::from_str(&toml::to_string(&params).unwrap()), Ok(params), "{name}");
    }
}

#[test]
fn unknown_fields_and_unreadable_values_are_refused() {
    assert!(
        read(r#"{"treshold": 1.5}"#)
            .unwrap_err()
            .starts_with("unknown field `treshold`")
    );
    assert!(
        read(r#"{"floor": "fifty"}"#)
            .unwrap_err()
            .starts_with("flusher.floor is \"fifty\", but must be a time in tc's spelling, such as \"50ms\"")
    );
    assert!(read(r#"{"threshold": 1.70001}"#).unwrap_err().starts_with(
        "flusher.threshold is 1.70001, but must be a number of at most three decimals, from 0 to 1000000"
    ));
    assert!(
        read(r#"{"threshold": -1}"#)
            .unwrap_err()
            .contains("flusher.threshold is -1")
    );
}

#[test]
fn each_parameter_out_of_its_range_is_named_with_value_and_rule() {
    let refused = |text: &str| read(text).unwrap().validate().unwrap_err().to_string();
    assert_eq!(
        refused(r#"{"threshold": 1}"#),
        "flusher.threshold is 1, but must be from 1.001 to 100"
    );
    assert_eq!(
        refused(r#"{"rtt_weight": 9}"#),
        "flusher.rtt_weight is 9, but must be from 1 to 8"
    );
    assert_eq!(
        refused(r#"{"preset": "as_written", "window_time": "100ms"}"#),
        "flusher.window_time is 100ms, but must be off unless test is filled_window"
    );
    assert_eq!(
        refused(r#"{"window_samples": 0}"#),
        "flusher.window_samples is 0, but must be from 1 to 1000"
    );
    assert_eq!(
        refused(r#"{"duty": 0}"#),
        "flusher.duty is 0, but must be from 0.001 to 1"
    );
    assert_eq!(
        refused(r#"{"forced_after": "1ms"}"#),
        "flusher.forced_after is 1ms, but must be from 1s to 86400s"
    );
    assert_eq!(
        refused(r#"{"small_packet": 20}"#),
        "flusher.small_packet is 20b, but must be from 48b to 65535b"
    );
    assert_eq!(
        refused(r#"{"packet": 20}"#),
        "flusher.packet is 20b, but must be from 48b to 65535b"
    );
}
