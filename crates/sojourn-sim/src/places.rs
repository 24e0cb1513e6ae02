//! Where the traffic of a scenario is in a network: the links and routes that its record reports.

use crate::network::LinkId;
use crate::simulator::Added;
use std::collections::BTreeMap;

/// The slowest links, up and down, between the nodes of a topology.
pub(crate) type BottlenecksByEnds = BTreeMap<[String; 2], [LinkId; 2]>;

/// The links and routes of a simulated scenario.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// The upstream bottleneck; of a topology, the link that the record reports as such.
    pub(crate) up: LinkId,
    /// The downstream bottleneck.
    pub(crate) down: LinkId,
    /// All traffic, in the order of [`sojourn_scenario::Scenario::traffic`].
    pub(crate) traffic: Vec<Added>,
    /// All links of a topology that have a rate, by name.
    pub(crate) links: Vec<(String, LinkId)>,
    pub(crate) by_ends: BottlenecksByEnds,
    /// The versions of the stacks that there are, by name.
    pub(crate) stacks: BTreeMap<String, String>,
}
