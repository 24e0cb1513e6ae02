//! The links at the edges of the path: infinitely fast, or with a rate, a bucket and a queue.

use crate::error::within;
use crate::link::check_bucket;
use crate::{RATE, ScenarioError, fail};
use sojourn_units::{Bytes, Rate};

/// What a queue at the edges holds if nothing is said, packets.
pub const EDGE_LIMIT: u32 = 1000;
/// Most of them.
const EDGE_LIMIT_MAX: u32 = 1_000_000;

/// Checks the links at the edges; `frame` is the largest frame of the scenario, bytes.
pub(crate) fn check_edges(
    rate: Option<Rate>,
    burst: Option<Bytes>,
    limit: u32,
    frame: u64,
) -> Result<(), ScenarioError> {
    let Some(rate) = rate else {
        if let Some(burst) = burst {
            let rule = "absent without edge_rate: infinitely fast links have no bucket";
            return fail("edge_burst", burst, rule);
        }
        if limit != EDGE_LIMIT {
            let rule = "absent without edge_rate: infinitely fast links have no queue";
            return fail("edge_limit", limit, rule);
        }
        return Ok(());
    };
    within("edge_rate", rate, RATE.0, RATE.1)?;
    if let Some(burst) = burst {
        check_bucket("edge_burst", burst, rate, frame)?;
    }
    if !(1..=EDGE_LIMIT_MAX).contains(&limit) {
        return fail("edge_limit", limit, format!("1 to {EDGE_LIMIT_MAX} packets"));
    }
    Ok(())
}
