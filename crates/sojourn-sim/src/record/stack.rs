//! What the record has of a flow that somebody else's transport carried.

use schemars::JsonSchema;
use serde::Serialize;

/// Whose transport carried a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct StackRecord {
    /// Its name.
    pub name: String,
    /// The version of what it is made of.
    pub version: String,
    /// Datagrams that either end wanted to send and that were too long for the path: they were not sent.
    pub too_long: u64,
    /// Packets that its sender took for lost; `None` if it does not tell, and `retransmissions` is then 0.
    #[schemars(extend("x-null" = true))]
    pub lost: Option<u64>,
}
