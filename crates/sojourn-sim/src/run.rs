//! From a scenario to a record: one run.

mod conversations;
mod flusher;
mod observer;
mod paths;

use crate::agent::AgentSpec;
use crate::places::Places;
use crate::record::{Ended, Record, Simulated};
use crate::simulator::{Added, SimError, Simulator};
use crate::stack::Stacks;
use crate::tap::{Capture, Point, Tap};
use crate::traffic::{Loaded, Site, load};
use crate::view::{Names, View};
use crate::watch::Watch;
use observer::Observer;
use paths::{Ends, Paths};
use sojourn_scenario::{Direction, Scenario, usual_burst};
use sojourn_units::{Bytes, Duration, Rate, Time};

/// How long after the measured window probes may still come home.
const LINGER: Duration = Duration::from_secs(3);
/// And voice: a frame that stands in a queue, however long, is not lost.
const LINGER_VOICE: Duration = Duration::from_secs(600);

/// A run of a scenario that can be advanced in steps, so that its driver can show progress or stop it.
#[derive(Debug)]
pub struct Run {
    scenario: Scenario,
    simulator: Simulator,
    places: Places,
    begin: Time,
    end: Time,
    /// How far somebody who watches has looked.
    observer: Option<Box<Observer>>,
    /// A rate was changed on the way.
    changed: bool,
}

/// What [`Run::advance`] answers.
#[derive(Debug)]
pub enum Progress {
    /// There is more to do; so much of the run is done, 0 to 1.
    Running(f64),
    /// It is over.
    Done,
}

impl Run {
    /// Sets a scenario up.
    ///
    /// # Errors
    /// [`SimError`] if its network cannot be built; a valid scenario's can.
    ///
    /// # Panics
    /// Never: each RTT that is looked up was put in before.
    pub fn new(scenario: Scenario) -> Result<Self, SimError> {
        Self::with_stacks(scenario, Stacks::default())
    }

    /// Sets a scenario up whose flows may name these stacks.
    ///
    /// # Errors
    /// As [`Run::new`], and if a flow names another one, or one does not open a connection.
    pub fn with_stacks(scenario: Scenario, stacks: Stacks<'_>) -> Result<Self, SimError> {
        Self::start(scenario, stacks, None, false)
    }

    /// Sets a scenario up that is watched: [`Run::view`] answers what it looks like. It changes nothing in the record.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn watched(scenario: Scenario) -> Result<Self, SimError> {
        Self::start(scenario, Stacks::default(), None, true)
    }

    /// Sets a scenario up with a capture at these points, which sees all packets from the beginning of the run
    /// (`lead` before the measured window) to the end of the measured window. It changes nothing in the record but
    /// its cost: a bottleneck that nobody looks at has no events of its own.
    ///
    /// # Errors
    /// As [`Run::new`].
    pub fn with_capture(scenario: Scenario, points: &[Point], capture: Box<dyn Capture>) -> Result<Self, SimError> {
        Self::start(scenario, Stacks::default(), Some((points, capture)), false)
    }

    fn start(
        scenario: Scenario,
        stacks: Stacks<'_>,
        tap: Option<(&[Point], Box<dyn Capture>)>,
        watched: bool,
    ) -> Result<Self, SimError> {
        let s = &scenario;
        if tap.is_some() && s.topology.is_some() {
            let sentence = "a capture is made of the path with one bottleneck, but the scenario has a topology: leave one of them out";
            return Err(SimError::NotModelled(sentence.to_owned()));
        }
        let mut paths = Paths::new(s)?;
        let mut simulator = Simulator::new(paths.network().network(), s.seed, s.sample_interval)?;
        if s.tcp.save_metrics {
            paths.remember(s, &mut simulator);
        }
        let begin = Time::ZERO + s.lead;
        let places = Places {
            up: paths.reported.up,
            down: paths.reported.down,
            links: paths.rated(),
            by_ends: paths.bottlenecks_by_ends(),
            stacks: stacks.versions(),
            traffic: add_traffic(s, stacks, &paths, &mut simulator, begin)?,
        };
        let mut watch = Watch::default();
        if let Some(flusher) = &s.flusher {
            watch.flusher = Some(flusher::host(
                s,
                flusher,
                &paths,
                &places.traffic,
                &mut simulator,
                begin,
            )?);
        }
        if let Some((points, capture)) = tap {
            let mut tap = Tap::new(
                points,
                capture,
                &paths.dumbbell,
                s.edge_rate.is_some(),
                s.wifi.is_some(),
            );
            conversations::open_all(s, &places.traffic, &simulator, &mut tap);
            if let Some(host) = &watch.flusher {
                flusher::open_bursts(host, &simulator, &mut tap);
            }
            watch.tap = Some(tap);
        }
        if watch.tap.is_some() || watch.flusher.is_some() {
            simulator.fabric.watch = Some(Box::new(watch));
        }
        let observer = watched.then(|| Box::new(Observer::new(s, &places, &mut simulator)));
        let end = begin + s.duration;
        if begin > Time::ZERO {
            simulator.run_until(begin - Duration::from_nanos(1));
        }
        simulator.begin_window(begin);
        Ok(Self {
            scenario,
            simulator,
            places,
            begin,
            end,
            observer,
            changed: false,
        })
    }

    /// Runs a further tenth of a simulated second, or the rest.
    pub fn advance(&mut self) -> Progress {
        self.advance_by(Duration::from_millis(100))
    }

    /// Runs for a further `step` of simulated time, or the rest. The length of steps changes nothing in the record.
    pub fn advance_by(&mut self, step: Duration) -> Progress {
        if self.simulator.now() >= self.end {
            return Progress::Done;
        }
        let until = (self.simulator.now() + step).min(self.end);
        self.simulator.run_until(until);
        if until < self.end {
            let done = until.since(self.begin).as_secs_f64() / self.scenario.duration.as_secs_f64();
            return Progress::Running(done);
        }
        self.simulator.end_window(self.end);
        Progress::Done
    }

    /// What the run looks like now, and what has come since the last call; `None` if it is not watched.
    pub fn view(&mut self) -> Option<View> {
        let seen = self.observer.as_mut()?;
        Some(seen.look(&self.scenario, &mut self.simulator, &self.places, self.begin, self.end))
    }

    /// A few numbers of a watched run now: packets queued up and down, then the congestion window and the delivered bytes of
    /// each TCP flow. It is cheap, so that they can be had at fixed times.
    #[must_use]
    pub fn sample(&self) -> Vec<f64> {
        let simulator = &self.simulator;
        let air = simulator.standing_in_air();
        let queued = [self.places.up, self.places.down]
            .into_iter()
            .enumerate()
            .map(|(way, link)| {
                let on_wire = simulator.standing(link).map_or(0, |standing| standing.packets);
                (on_wire + air.map_or(0, |both| both[way].packets)) as f64
            });
        let flows = 0..simulator.flows.len();
        let flows = flows.flat_map(|i| {
            let delivered = simulator.receiver(i).receiver().bytes_in_order();
            [f64::from(simulator.sender(i).sender().cwnd()), delivered as f64]
        });
        queued.chain(flows).collect()
    }

    /// The airtime of each station of a cell since the beginning of the run; empty without one.
    #[must_use]
    pub fn airtimes(&self) -> Vec<Duration> {
        self.simulator.airtimes()
    }

    /// The names of what [`Run::view`] numbers.
    #[must_use]
    pub fn names(&self) -> Names {
        observer::names(&self.scenario)
    }

    /// Changes the rate of the bottleneck in one direction from now on. From then on the run is no longer that of its
    /// scenario, and [`Run::is_of_its_scenario`] says so.
    ///
    /// # Errors
    /// [`SimError`] if its token bucket cannot have this rate; then nothing has changed.
    pub fn set_rate(&mut self, direction: Direction, rate: Rate) -> Result<(), SimError> {
        let (link, given) = match direction {
            Direction::Up => (self.places.up, self.scenario.up.burst),
            Direction::Down => (self.places.down, self.scenario.down.burst),
        };
        let frame = Bytes::new(self.scenario.largest_frame());
        self.simulator
            .set_rate(link, rate, given.unwrap_or_else(|| usual_burst(rate, frame)))?;
        if let Some(seen) = &mut self.observer {
            seen.rates[usize::from(direction == Direction::Down)] = rate;
        }
        self.changed = true;
        Ok(())
    }

    /// Whether it went as its scenario says. If not, its record is none of the scenario.
    #[must_use]
    pub const fn is_of_its_scenario(&self) -> bool {
        !self.changed
    }

    /// Its scenario.
    #[must_use]
    pub const fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Why the capture ended early, if it did; told once.
    pub fn capture_error(&mut self) -> Option<std::io::Error> {
        self.simulator.fabric.watch.as_mut()?.tap.as_mut()?.take_error()
    }

    /// What the record is made of.
    fn simulated(&self) -> Simulated<'_> {
        Simulated {
            scenario: &self.scenario,
            simulator: &self.simulator,
            places: &self.places,
            begin: self.begin,
        }
    }

    /// The record of the run, once it is over.
    #[must_use]
    pub fn finish(mut self) -> Record {
        let ended = Ended::of(self.simulated());
        let mut until = self.end;
        let last = self.end + LINGER;
        while self.simulator.awaits_probes() && until < last {
            until = (until + Duration::from_millis(100)).min(last);
            self.simulator.run_until(until);
        }
        let last = self.end + LINGER_VOICE;
        self.simulator.dismiss_probes();
        while self.simulator.awaits_packets() && until < last {
            until = (until + Duration::from_millis(100)).min(last);
            self.simulator.run_until(until);
        }
        ended.record(self.simulated())
    }
}

/// Adds all traffic of a scenario whose measured window begins at `begin`, in the order of [`Scenario::traffic`].
fn add_traffic(
    s: &Scenario,
    stacks: Stacks<'_>,
    paths: &Paths,
    simulator: &mut Simulator,
    begin: Time,
) -> Result<Vec<Added>, SimError> {
    let mut all = Vec::new();
    for one in s.traffic() {
        let (ends, opens) = (Ends::of(s, one), one.opens());
        simulator.set_identity(ends.identity(s.seed, opens));
        let (route, back) = paths.ways(ends, opens);
        let site = Site {
            scenario: s,
            stacks,
            begin,
            route: &route,
            back: &back,
            destination: paths.destination(ends, opens),
            empty_delay: &|size| simulator.empty_delay(&route, size),
        };
        all.push(match load(one, &site)? {
            Loaded::Flow(flow) => simulator.add_flow(*flow)?,
            Loaded::Ends(ends, start) => {
                let spec = AgentSpec {
                    start,
                    ..AgentSpec::new(one.name(), &route, &back)
                };
                simulator.add_ends(&spec, *ends)?
            }
            Loaded::Source(source) => simulator.add_source(one.name(), &route, &back, source)?,
        });
    }
    Ok(all)
}

/// Runs a scenario from beginning to end.
///
/// # Errors
/// As [`Run::new`].
pub fn run(scenario: Scenario) -> Result<Record, SimError> {
    run_with(scenario, Stacks::default())
}

/// Runs a scenario whose flows may name these stacks from beginning to end.
///
/// # Errors
/// As [`Run::with_stacks`].
pub fn run_with(scenario: Scenario, stacks: Stacks<'_>) -> Result<Record, SimError> {
    let mut run = Run::with_stacks(scenario, stacks)?;
    while matches!(run.advance(), Progress::Running(_)) {}
    Ok(run.finish())
}

#[cfg(test)]
mod tests;
