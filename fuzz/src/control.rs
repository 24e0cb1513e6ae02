//! What a client of the control socket asks a running bottleneck to change.

use crate::is_a_sentence;
use sojourn_live::bottleneck::settings::{Change, Settings, Share, default_burst};
use sojourn_qdisc::QdiscSpec;
use sojourn_units::{Bytes, Duration, Rate};
use std::sync::LazyLock;

const LARGEST: Bytes = Bytes::new(1514);

static BEGIN: LazyLock<Settings> = LazyLock::new(|| Settings {
    rate: Rate::from_mbit(10),
    burst: default_burst(1500, 14),
    qdisc: QdiscSpec::parse("pfifo limit 10", None).expect("a discipline"),
    delay: Duration::ZERO,
    loss: Share::default(),
});

/// Lines of keys and values, one change after the other.
///
/// # Panics
/// If settings come of it that their own check refuses, or a refusal is no sentence.
pub fn control(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut settings = BEGIN.clone();
    for line in text.lines() {
        let Some((key, value)) = line.trim().split_once(' ') else {
            continue;
        };
        let change = Change::new(key, value.trim());
        assert!(change.directions.contains(&true));
        assert!(key.ends_with(&change.field));
        match settings.changed(&change.field, &change.value, LARGEST) {
            Ok(changed) => {
                changed.check(LARGEST).expect("what was accepted is sound");
                assert!(
                    changed.burst >= LARGEST && changed.rate.as_bps() > 0 && changed.delay <= Duration::from_secs(60)
                );
                let differ = [
                    changed.rate != settings.rate,
                    changed.burst != settings.burst,
                    changed.qdisc != settings.qdisc,
                    changed.delay != settings.delay,
                    changed.loss != settings.loss,
                ];
                assert!(
                    differ.iter().filter(|differ| **differ).count() <= 1,
                    "more than one field changed"
                );
                settings = changed;
            }
            Err(sentence) => is_a_sentence(&sentence),
        }
    }
}
