//! Transports of others as flows of a scenario, those that misbehave among them.

use sojourn_scenario::Step;
use sojourn_sim::record::FlowRecord;
use sojourn_sim::{Agent, Datagram, Opening, Report, Scenario, Stack, Stacks, run_with};
use sojourn_units::{Duration, Time};
use std::sync::{Arc, Mutex};

/// An end that does as it is told: what it sends is `size` bytes, a datagram each `gap`.
#[derive(Clone, Default)]
struct Odd {
    size: usize,
    gap: Duration,
    due: Option<Time>,
    /// Datagrams that it may send now.
    now: u64,
    fault: Fault,
    received: u64,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    Panics,
    NeverStops,
    PastTimer,
    BadReport,
    Late,
}

impl Agent for Odd {
    fn on_datagram(&mut self, datagram: Datagram, _: Time) {
        self.received += datagram.payload.len() as u64;
    }

    fn poll_transmit(&mut self, _: Time) -> Option<Datagram> {
        if self.fault != Fault::NeverStops {
            self.now = self.now.checked_sub(1)?;
        }
        Some(Datagram::udp(vec![0; self.size]))
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        if self.fault == Fault::PastTimer {
            Some(Time::ZERO)
        } else {
            self.due
        }
    }

    fn on_timeout(&mut self, now: Time) {
        assert!(
            self.fault != Fault::Panics || now < Time::from_millis(500),
            "out of order"
        );
        assert!(self.fault != Fault::Late || now < Time::from_millis(1500), "at last");
        if self.gap > Duration::ZERO {
            (self.now, self.due) = (self.now + 1, Some(now + self.gap));
        }
    }

    fn report(&self) -> Report {
        assert!(self.fault != Fault::BadReport, "no answer");
        Report {
            delivered: self.received,
            window: Some(3000),
            datagram: Some(1500),
            lost: (self.gap > Duration::ZERO).then_some(7),
            ..Report::default()
        }
    }
}

/// The flow of a run of two seconds with this end and one that only reads.
fn flow(sender: Odd, keys: &str) -> FlowRecord {
    let stack = Stack {
        name: "odd".to_owned(),
        version: "odd 1".to_owned(),
        controls: vec![],
        open: Box::new(move |_: &Opening| Ok((Box::new(sender.clone()), Box::new(Odd::default())))),
    };
    let text = format!(
        r#"{{"duration": "2s", "lead": "0s", "start_jitter": "0s", "flows": [{{"name": "a", "direction": "up", "stack": "odd"{keys}}}]}}"#
    );
    let scenario = Scenario::from_json(&text).expect("a scenario");
    let record = run_with(scenario, Stacks(&[stack])).expect("it runs");
    record.flows.into_iter().next().expect("a flow")
}

fn each_10_ms(size: usize) -> Odd {
    Odd {
        size,
        gap: Duration::from_millis(10),
        ..Odd::default()
    }
}

#[test]
fn a_flow_of_a_stack_is_in_the_record() {
    let flow = flow(each_10_ms(1000), "");
    // One each 10 ms from 0 to 2 s. Those of the last half round trip, 25 ms and 0.8 ms on the link, are under way.
    assert_eq!((flow.kind, flow.segments_sent, flow.retransmissions), ("stack", 201, 7));
    assert!(
        (flow.goodput_mbit - 198.0 * 8000.0 / 2e6).abs() < 0.005,
        "{}",
        flow.goodput_mbit
    );
    assert_eq!(flow.mean_cwnd_segments, Some(2.0));
    let stack = flow.stack.expect("of a stack");
    assert_eq!(
        (stack.name.as_str(), stack.version.as_str(), stack.too_long),
        ("odd", "odd 1", 0)
    );
    assert_eq!(flow.error, None);
}

#[test]
fn what_goes_wrong_is_told_by_the_flow() {
    let with = |fault: Fault| Odd {
        fault,
        ..each_10_ms(1000)
    };
    for (sender, error) in [
        (with(Fault::Panics), "it failed: out of order"),
        (with(Fault::BadReport), "it failed: no answer"),
        // What it said before it failed is kept.
        (with(Fault::Late), "it failed: at last"),
        (
            with(Fault::NeverStops),
            "it sent 100000 datagrams at 0.000000000s, and wants to send more at the same instant",
        ),
        (
            with(Fault::PastTimer),
            "an agent asks for a timer at 0.000000000s, which has just gone off: Agent::poll_timeout must answer a later time",
        ),
        (Odd::default(), "it sent nothing"),
        (
            each_10_ms(65_493),
            "nothing of what it sent was read: 0 datagrams were sent, and 201 were too long for the path",
        ),
        (
            each_10_ms(0),
            "nothing of what it sent was read: 201 datagrams were sent, and 0 were too long for the path",
        ),
    ] {
        let flow = flow(sender, "");
        assert_eq!(flow.error.as_deref(), Some(error));
    }
}

/// What an application has made: bytes, and whether these are the last.
type Made = Arc<Mutex<Vec<(Option<u64>, bool)>>>;

/// An end that tells what its application makes.
struct Tells(Odd, Made);

impl Agent for Tells {
    fn on_datagram(&mut self, datagram: Datagram, now: Time) {
        self.0.on_datagram(datagram, now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        self.0.poll_transmit(now)
    }

    fn on_application(&mut self, step: Step, _: Time) {
        self.1.lock().expect("one thread").push((step.bytes, step.closes));
    }
}

#[test]
fn its_application_is_that_of_any_flow() {
    // 1 Mbit/s in pieces of 1472 bytes, until all 4000 are made; the end of each is told by `Step`.
    let sender = each_10_ms(1000);
    let made = Made::default();
    let told = made.clone();
    let stack = Stack {
        name: "tells".to_owned(),
        version: String::new(),
        controls: vec![],
        open: Box::new(move |_: &Opening| {
            Ok((Box::new(Tells(sender.clone(), told.clone())), Box::new(Odd::default())))
        }),
    };
    let text = r#"{"duration": "1s", "flows":
        [{"name": "a", "direction": "down", "stack": "tells", "rate": "1mbit", "bytes": 4000, "start": "100ms"}]}"#;
    run_with(Scenario::from_json(text).expect("a scenario"), Stacks(&[stack])).expect("it runs");
    let made = made.lock().expect("one thread").clone();
    assert_eq!(made, [(Some(1472), false), (Some(1472), false), (Some(1056), true)]);
}

#[test]
fn what_a_stack_has_not_is_refused() {
    let refuses = |keys: &str| {
        let text =
            format!(r#"{{"duration": "1s", "flows": [{{"name": "a", "direction": "up", "stack": "odd"{keys}}}]}}"#);
        Scenario::from_json(&text).expect_err("refused").to_string()
    };
    for (keys, sentence) in [
        (
            r#", "kind": "tcp""#,
            "flows[0].kind is given, but must be absent with a stack",
        ),
        (
            r#", "protocol": "udp", "rate": "1mbit""#,
            "flows[0].protocol is given, but must be absent with a stack",
        ),
        (r#", "streams": 0"#, "flows[0].streams is 0, but must be 1 to 1000"),
        (
            r#", "ecn": true"#,
            "flows[0].ecn is given, but must be false or absent with a stack, which decides for itself",
        ),
    ] {
        assert_eq!(refuses(keys), sentence);
    }
    let text = r#"{"duration": "1s", "flows": [{"name": "a", "direction": "up", "streams": 2}]}"#;
    let error = Scenario::from_json(text).expect_err("refused").to_string();
    assert_eq!(error, "flows[0].streams is 2, but must be absent without a stack");
    let text = r#"{"duration": "1s", "flows": [{"name": "a", "direction": "up", "stack": "odd"}]}"#;
    let error = sojourn_sim::run(Scenario::from_json(text).expect("a scenario")).expect_err("no stacks");
    assert_eq!(
        error.to_string(),
        r#"flow "a": stack is "odd", but this program has none"#
    );
}
