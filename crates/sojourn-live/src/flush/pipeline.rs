//! From captured frames to decisions: the one way for a file and for a network interface.

use super::clock::Clock;
use super::gate::{Answer, Gate, GateSettings, Watchman};
use super::line::{Detail, FlushLine, Line, What, of_event};
use super::summary::Summary;
use sojourn_flusher::rhythm::HORIZON;
use sojourn_flusher::{Event, FlowView, Flusher, FlusherParams, FlusherStats, ParamError, Reason};
use sojourn_trace::{LinkType, Skipped, segment};
use sojourn_units::Time;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Timeouts handled one by one before a frame: more than there can be, a flow's expiry and a campaign's top-ups each
/// being one.
const TIMEOUTS: usize = 1 << 24;

/// What the pipeline is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineSettings {
    /// Of the core; `events` is switched on in any case.
    pub flusher: FlusherParams,
    /// Of the gate.
    pub gate: GateSettings,
    /// What lines there are.
    pub detail: Detail,
}

/// A burst that the gate let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// The number of the plan, as in its line.
    pub id: u64,
    /// When it was decided, as in its line.
    pub at_ns: u64,
    /// The data receiver.
    pub toward: IpAddr,
    /// How many packets.
    pub packets: u32,
    /// Length of each, IP header included.
    pub size: u32,
}

/// Takes what the pipeline gives.
pub trait World {
    /// A decision, or something that led to one.
    fn line(&mut self, line: &Line);
    /// A burst that may leave. Whoever only reads does nothing here.
    fn burst(&mut self, burst: Burst);
}

/// Frames and their time stamps in, decisions out.
///
/// A function of what it is fed and set to, and of nothing else: it has no clock and no socket, and a burst that it
/// let through counts as sent whatever became of it. What falls due between two frames happens at its own time,
/// before the second: it makes no difference whether [`Self::wake`] was called in between. So a capture file gives
/// the same lines, byte for byte, as the network interface gave that it was written from.
#[derive(Debug)]
pub struct Pipeline {
    core: Flusher,
    settings: PipelineSettings,
    watchman: Watchman,
    clock: Clock,
    frames: u64,
    first_ns: Option<u64>,
    last_ns: u64,
    /// What happened last without a frame.
    woken: Time,
    overtaken: u64,
    skipped: Skipped,
    allowed: u64,
    bytes: u64,
    refused: BTreeMap<&'static str, u64>,
    withheld: Option<What>,
}

impl Pipeline {
    /// With these settings.
    ///
    /// # Errors
    /// [`ParamError`] if the core refuses its parameters.
    pub fn new(settings: PipelineSettings) -> Result<Self, ParamError> {
        Ok(Self {
            core: core(settings.flusher)?,
            watchman: Watchman::new(settings.gate.clone(), settings.flusher.method),
            settings,
            clock: Clock::default(),
            frames: 0,
            first_ns: None,
            last_ns: 0,
            woken: Time::ZERO,
            overtaken: 0,
            skipped: Skipped::default(),
            allowed: 0,
            bytes: 0,
            refused: BTreeMap::new(),
            withheld: None,
        })
    }

    /// Takes other settings. If the core's parameters change it begins anew (`true`): it knows no flow then. What was
    /// spent of the budget stays spent in any case.
    ///
    /// # Errors
    /// [`ParamError`] if the core refuses its parameters; then nothing has changed.
    pub fn set(&mut self, settings: PipelineSettings) -> Result<bool, ParamError> {
        let anew = settings.flusher != self.settings.flusher;
        if anew {
            self.core = core(settings.flusher)?;
            self.watchman.begin_anew(settings.flusher.method);
        }
        self.watchman.gate.set(settings.gate.clone());
        self.settings = settings;
        Ok(anew)
    }

    /// Switches flushing off, or on again.
    pub fn set_killed(&mut self, killed: bool) {
        self.watchman.gate.set_killed(killed);
    }

    /// The gate, for those who show it.
    #[must_use]
    pub const fn gate(&self) -> &Gate {
        &self.watchman.gate
    }

    /// The flows, in order of their addresses.
    pub fn flows(&self) -> impl Iterator<Item = FlowView> {
        self.core.flows()
    }

    /// The core's counters.
    #[must_use]
    pub fn stats(&self) -> FlusherStats {
        self.core.stats()
    }

    /// A frame of `wire` bytes, captured at `at_ns` nanoseconds after 1970, of which `bytes` were kept.
    pub fn frame(&mut self, link: LinkType, at_ns: u64, wire: u32, bytes: &[u8], world: &mut impl World) {
        self.frames += 1;
        self.first_ns.get_or_insert(at_ns);
        self.last_ns = at_ns;
        let now = self.clock.at(at_ns);
        self.overtaken += u64::from(now < self.woken);
        self.woken = Time::ZERO;
        self.pass_time(now, world);
        self.core.handle_timeout(now);
        self.answer(now, world);
        match segment(link, bytes, wire) {
            Ok(segment) => {
                self.core.handle_segment(&segment, now);
                self.answer(now, world);
            }
            Err(reason) => self.skipped.count(reason),
        }
    }

    /// Counts frames that the reader of a capture passed over. It is called behind the last frame.
    pub fn pass_over(&mut self, skipped: Skipped) {
        self.frames += skipped.total();
        self.skipped.add(skipped);
    }

    /// The stamp at which something falls due, if it is to happen without a frame.
    #[must_use]
    pub fn due_ns(&self) -> Option<u64> {
        let due = self.core.poll_timeout()?;
        (self.frames > 0 && due <= self.horizon()).then(|| self.clock.stamp(due))
    }

    /// Does what falls due by `at_ns`, as the clock of the stamps has it. A frame that was stamped before then and
    /// comes later is handled as of now, and counted by [`Self::overtaken`].
    pub fn wake(&mut self, at_ns: u64, world: &mut impl World) {
        let until = self.clock.ahead(at_ns).min(self.horizon());
        if self.frames > 0
            && let Some(last) = self.pass_time(until, world)
        {
            self.woken = last;
        }
    }

    /// No more frames will come: does what was to happen without one.
    pub fn finish(&mut self, world: &mut impl World) {
        self.wake(u64::MAX, world);
    }

    /// Frames that came after what was due later than they had happened.
    #[must_use]
    pub const fn overtaken(&self) -> u64 {
        self.overtaken
    }

    fn horizon(&self) -> Time {
        self.clock.now() + HORIZON
    }

    /// What happened so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::new(
            self.frames,
            self.first_ns.map(|first| (first, self.last_ns)),
            self.skipped,
            self.clock.steps(),
            self.core.stats(),
            (self.allowed, self.bytes, self.refused.clone()),
        )
    }

    /// Timeouts that fall due by then, each at its own time; answers when the last one did.
    fn pass_time(&mut self, until: Time, world: &mut impl World) -> Option<Time> {
        let mut last = None;
        for _ in 0..TIMEOUTS {
            let Some(due) = self.core.poll_timeout().filter(|due| *due <= until) else {
                break;
            };
            self.core.handle_timeout(due);
            self.answer(due, world);
            last = Some(due);
        }
        last
    }

    /// Takes what the core has to tell and to propose at `at`.
    fn answer(&mut self, at: Time, world: &mut impl World) {
        loop {
            while let Some(event) = self.core.poll_event() {
                self.event(&event, world);
            }
            let Some(plan) = self.core.poll_flush() else { return };
            let answer = self.watchman.judge(&plan, at, at);
            match answer {
                Answer::Allowed => {
                    self.allowed += 1;
                    self.bytes += u64::from(plan.packets) * plan.size.get();
                    self.core.flush_done(plan.id, plan.packets, at);
                    world.burst(Burst {
                        id: plan.id.0,
                        at_ns: self.clock.stamp(at),
                        toward: plan.toward,
                        packets: plan.packets,
                        // The gate lets no longer packets through than IP has.
                        size: plan.size.get() as u32,
                    });
                }
                Answer::Refused { because, .. } => {
                    *self.refused.entry(because.name()).or_default() += 1;
                    self.core.flush_refused(plan.id, at);
                }
            }
            if !matches!(plan.reason, Reason::TopUp { .. }) {
                self.withheld = None;
            }
            world.line(&Line {
                at_ns: self.clock.stamp(at),
                what: What::Flush(Box::new(FlushLine::new(&plan, answer))),
            });
        }
    }

    fn event(&mut self, event: &Event, world: &mut impl World) {
        self.watchman.event(event);
        let Some((at, what)) = of_event(event) else { return };
        if what.detail() > self.settings.detail {
            return;
        }
        if matches!(what, What::Withheld { .. }) {
            if self.withheld.as_ref() == Some(&what) {
                return;
            }
            self.withheld = Some(what.clone());
        }
        let at_ns = self.clock.stamp(at);
        world.line(&Line { at_ns, what });
    }
}

fn core(params: FlusherParams) -> Result<Flusher, ParamError> {
    Flusher::new(FlusherParams { events: true, ..params })
}
