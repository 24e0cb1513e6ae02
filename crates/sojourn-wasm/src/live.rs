//! A run under way.

use crate::read;
use crate::snapshot::Snapshot;
use sojourn_scenario::Direction;
use sojourn_sim::{Progress, Run};
use sojourn_units::{Duration, Rate};
use wasm_bindgen::prelude::wasm_bindgen;

/// The lowest and the highest rate of a bottleneck, bit/s: those of a scenario.
const RATES: std::ops::RangeInclusive<f64> = 1_000.0..=100e9;

/// A run under way. The caller says how far it goes, and has the clock.
#[derive(Debug)]
#[wasm_bindgen]
pub struct Live {
    /// `None` once its record was taken.
    run: Option<Run>,
    over: bool,
}

#[wasm_bindgen]
impl Live {
    /// Sets a scenario up. If it is `watched`, [`Live::look`] answers what it looks like.
    ///
    /// # Errors
    /// A sentence that names field, value and rule.
    #[wasm_bindgen(constructor)]
    pub fn new(scenario_json: &str, watched: bool) -> Result<Self, String> {
        let scenario = read(scenario_json)?;
        let run = if watched {
            Run::watched(scenario)
        } else {
            Run::new(scenario)
        };
        Ok(Self {
            run: Some(run.map_err(|error| error.to_string())?),
            over: false,
        })
    }

    fn run(&mut self) -> Result<&mut Run, String> {
        self.run
            .as_mut()
            .ok_or_else(|| "the record of this run was taken already".to_owned())
    }

    /// Runs for so many further seconds of simulated time, or to the end. Answers the share of the run that is done, 0 to 1.
    ///
    /// # Errors
    /// A sentence for a number of seconds that is none, or less than 0.
    pub fn advance(&mut self, seconds: f64) -> Result<f64, String> {
        if !(0.0..=86_400.0).contains(&seconds) {
            return Err(format!("seconds is {seconds}, but must be from 0 to 86400"));
        }
        // Rounded, so that a time that a view has told is met to the nanosecond.
        match self
            .run()?
            .advance_by(Duration::from_nanos((seconds * 1e9).round() as u64))
        {
            Progress::Running(done) => Ok(done),
            Progress::Done => {
                self.over = true;
                Ok(1.0)
            }
        }
    }

    /// What the run looks like now, and what has come since the last look.
    ///
    /// # Errors
    /// A sentence if the run is not watched.
    pub fn look(&mut self) -> Result<Snapshot, String> {
        let view = self.run()?.view().ok_or("the run is not watched")?;
        Ok(Snapshot { view })
    }

    /// Packets queued up and down, then the congestion window (segments) and the delivered bytes of each TCP flow.
    ///
    /// # Errors
    /// A sentence if the record was taken.
    pub fn sample(&mut self) -> Result<Vec<f64>, String> {
        Ok(self.run()?.sample())
    }

    /// The airtime of each station of a cell since the beginning of the run, s; empty without one.
    ///
    /// # Errors
    /// A sentence if the record was taken.
    pub fn airtimes(&mut self) -> Result<Vec<f64>, String> {
        Ok(self.run()?.airtimes().into_iter().map(Duration::as_secs_f64).collect())
    }

    /// The names of what is seen, as a JSON object with `names`, `flows`, `stations`, `normalized` and `durationS`.
    ///
    /// # Errors
    /// A sentence if the record was taken.
    pub fn opened(&mut self) -> Result<String, String> {
        let run = self.run()?;
        let names = run.names();
        let opened = serde_json::json!({
            "names": names.all,
            "flows": names.flows,
            "stations": names.stations,
            "normalized": run.scenario().to_value(),
            "durationS": run.scenario().duration.as_secs_f64(),
        });
        Ok(opened.to_string())
    }

    /// Changes the rate of the bottleneck in one direction (`up` or `down`) from now on.
    ///
    /// # Errors
    /// A sentence that names field, value and rule.
    #[wasm_bindgen(js_name = setRate)]
    pub fn set_rate(&mut self, direction: &str, bits_per_second: f64) -> Result<(), String> {
        let known = Direction::ALL.into_iter().find(|known| known.name() == direction);
        let rule = "must be up or down";
        let direction = known.ok_or_else(|| format!("direction is {direction:?}, but {rule}"))?;
        if !RATES.contains(&bits_per_second) {
            let (low, high) = (RATES.start(), RATES.end());
            return Err(format!(
                "rate is {bits_per_second}, but must be from {low} to {high} bit/s"
            ));
        }
        let rate = Rate::from_bps(bits_per_second as u64);
        self.run()?.set_rate(direction, rate).map_err(|error| error.to_string())
    }

    /// The record, as `sojourn run FILE --json` prints it, once the run is over. `wall_s` and `memory_mb` are what the run
    /// cost as the caller has measured it; only they are not the same in each run of the scenario.
    ///
    /// # Errors
    /// A sentence if the run is not over, or went otherwise than its scenario says.
    pub fn record(&mut self, wall_s: f64, memory_mb: f64) -> Result<String, String> {
        let over = self.over;
        if !self.run()?.is_of_its_scenario() {
            return Err("a rate was changed while the run went on, so it has no record of its scenario".to_owned());
        }
        if !over {
            return Err("the run is not over, so it has no record yet".to_owned());
        }
        let run = self.run.take().ok_or("the record of this run was taken already")?;
        let mut record = run.finish();
        record.cost.wall_s = wall_s;
        record.cost.peak_rss_mb = memory_mb;
        Ok(record.to_json())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"{"duration": "3s", "up": "2mbit", "down": "5mbit", "qdisc_up": "codel", "qdisc_down": "pfifo",
        "flows": [{"name": "a", "direction": "down"}, {"name": "b", "direction": "up"}],
        "probes": [{"name": "ping", "kind": "icmp", "interval": "100ms"}], "seed": 7}"#;

    fn whole(scenario: &str) -> String {
        let scenario = read(scenario).unwrap();
        sojourn_sim::run(scenario).unwrap().to_json()
    }

    #[test]
    fn a_watched_run_has_the_record_of_one_that_is_not() {
        let mut live = Live::new(SCENARIO, true).unwrap();
        assert_eq!(live.sample().unwrap().len(), 6);
        let mut seen = 0;
        let (mut came, mut left) = (0, 0);
        while live.advance(0.0371).unwrap() < 1.0 {
            let look = live.look().unwrap();
            let queue = look.down();
            assert_eq!(queue.flows().len(), queue.sizes().len());
            assert_eq!(queue.packets() as usize, queue.flows().len());
            assert_eq!(queue.stood().len(), queue.flows().len());
            let kinds: Vec<f64> = queue.passages().chunks(4).map(|four| four[2]).collect();
            came += kinds.iter().filter(|&&kind| kind == 0.0).count();
            left += kinds.iter().filter(|&&kind| kind > 0.0).count();
            assert_eq!(came - left, queue.flows().len());
            seen = seen.max(queue.flows().len());
        }
        assert!(seen > 20, "a FIFO fills, but no more than {seen} packets were seen");
        assert_eq!(live.record(0.0, 0.0).unwrap(), whole(SCENARIO));
        let again = live.record(0.0, 0.0).unwrap_err();
        assert_eq!(again, "the record of this run was taken already");
    }

    #[test]
    fn a_rate_that_changes_is_followed_and_leaves_no_record() {
        let mut live = Live::new(SCENARIO, true).unwrap();
        live.advance(1.0).unwrap();
        let before = live.look().unwrap().delivered()[0];
        live.set_rate("down", 500_000.0).unwrap();
        live.advance(2.0).unwrap();
        let look = live.look().unwrap();
        let mbit = (look.delivered()[0] - before) * 8.0 / 1e6 / 2.0;
        assert!((0.3..0.5).contains(&mbit), "0.5 Mbit/s carry {mbit} Mbit/s of payload");
        assert!((look.down().rate() - 500_000.0).abs() < 0.5);
        let refused = live.record(0.0, 0.0).unwrap_err();
        assert!(refused.contains("a rate was changed"), "{refused}");
    }

    #[test]
    fn what_cannot_be_done_is_answered_with_a_sentence() {
        let bad = Live::new(r#"{"duration": "-1s"}"#, true).unwrap_err();
        assert!(bad.starts_with("duration"), "{bad}");
        let mut live = Live::new(SCENARIO, false).unwrap();
        assert_eq!(
            live.advance(f64::NAN).unwrap_err(),
            "seconds is NaN, but must be from 0 to 86400"
        );
        assert_eq!(
            live.record(0.0, 0.0).unwrap_err(),
            "the run is not over, so it has no record yet"
        );
        assert_eq!(live.look().unwrap_err(), "the run is not watched");
        assert_eq!(
            live.set_rate("left", 1e6).unwrap_err(),
            "direction is \"left\", but must be up or down"
        );
        let rate = live.set_rate("up", 1.0).unwrap_err();
        assert!(rate.starts_with("rate is 1, but must be from 1000"), "{rate}");
    }
}
