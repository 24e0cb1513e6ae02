//! Stacks: transports of others by their names, as a program has them that runs scenarios.

use crate::agent::Agent;
use sojourn_tcp::cc::Algorithm;
use std::collections::BTreeMap;
use std::fmt;

/// What a stack is told when it opens a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Whatever is random in it comes from this.
    pub seed: u64,
    /// Its congestion control, one of [`Stack::controls`]; `None` for its own default.
    pub control: Option<Algorithm>,
    /// Over how many streams its application sends.
    pub streams: u16,
}

/// Both ends of a connection: that which opens it and sends, and that which reads.
pub type Ends = (Box<dyn Agent>, Box<dyn Agent>);

/// A transport of somebody else.
pub struct Stack {
    /// As `stack` of a flow names it.
    pub name: String,
    /// The version of what it is made of, as the record has it.
    pub version: String,
    /// The congestion controls that it can be told to use.
    pub controls: Vec<Algorithm>,
    /// Opens a connection. What it answers instead of one is a sentence of a refusal.
    pub open: Open,
}

/// As [`Stack::open`].
pub type Open = Box<dyn Fn(&Opening) -> Result<Ends, String> + Send + Sync>;

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

/// The stacks of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stacks<'a>(pub &'a [Stack]);

impl Stacks<'_> {
    /// The stack of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Stack> {
        self.0.iter().find(|stack| stack.name == name)
    }

    /// The version of each, by name.
    pub(crate) fn versions(&self) -> BTreeMap<String, String> {
        self.0
            .iter()
            .map(|stack| (stack.name.clone(), stack.version.clone()))
            .collect()
    }

    /// Opens a connection of the stack that flow `flow` names; else answers why there is none, as a sentence.
    ///
    /// # Errors
    /// A sentence, if there is no such stack, if it has no such control, or if it refuses.
    pub fn open(&self, flow: &str, name: &str, opening: &Opening) -> Result<Ends, String> {
        let Some(stack) = self.find(name) else {
            let all: Vec<&str> = self.0.iter().map(|stack| stack.name.as_str()).collect();
            let has = if all.is_empty() {
                "none".to_owned()
            } else {
                all.join(", ")
            };
            return Err(format!("flow {flow:?}: stack is {name:?}, but this program has {has}"));
        };
        if let Some(control) = opening.control
            && !stack.controls.contains(&control)
        {
            let all: Vec<&str> = stack.controls.iter().map(|control| control.name()).collect();
            return Err(format!(
                "flow {flow:?}: congestion_control is {:?}, but {name} has {}",
                control.name(),
                if all.is_empty() {
                    "none to choose".to_owned()
                } else {
                    all.join(", ")
                }
            ));
        }
        (stack.open)(opening).map_err(|why| format!("flow {flow:?}: stack {name}: {why}"))
    }
}
