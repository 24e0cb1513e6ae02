//! One end of a conversation of agents on the network: it calls the agent, drives its application, and counts.

use super::{Agent, Report};
use crate::source::{Context, Packet, Source};
use sojourn_scenario::{Application, UDP_FRAME, UDP_PAYLOAD};
use sojourn_units::{Duration, Ecn, Time};
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Most datagrams that an agent may send at one instant, and most timers of its that may go off at one.
const AT_ONCE: u32 = 100_000;
const TIMERS_AT_ONCE: u32 = 1_000;

/// One end of a conversation of agents.
pub(crate) struct AgentEnd {
    agent: Box<dyn Agent>,
    start: Time,
    /// That of a scenario; else whoever made the agent drives it, and is told of its faults by a panic.
    flow: Option<FlowEnd>,
    /// When the agent's timer goes off.
    timer: Option<Time>,
    /// The instant of the last call, and how many datagrams and timers were at it.
    instant: (Time, u32, u32),
}

/// What an end has that is of a flow of a scenario.
#[derive(Debug, Default)]
struct FlowEnd {
    /// Of the end that opens the connection.
    application: Option<Writer>,
    /// What it sends is not ECN-capable.
    not_ect: bool,
    counts: EndCounts,
    /// What the agent had delivered when the measured window began, and the most that it has said: one that has failed says
    /// nothing more.
    before: u64,
    most: u64,
    failure: Option<String>,
}

/// The application of an end.
#[derive(Debug)]
struct Writer {
    application: Application,
    made: u64,
    due: Option<Time>,
}

/// What was seen of an end.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndCounts {
    /// Datagrams that it sent, and those that were too long for the path, which were not sent.
    pub(crate) sent: u64,
    pub(crate) too_long: u64,
    /// At the end of each bin: payload delivered in the measured window, and the window in datagrams.
    pub(crate) delivered: Vec<u64>,
    pub(crate) window: Vec<u32>,
    /// Of the bins in the measured window that had some: the sum of windows and of smoothed round-trip times, and how many.
    pub(crate) windows: (f64, u64),
    pub(crate) srtts: (f64, u64),
    measures: bool,
}

impl fmt::Debug for AgentEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentEnd")
            .field("start", &self.start)
            .field("flow", &self.flow)
            .finish_non_exhaustive()
    }
}

impl AgentEnd {
    pub(crate) fn new(agent: impl Agent, start: Time) -> Self {
        Self {
            agent: Box::new(agent),
            start,
            timer: Some(start),
            flow: None,
            instant: (Time::ZERO, 0, 0),
        }
    }

    /// The ends of a flow that starts at `start`. What goes wrong in them ends the conversation, and is told by the record.
    pub(crate) fn of_flow(
        (opener, other): (Box<dyn Agent>, Box<dyn Agent>),
        start: Time,
        application: Application,
        not_ect: bool,
    ) -> [Self; 2] {
        let writer = Writer {
            application,
            made: 0,
            due: Some(start),
        };
        [(opener, Some(writer)), (other, None)].map(|(agent, application)| Self {
            agent,
            start,
            timer: Some(start),
            flow: Some(FlowEnd {
                application,
                not_ect,
                ..FlowEnd::default()
            }),
            instant: (Time::ZERO, 0, 0),
        })
    }

    /// The agent, if it is of this type.
    pub(crate) fn agent<A: Agent>(&self) -> Option<&A> {
        let agent: &dyn Any = &*self.agent;
        agent.downcast_ref()
    }

    /// What the agent knows of itself, or why it has failed.
    pub(crate) fn report(&self) -> Report {
        let Some(flow) = &self.flow else {
            return self.agent.report();
        };
        let known = match &flow.failure {
            Some(failure) => Err(failure.clone()),
            None => catch_unwind(AssertUnwindSafe(|| self.agent.report())).map_err(|panic| sentence(&*panic)),
        };
        known.unwrap_or_else(|error| Report {
            error: Some(error),
            ..Report::default()
        })
    }

    /// What was seen of it; nothing of one that is no flow of a scenario.
    pub(crate) fn counts(&self) -> EndCounts {
        self.flow.as_ref().map(|flow| flow.counts.clone()).unwrap_or_default()
    }

    /// Payload that it has delivered in the measured window so far.
    pub(crate) fn delivered(&self) -> u64 {
        let (before, most) = self.flow.as_ref().map_or((0, 0), |flow| (flow.before, flow.most));
        self.report().delivered.max(most).saturating_sub(before)
    }

    /// Ends the conversation: nothing more is asked of this agent.
    fn fail(&mut self, sentence: String) {
        match &mut self.flow {
            Some(flow) => flow.failure = Some(sentence),
            None => panic!("{sentence}"),
        }
    }

    /// Calls the agent, unless it has failed. One of a scenario that panics has failed.
    fn call<T: Default>(&mut self, what: impl FnOnce(&mut dyn Agent) -> T) -> T {
        let Some(flow) = &mut self.flow else {
            return what(&mut *self.agent);
        };
        if flow.failure.is_some() {
            return T::default();
        }
        let agent = &mut *self.agent;
        catch_unwind(AssertUnwindSafe(|| what(agent))).unwrap_or_else(|panic| {
            flow.failure = Some(sentence(&*panic));
            T::default()
        })
    }

    /// The application does what is due, and says when it is due again.
    fn write(&mut self, now: Time) {
        let Some(flow) = &mut self.flow else { return };
        let Some(writer) = &mut flow.application else { return };
        if writer.due.is_none_or(|due| due > now) {
            return;
        }
        let step = writer
            .application
            .step(writer.made, u64::from(UDP_PAYLOAD), now.since(self.start));
        writer.made += step.bytes.unwrap_or(0);
        writer.due = step.again.map(|again| self.start + again);
        self.call(|agent| agent.on_application(step, now));
    }

    /// Sends everything that the agent wants to send, and sets its timer.
    fn pump(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        while let Some(mut datagram) = self.call(|agent| agent.poll_transmit(now)) {
            if self.instant.1 == AT_ONCE {
                self.fail(format!(
                    "it sent {AT_ONCE} datagrams at {now}, and wants to send more at the same instant"
                ));
                break;
            }
            self.instant.1 += 1;
            if let Some(flow) = &mut self.flow {
                // As a socket with the don't-fragment bit refuses them.
                if datagram.size > UDP_FRAME {
                    flow.counts.too_long += 1;
                    continue;
                }
                flow.counts.sent += 1;
                if flow.not_ect {
                    datagram.ecn = Ecn::NotEct;
                }
            }
            context.send_datagram(datagram);
        }
        self.timer = self.call(<dyn Agent>::poll_timeout);
        let due = self.flow.as_ref().and_then(|flow| flow.application.as_ref()?.due);
        context.wake(self.timer.into_iter().chain(due).min());
    }

    /// A call at `now` follows; counts begin anew at each instant.
    fn at(&mut self, now: Time) {
        if self.instant.0 != now {
            self.instant = (now, 0, 0);
        }
    }
}

/// That an agent has failed, and with which words if it left some.
fn sentence(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("it failed: {}", text.unwrap_or("it left no word"))
}

impl Source for AgentEnd {
    fn start(&self) -> Time {
        self.start
    }

    /// The agent starts, its timer goes off, or its application is due.
    ///
    /// # Panics
    /// If it asks for timers that are due again at once without end, and is no flow of a scenario.
    fn on_wake(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        self.at(now);
        self.write(now);
        if self.timer.is_some_and(|at| at <= now) {
            self.call(|agent| agent.on_timeout(now));
        }
        self.pump(context);
        self.instant.2 += 1;
        if self.instant.2 >= TIMERS_AT_ONCE && context.due().is_some_and(|at| at <= now) {
            self.fail(format!(
                "an agent asks for a timer at {now}, which has just gone off: Agent::poll_timeout must answer a later time"
            ));
            context.wake(None);
        }
    }

    fn on_packet(&mut self, packet: &Packet, _: bool, context: &mut Context<'_>) {
        let (datagram, now) = (context.take_datagram(packet), context.now());
        self.at(now);
        self.call(|agent| agent.on_datagram(datagram, now));
        self.pump(context);
    }

    fn begin_window(&mut self) {
        let delivered = self.report().delivered;
        if let Some(flow) = &mut self.flow {
            (flow.before, flow.most) = (delivered, delivered);
            flow.counts.measures = true;
        }
    }

    fn on_sample(&mut self) {
        let report = self.report();
        let Some(flow) = &mut self.flow else { return };
        flow.most = flow.most.max(report.delivered);
        let counts = &mut flow.counts;
        counts.delivered.push(flow.most.saturating_sub(flow.before));
        let datagrams = report.window.zip(report.datagram);
        let window = datagrams.map(|(window, datagram)| window as f64 / f64::from(datagram.max(1)));
        counts.window.push(window.map_or(0, |window| window.round() as u32));
        for (sums, value) in [
            (&mut counts.windows, window),
            (&mut counts.srtts, report.srtt.map(Duration::as_millis_f64)),
        ] {
            if let Some(value) = value.filter(|_| counts.measures) {
                *sums = (sums.0 + value, sums.1 + 1);
            }
        }
    }
}
