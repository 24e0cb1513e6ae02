//! A record in the form that is stored.

use crate::columns::{Error, split};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a store keeps of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The record without its series, as JSON, with one field more, `stored`: the run's `id` and `build`, the length and the
    /// CRC-32 of the series, and the layout that puts them back into the record.
    pub head: String,
    /// The series, as a Parquet file in long form.
    pub series: Vec<u8>,
    /// The record's summary, as JSON.
    pub summary: String,
}

/// Packs the record of the run that is called `id`, which `build` has made. `directions` holds the direction of each flow.
///
/// # Errors
/// If the record is not a struct of plain data with series.
pub fn pack<'a>(
    record: &impl Serialize,
    summary: &impl Serialize,
    directions: impl Iterator<Item = (&'a str, &'a str)>,
    id: &str,
    build: &str,
) -> Result<Packed, Error> {
    let mut of_name = BTreeMap::from([("up", "up"), ("down", "down")]);
    of_name.extend(directions);
    let parts = split(record)?;
    let (series, layout) = parts.store(&of_name)?;
    let (id, build) = (serde_json::to_string(id)?, serde_json::to_string(build)?);
    let (bytes, crc32) = (series.len(), crc32fast::hash(&series));
    let stored =
        format!("{{\"id\":{id},\"build\":{build},\"bytes\":{bytes},\"crc32\":\"{crc32:08x}\",\"series\":{layout}}}");
    Ok(Packed {
        head: format!("{{{},\"stored\":{stored}}}\n", parts.head),
        series,
        summary: serde_json::to_string(summary)?,
    })
}
