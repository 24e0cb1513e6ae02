//! The radios of a cell: the driver's counters and mac80211's, from debugfs, when the measured window begins, at the
//! end of each bin and when it ends.

use crate::agent::actor::Doing;
use crate::agent::observers::bins::Bins;
use crate::agent::plan::job::RadioPlan;
use crate::agent::plan::programs::DEBUGFS;
use crate::agent::{Actor, AgentError, World};
use sojourn_bed::{LoadPlan, Measured, RadioSample, RadioTotals, WifiMeasured};
use std::collections::BTreeMap;

/// The access point's.
const ACCESS_POINT: u64 = 0;

/// The observer of all radios.
#[derive(Debug)]
pub(crate) struct Radio {
    plan: RadioPlan,
    bins: Bins,
    /// Whether the window has begun.
    begun: bool,
    seen: WifiMeasured,
}

impl Radio {
    /// The radios of an access point and of so many stations.
    pub(crate) fn new(plan: &RadioPlan, stations: usize, load: &LoadPlan) -> Self {
        Self {
            plan: plan.clone(),
            bins: Bins::of(load),
            begun: false,
            seen: WifiMeasured {
                airtime_ns: vec![Vec::new(); stations],
                ..WifiMeasured::default()
            },
        }
    }

    fn totals(&self, at_ns: i64) -> Result<RadioTotals, AgentError> {
        let path = format!("{DEBUGFS}/{}", self.plan.stats);
        let text = std::fs::read_to_string(&path).doing(|| format!("cannot read {path}"))?;
        let (links, medium) =
            parse(&text).ok_or_else(|| AgentError::Plan(format!("{path} is no table: {text:.200}")))?;
        Ok(RadioTotals { at_ns, links, medium })
    }

    fn texts(&self) -> BTreeMap<String, String> {
        let read = |(name, path): (&String, &String)| {
            let text = std::fs::read_to_string(format!("{DEBUGFS}/{path}")).ok()?;
            Some((name.clone(), text))
        };
        self.plan.files.iter().filter_map(read).collect()
    }

    fn push_airtimes(&mut self, now: &RadioTotals) {
        for (i, series) in self.seen.airtime_ns.iter_mut().enumerate() {
            let station = 1 + i as u64;
            let both =
                |totals: &RadioTotals| airtime(totals, ACCESS_POINT, station) + airtime(totals, station, ACCESS_POINT);
            series.push(both(now).saturating_sub(both(&self.seen.begin)));
        }
    }
}

fn number(line: &RadioSample, name: &str) -> u64 {
    line.get(name).copied().unwrap_or(0)
}

/// Airtime of all that `tx` has sent to `rx`, ns.
fn airtime(totals: &RadioTotals, tx: u64, rx: u64) -> u64 {
    let lines = totals.links.iter();
    // What is sent to all has no receiver's number.
    let ours = lines.filter(|line| line.get("tx") == Some(&tx) && line.get("rx") == Some(&rx));
    ours.map(|line| number(line, "airtime_ns")).sum()
}

/// The table of links, whose first line has the names, and the line of the medium, in which names and values take
/// turns.
fn parse(text: &str) -> Option<(Vec<RadioSample>, RadioSample)> {
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let names = lines
        .next()
        .filter(|names| names.contains(&"tx") && names.contains(&"rx"))?;
    let mut medium = RadioSample::new();
    let mut links = Vec::new();
    for words in lines {
        if words.first().is_some_and(|word| word.parse::<u64>().is_err()) {
            let words = if words[0] == "medium" { &words[1..] } else { &words[..] };
            let pairs = words.chunks_exact(2);
            medium.extend(pairs.filter_map(|pair| Some((pair[0].to_owned(), pair[1].parse().ok()?))));
            continue;
        }
        let values = words.iter().map(|word| word.parse().ok());
        let found = names.iter().zip(values);
        let mut link: RadioSample = found
            .filter_map(|(name, value)| Some(((*name).to_owned(), value?)))
            .collect();
        if let (Some(us), None) = (link.remove("airtime_us"), link.get("airtime_ns")) {
            link.insert("airtime_ns".into(), us * 1000);
        }
        links.push(link);
    }
    Some((links, medium))
}

impl Actor for Radio {
    fn start(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        world.set_timer(0, 0);
        Ok(())
    }

    fn due(&mut self, _key: u32, world: &mut dyn World) -> Result<(), AgentError> {
        let totals = self.totals(world.now())?;
        if std::mem::replace(&mut self.begun, true) {
            self.push_airtimes(&totals);
        } else {
            self.seen.begin = totals;
            self.seen.text_begin = self.texts();
        }
        self.bins.wait(0, world);
        Ok(())
    }

    fn window_ends(&mut self, world: &mut dyn World) -> Result<(), AgentError> {
        self.seen.end = self.totals(world.now())?;
        self.seen.text_end = self.texts();
        Ok(())
    }

    fn finish(&mut self, measured: &mut Measured) {
        measured.wifi = Some(std::mem::take(&mut self.seen));
    }
}

#[cfg(test)]
mod tests;
