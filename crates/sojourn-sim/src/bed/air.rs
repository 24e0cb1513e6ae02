//! The record of a cell whose radios a bed saw.
//!
//! What the radios counted is the driver's: bursts, MPDUs, airtime, what was delivered and given up. What the queues
//! above them did is mac80211's `aqm`. Neither tells how long a packet waited in a queue, so there are no such times.

use super::error::{MeasuredError, fail};
use crate::record::numbers::{mbit, mean};
use crate::record::wifi::with_shares;
use crate::record::{WifiRecord, WifiStationRecord, WifiTidRecord, WifiWayRecord};
use sojourn_bed::{RadioSample, RadioTotals, WifiMeasured};
use sojourn_qdisc::DropReason;
use sojourn_scenario::Scenario;
use sojourn_units::Bytes;
use sojourn_wifi::AccessCategory;
use std::collections::BTreeMap;

/// The header of an Ethernet frame, whose MPDU is longer by as much as that of any frame.
const ETHERNET: Bytes = Bytes::new(14);
/// The radio of the access point; stations have the numbers after it.
const ACCESS_POINT: u64 = 0;

/// The record of the cell; `None` for a scenario without one.
///
/// # Errors
/// [`MeasuredError`] where the scenario has a cell and the measurement none, or the other way round; and for counters
/// that fall.
pub(super) fn record(s: &Scenario, seen: Option<&WifiMeasured>) -> Result<Option<WifiRecord>, MeasuredError> {
    let (cell, seen) = match (&s.wifi, seen) {
        (None, None) => return Ok(None),
        (Some(wifi), Some(seen)) => (&wifi.cell, seen),
        (wifi, _) => {
            let (is, rule) = if wifi.is_some() {
                ("absent", "given")
            } else {
                ("given", "absent")
            };
            return fail("wifi of the measurement", is, format!("{rule}, as in the scenario"));
        }
    };
    if seen.airtime_ns.len() != cell.stations.len() || seen.airtime_ns.iter().any(|one| one.len() != s.whole_bins()) {
        let rule = format!("{} for each of {} stations", s.whole_bins(), cell.stations.len());
        return fail("number of samples of airtime_ns", seen.airtime_ns.len(), rule);
    }
    for one in &seen.airtime_ns {
        if let Some((before, after)) = one
            .iter()
            .zip(one.iter().skip(1))
            .find(|(before, after)| after < before)
        {
            return fail(
                "airtime_ns",
                format!("{after} after {before}"),
                "a sum, which only rises",
            );
        }
    }
    let air = Air { seen };
    let stations = (0..cell.stations.len())
        .map(|i| station(s, &air, i))
        .collect::<Result<Vec<_>, _>>()?;
    let medium = |name: &str| air.medium(name);
    let bursts = stations
        .iter()
        .map(|one| one.down.aggregates + one.up.aggregates)
        .sum::<u64>();
    let collided = stations
        .iter()
        .map(|one| one.down.collisions + one.up.collisions)
        .sum::<u64>();
    let collisions = medium("collisions")?;
    Ok(Some(with_shares(WifiRecord {
        scheme: cell.access_point.scheme.name(),
        busy: medium("busy_us")? as f64 / 1e6 / s.duration.as_secs_f64(),
        transmissions: bursts.saturating_sub(collided) + collisions,
        collisions,
        jain_airtime: None,
        stations,
    })))
}

/// The counters of a cell over the measured window.
struct Air<'a> {
    seen: &'a WifiMeasured,
}

impl Air<'_> {
    /// By how much a counter of all lines from `tx` to `rx` rose.
    fn rose(&self, tx: u64, rx: u64, name: &str) -> Result<u64, MeasuredError> {
        let sum = |totals: &RadioTotals| -> u64 {
            let number = |line: &RadioSample, name: &str| line.get(name).copied().unwrap_or(0);
            let lines = totals.links.iter();
            // What is sent to all has no receiver's number.
            let ours = lines.filter(|line| line.get("tx") == Some(&tx) && line.get("rx") == Some(&rx));
            ours.map(|line| number(line, name)).sum()
        };
        risen(name, sum(&self.seen.begin), sum(&self.seen.end))
    }

    fn medium(&self, name: &str) -> Result<u64, MeasuredError> {
        let of = |totals: &RadioTotals| totals.medium.get(name).copied().unwrap_or(0);
        risen(name, of(&self.seen.begin), of(&self.seen.end))
    }

    /// Airtime from `tx` to `rx`, ms.
    fn airtime_ms(&self, tx: u64, rx: u64) -> Result<f64, MeasuredError> {
        let ns = self.rose(tx, rx, "airtime_ns")?;
        Ok(ns as f64 / 1e6)
    }

    /// The lines of the file `aqm` of a direction and station, as differences, by traffic identifier.
    fn tids(&self, direction: &'static str, station: &str) -> Result<Vec<WifiTidRecord>, MeasuredError> {
        let file = format!("{direction}/{station}/aqm");
        let table = |text: &BTreeMap<String, String>| text.get(&file).map(|text| aqm(text)).unwrap_or_default();
        let before = table(&self.seen.text_begin);
        let mut tids = Vec::new();
        for (tid, line) in table(&self.seen.text_end) {
            let rise = |name: &str| {
                let old = before.get(&tid).and_then(|line| line.get(name)).copied().unwrap_or(0);
                risen(&format!("{name} of {file}"), old, line.get(name).copied().unwrap_or(0))
            };
            let one = WifiTidRecord {
                tid,
                direction,
                packets: rise("tx-packets")?,
                bytes: rise("tx-bytes")?,
                drops: rise("drops")?,
                marks: rise("marks")?,
                overflows: rise("overlimit")?,
                collisions: rise("collisions")?,
                new_flows: rise("new-flows")?,
            };
            if one.packets + one.drops + one.overflows > 0 {
                tids.push(one);
            }
        }
        Ok(tids)
    }
}

fn risen(name: &str, before: u64, after: u64) -> Result<u64, MeasuredError> {
    match after.checked_sub(before) {
        Some(rise) => Ok(rise),
        None => fail(
            format!("{name} of the cell"),
            format!("{after} after {before}"),
            "a counter, which only rises",
        ),
    }
}

/// The lines of `aqm` by traffic identifier; those of management frames (16) are left out. Numbers that the file has
/// in another form are, too.
fn aqm(text: &str) -> BTreeMap<u8, RadioSample> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let mut table = BTreeMap::new();
    for line in lines {
        let values = line.split_whitespace().map(str::parse::<u64>);
        let found = names.iter().zip(values);
        let row: RadioSample = found
            .filter_map(|(name, value)| Some(((*name).to_owned(), value.ok()?)))
            .collect();
        if let Some(tid) = row
            .get("tid")
            .and_then(|&tid| u8::try_from(tid).ok())
            .filter(|&tid| tid < 8)
        {
            table.insert(tid, row);
        }
    }
    table
}

/// The airtime that a station may still use, us: the line `Deficit: VO: 1 us VI: 2 us BE: 3 us BK: 4 us` of its file
/// `airtime`.
fn deficits(text: &str) -> Option<BTreeMap<&'static str, i64>> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Deficit:"))?;
    let words: Vec<&str> = line.split_whitespace().collect();
    let of = |category: AccessCategory| {
        let name = format!("{}:", category.name().to_uppercase());
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse().ok().map(|us| (category.name(), us))
    };
    AccessCategory::ALL.into_iter().map(of).collect()
}

fn station(s: &Scenario, air: &Air<'_>, i: usize) -> Result<WifiStationRecord, MeasuredError> {
    let spec = &s.wifi.as_ref().expect("the caller has looked").cell.stations[i];
    let radio = 1 + i as u64;
    let (down, up) = (air.tids("down", &spec.name)?, air.tids("up", &spec.name)?);
    let airtime = air.seen.text_end.get(&format!("down/{}/airtime", spec.name));
    Ok(WifiStationRecord {
        name: spec.name.clone(),
        rate_mbit: spec.rate.nominal().as_bps() as f64 / 1e6,
        weight: spec.weight,
        adapted_weight: None,
        group: None,
        deficit_us: airtime.and_then(|text| deficits(text)),
        voice_in_aggregates: None,
        demoted: None,
        airtime_share: None,
        airtime_tx_ms: air.airtime_ms(ACCESS_POINT, radio)?,
        airtime_rx_ms: air.airtime_ms(radio, ACCESS_POINT)?,
        airtime_sent_ms: None,
        down: way(s, air, ACCESS_POINT, radio, &down)?,
        up: way(s, air, radio, ACCESS_POINT, &up)?,
        latency: None,
        tids: down.into_iter().chain(up).collect(),
    })
}

fn way(s: &Scenario, air: &Air<'_>, tx: u64, rx: u64, tids: &[WifiTidRecord]) -> Result<WifiWayRecord, MeasuredError> {
    let rose = |name: &str| air.rose(tx, rx, name);
    let (bursts, mpdus, packets) = (rose("bursts")?, rose("mpdus")?, rose("delivered")?);
    // The driver counts MPDUs; a packet counts as an Ethernet frame.
    let bytes = rose("bytes")?.saturating_sub(packets * (sojourn_wifi::mpdu(ETHERNET).get() - ETHERNET.get()));
    let of = |count: fn(&WifiTidRecord) -> u64| tids.iter().map(count).sum::<u64>();
    let drops = [
        (DropReason::QueueLimit, of(|t| t.overflows)),
        (DropReason::Congestion, of(|t| t.drops)),
        (DropReason::RetryLimit, rose("dropped")?),
    ];
    Ok(WifiWayRecord {
        packets,
        bytes,
        throughput_mbit: mbit(bytes, s.duration),
        aggregates: bursts,
        aggregate_frames: mean(mpdus as f64, bursts),
        aggregate_bytes: None,
        collisions: rose("collisions")?,
        transmissions: mpdus,
        retries: rose("retried")?,
        drops: drops
            .into_iter()
            .map(|(reason, count)| (reason.name(), count))
            .collect(),
        marks: of(|t| t.marks),
        queue_ms: None,
        hardware_ms: None,
    })
}

#[cfg(test)]
mod tests;
