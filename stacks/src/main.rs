//! Transports of others as flows of Sojourn's scenarios: `sojourn run bulk --stack quinn`.

#[cfg(feature = "quiche")]
mod clock;
mod noq;
#[cfg(feature = "quiche")]
mod quiche;
mod quinn;
mod random;
mod tls;

use sojourn_sim::sojourn_tcp::cc::Algorithm;
use sojourn_sim::stack::Ends;
use sojourn_sim::{Opening, Stack};
use std::process::ExitCode;

/// What cargo has locked, of which the versions are read.
const LOCK: &str = include_str!("../Cargo.lock");

/// A stack that is made of this crate.
fn stack(name: &str, of: &str, controls: Vec<Algorithm>, open: fn(&Opening) -> Result<Ends, String>) -> Stack {
    let entry = format!("name = \"{of}\"\nversion = \"");
    let version = LOCK.split_once(&entry).and_then(|(_, rest)| rest.split('"').next());
    Stack {
        name: name.to_owned(),
        version: format!("{of} {}", version.unwrap_or("of a version that is not known")),
        controls,
        open: Box::new(open),
    }
}

fn main() -> ExitCode {
    sojourn_stack::program(&[
        quinn::stack(),
        noq::stack(),
        #[cfg(feature = "quiche")]
        quiche::stack(),
    ])
}
