//! Stacks that are written in Python: objects that are agents of the simulator.

use crate::error::param;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sojourn_sim::sojourn_scenario::Step;
use sojourn_sim::sojourn_units::{Duration, Ecn, Rate, Time};
use sojourn_sim::{Agent, Datagram, Opening, Report, Stack};
use sojourn_tcp::cc::Algorithm;
use std::panic::resume_unwind;

/// Stacks of Python, each a tuple: its name, its version, its controls, and what opens a connection.
pub(crate) type Given = Vec<(String, String, Vec<String>, Py<PyAny>)>;

/// The stacks that Python's are in the simulator.
pub(crate) fn stacks(all: Given) -> PyResult<Vec<Stack>> {
    let control = |word: String| {
        let named = Algorithm::ALL.iter().copied().find(|control| control.name() == word);
        named.ok_or_else(|| {
            param(format!(
                "a stack's control is {word:?}, but must be one of `sojourn list`"
            ))
        })
    };
    let one = |(name, version, controls, open): (String, String, Vec<String>, Py<PyAny>)| {
        Ok(Stack {
            name,
            version,
            controls: controls.into_iter().map(control).collect::<PyResult<_>>()?,
            open: Box::new(move |opening: &Opening| {
                Python::attach(|py| {
                    let keys = PyDict::new(py);
                    keys.set_item("seed", opening.seed)?;
                    keys.set_item("control", opening.control.map(Algorithm::name))?;
                    keys.set_item("streams", opening.streams)?;
                    let (opener, other) = open.call(py, (), Some(&keys))?.extract(py)?;
                    Ok((
                        Box::new(PyAgent(opener)) as Box<dyn Agent>,
                        Box::new(PyAgent(other)) as Box<dyn Agent>,
                    ))
                })
                .map_err(|error: PyErr| error.to_string())
            }),
        })
    };
    all.into_iter().map(one).collect()
}

/// An agent whose methods are Python's.
struct PyAgent(Py<PyAny>);

impl PyAgent {
    /// Calls what needs the interpreter. An exception is a panic of the agent, of which the record has the text.
    fn attach<T>(&self, what: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> T {
        Python::attach(|py| what(self.0.bind(py))).unwrap_or_else(|error| resume_unwind(Box::new(error.to_string())))
    }
}

fn time(ns: Option<u64>) -> Option<Time> {
    ns.map(Time::from_nanos)
}

impl Agent for PyAgent {
    fn on_datagram(&mut self, datagram: Datagram, now: Time) {
        self.attach(|agent| {
            let data = PyBytes::new(agent.py(), &datagram.payload);
            agent.call_method1("on_datagram", (data, datagram.ecn.bits(), now.as_nanos()))?;
            Ok(())
        });
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Datagram> {
        self.attach(|agent| {
            let answer = agent.call_method1("poll_transmit", (now.as_nanos(),))?;
            let (data, ecn) = match answer.extract::<Option<Vec<u8>>>() {
                Ok(Some(data)) => (data, 0),
                Ok(None) => return Ok(None),
                Err(_) => answer.extract::<(Vec<u8>, u8)>()?,
            };
            // Longer ones are too long for any path, and the record counts them.
            let data = if data.len() > LONGEST { vec![0; LONGEST] } else { data };
            Ok(Some(Datagram {
                ecn: Ecn::from_bits(ecn),
                ..Datagram::udp(data)
            }))
        })
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        self.attach(|agent| Ok(time(agent.call_method0("poll_timeout")?.extract()?)))
    }

    fn on_timeout(&mut self, now: Time) {
        self.attach(|agent| agent.call_method1("on_timeout", (now.as_nanos(),)).map(|_| ()));
    }

    fn on_application(&mut self, step: Step, now: Time) {
        self.attach(|agent| {
            let words = (step.bytes, step.closes, step.stops, now.as_nanos());
            agent.call_method1("on_application", words).map(|_| ())
        });
    }

    fn report(&self) -> Report {
        self.attach(|agent| {
            let report = agent.call_method0("report")?;
            let number = |key: &str| -> PyResult<Option<u64>> {
                let value = report.get_item(key);
                value.map_or(Ok(None), |value| value.extract())
            };
            let error = report.get_item("error");
            Ok(Report {
                delivered: number("delivered")?.unwrap_or(0),
                window: number("window")?,
                datagram: number("datagram")?.map(|bytes| u16::try_from(bytes).unwrap_or(u16::MAX)),
                in_flight: number("in_flight")?,
                srtt: number("srtt_ns")?.map(Duration::from_nanos),
                pacing_rate: number("pacing_bps")?.map(Rate::from_bps),
                lost: number("lost")?,
                timeouts: number("timeouts")?,
                error: error.map_or(Ok(None), |text| text.extract())?,
            })
        })
    }
}

/// Longest payload of a datagram that the simulator knows of, bytes.
const LONGEST: usize = 65_493;
