//! What the agent of a bed writes, and the host reads: records of frames, and what was measured.

use sojourn_bed::{Measured, Watched};

/// Records of 24 bytes; what begins with a brace is read as what was measured.
///
/// # Panics
/// If what was read is written otherwise.
pub fn records(data: &[u8]) {
    if data.first() == Some(&b'{') {
        if let Ok(measured) = serde_json::from_slice::<Measured>(data) {
            let text = serde_json::to_string(&measured).expect("JSON");
            // A number that is none (1e999) cannot be written.
            if let Ok(again) = serde_json::from_str::<Measured>(&text) {
                assert_eq!(serde_json::to_string(&again).expect("JSON"), text);
            }
        }
        return;
    }
    let (records, _) = data.as_chunks::<{ Watched::SIZE }>();
    for bytes in records {
        if let Ok(record) = Watched::from_bytes(bytes) {
            assert_eq!(record.to_bytes(), *bytes, "{record:?}");
        }
    }
}
