//! Networks in which links and routes have names.
//!
//! A [`Topology`] is any network: nodes, links with a rate, a discipline and a delay, and routes as lists of links.
//! The [`dumbbell()`] is the short form of the one that most scenarios use.

mod dumbbell;
#[cfg(test)]
mod tests;

pub use dumbbell::{Dumbbell, DumbbellSpec, Path, Way, dumbbell};

use crate::network::{CellId, EgressSpec, Hop, LinkId, LinkSpec, Network, NetworkError, NodeId};
use sojourn_units::Duration;
use sojourn_wifi::CellSpec;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// A link by the names of its ends: infinitely fast, without delay and impairment unless the fields say otherwise.
#[derive(Clone, Debug, Default)]
pub struct NamedLink {
    /// Its own name.
    pub name: String,
    /// The node where it begins.
    pub from: String,
    /// The node where it ends.
    pub to: String,
    /// See [`LinkSpec::egress`].
    pub egress: Option<EgressSpec>,
    /// See [`LinkSpec::delay`].
    pub delay: Duration,
    /// See [`LinkSpec::tick`].
    pub tick: Duration,
    /// See [`Network::lead_through`].
    pub hop: Option<Hop>,
}

impl NamedLink {
    /// A link that is infinitely fast and has no delay.
    #[must_use]
    pub fn new(name: &str, from: &str, to: &str) -> Self {
        Self {
            name: name.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            ..Self::default()
        }
    }
}

/// A topology that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyError {
    /// A name that something else of its kind has.
    #[error("two {kind}s have the name {name:?}, but each {kind} must have a name of its own")]
    SameName {
        /// `node`, `link` or `route`.
        kind: &'static str,
        /// Their name.
        name: String,
    },
    /// A link to or from nowhere.
    #[error("link {link:?} has node {node:?} as an end, but there is no node of that name")]
    UnknownNode {
        /// The link.
        link: String,
        /// The name of no node.
        node: String,
    },
    /// A link from a node to itself.
    #[error("link {link:?} begins and ends at node {node:?}, but must lead to another one")]
    Loop {
        /// The link.
        link: String,
        /// The node.
        node: String,
    },
    /// A link with two ways to be crossed.
    #[error("link {link:?} has a rate and leads through a cell, but must have at most one of the two")]
    RateInTheAir {
        /// The link.
        link: String,
    },
    /// A link through a cell that is not there.
    #[error("link {link:?} leads through a cell that the topology does not have")]
    UnknownCell {
        /// The link.
        link: String,
    },
    /// A route over a link that is not there.
    #[error("route {route:?} has link {link:?}, but there is no link of that name")]
    UnknownLink {
        /// The route.
        route: String,
        /// The name of no link.
        link: String,
    },
    /// A route that leads nowhere.
    #[error("route {route:?} has no links, but must have at least one")]
    Empty {
        /// The route.
        route: String,
    },
    /// A route with a gap.
    #[error(
        "route {route:?} goes on from node {at:?} by link {link:?}, which begins at node {from:?}, but the links of a \
         route must follow each other"
    )]
    Gap {
        /// The route.
        route: String,
        /// Where the links before it end.
        at: String,
        /// The link that does not follow.
        link: String,
        /// Where that begins.
        from: String,
    },
    /// A route that comes back: a link knows one next link for each route.
    #[error("route {route:?} has link {link:?} twice, but must have each link at most once")]
    Twice {
        /// The route.
        route: String,
        /// The link.
        link: String,
    },
    /// A route that takes no time, or more than can be numbered.
    #[error(transparent)]
    Network(#[from] NetworkError),
}

/// A network whose links and routes are found by name.
///
/// ```
/// use sojourn_sim::topology::{NamedLink, Topology};
/// use sojourn_units::Duration;
///
/// let slow = NamedLink { delay: Duration::from_millis(5), ..NamedLink::new("ab", "a", "b") };
/// let topology = Topology::builder()
///     .node("a")
///     .node("b")
///     .link(slow.clone())
///     .route("there", ["ab"])
///     .build()?;
/// assert_eq!(topology.route("there"), Some(&[topology.link("ab").unwrap()][..]));
///
/// let error = Topology::builder().node("a").link(slow).build().unwrap_err();
/// assert_eq!(error.to_string(), r#"link "ab" has node "b" as an end, but there is no node of that name"#);
/// # Ok::<(), sojourn_sim::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Topology {
    network: Network,
    links: BTreeMap<String, LinkId>,
    routes: BTreeMap<String, Vec<LinkId>>,
}

impl Topology {
    /// The description of an empty one.
    #[must_use]
    pub fn builder() -> TopologyBuilder {
        TopologyBuilder::default()
    }

    /// What a simulation is made of.
    #[must_use]
    pub const fn network(&self) -> &Network {
        &self.network
    }

    /// The link of this name.
    #[must_use]
    pub fn link(&self, name: &str) -> Option<LinkId> {
        self.links.get(name).copied()
    }

    /// The links of the route of this name, in order.
    #[must_use]
    pub fn route(&self, name: &str) -> Option<&[LinkId]> {
        self.routes.get(name).map(Vec::as_slice)
    }

    /// The names of all links, and the links.
    pub fn links(&self) -> impl Iterator<Item = (&str, LinkId)> {
        self.links.iter().map(|(name, id)| (name.as_str(), *id))
    }

    /// The names of all routes, and their links.
    pub fn routes(&self) -> impl Iterator<Item = (&str, &[LinkId])> {
        self.routes
            .iter()
            .map(|(name, links)| (name.as_str(), links.as_slice()))
    }
}

/// The description of a [`Topology`]. Nothing is checked before [`TopologyBuilder::build`].
#[derive(Clone, Debug, Default)]
pub struct TopologyBuilder {
    nodes: Vec<String>,
    cells: Vec<CellSpec>,
    links: Vec<NamedLink>,
    routes: Vec<(String, Vec<String>)>,
}

impl TopologyBuilder {
    /// With one more node.
    pub fn node(&mut self, name: &str) -> &mut Self {
        self.nodes.push(name.to_owned());
        self
    }

    /// With one more link. The order of links decides which random stream a discipline draws from.
    pub fn link(&mut self, link: NamedLink) -> &mut Self {
        self.links.push(link);
        self
    }

    /// With one more route over these links.
    pub fn route<'a>(&mut self, name: &str, links: impl IntoIterator<Item = &'a str>) -> &mut Self {
        let links = links.into_iter().map(str::to_owned).collect();
        self.routes.push((name.to_owned(), links));
        self
    }

    /// With one more cell, for the hops of links. Cells are numbered from 0 in the order of adding.
    pub fn cell(&mut self, cell: CellSpec) -> &mut Self {
        self.cells.push(cell);
        self
    }

    /// The topology. The builder is empty then.
    ///
    /// # Errors
    /// [`TopologyError`] for names that are unknown or not unique, a route that is no path, and what cannot be
    /// simulated.
    pub fn build(&mut self) -> Result<Topology, TopologyError> {
        let Self {
            nodes: names,
            cells,
            links: described,
            routes: lists,
        } = std::mem::take(self);
        let mut network = Network::default();
        most("nodes", names.len())?;
        let mut nodes = BTreeMap::new();
        for name in &names {
            let id = network.add_node(name);
            unique("node", name, nodes.insert(name.as_str(), id))?;
        }
        let cells: Vec<CellId> = cells.into_iter().map(|cell| network.add_cell(cell)).collect();
        most("links", described.len())?;
        let mut links = BTreeMap::new();
        for link in described {
            let name = link.name.clone();
            let id = add_link(&mut network, &nodes, &cells, link)?;
            unique("link", &name, links.insert(name.clone(), id))?;
        }
        let mut routes = BTreeMap::new();
        for (name, names) in lists {
            let route = path(&network, &links, &name, &names)?;
            unique("route", &name, routes.insert(name.clone(), route))?;
        }
        Ok(Topology { network, links, routes })
    }
}

/// Refuses more nodes or links than can be numbered.
fn most(what: &'static str, count: usize) -> Result<(), TopologyError> {
    let limit = usize::from(u16::MAX) - 1;
    if count > limit {
        return Err(NetworkError::TooMany { what, count, limit }.into());
    }
    Ok(())
}

/// Refuses a name that stood for something before.
fn unique<T>(kind: &'static str, name: &str, before: Option<T>) -> Result<(), TopologyError> {
    let name = name.to_owned();
    before.map_or(Ok(()), |_| Err(TopologyError::SameName { kind, name }))
}

/// Adds a link between nodes that are there.
fn add_link(
    network: &mut Network,
    nodes: &BTreeMap<&str, NodeId>,
    cells: &[CellId],
    link: NamedLink,
) -> Result<LinkId, TopologyError> {
    let end = |node: &str| {
        let (link, name) = (link.name.clone(), node.to_owned());
        let found = nodes.get(node).copied();
        found.ok_or(TopologyError::UnknownNode { link, node: name })
    };
    let (from, to) = (end(&link.from)?, end(&link.to)?);
    let (name, node) = (link.name, link.from);
    if from == to {
        return Err(TopologyError::Loop { link: name, node });
    }
    if link.hop.is_some() && link.egress.is_some() {
        return Err(TopologyError::RateInTheAir { link: name });
    }
    if link.hop.is_some_and(|hop| !cells.contains(&hop.cell)) {
        return Err(TopologyError::UnknownCell { link: name });
    }
    let id = network.add_link(LinkSpec {
        from,
        to,
        egress: link.egress,
        delay: link.delay,
        tick: link.tick,
    });
    if let Some(hop) = link.hop {
        network.lead_through(id, hop);
    }
    Ok(id)
}

/// The links of route `route`, each of which begins where the one before it ends.
fn path(
    network: &Network,
    links: &BTreeMap<String, LinkId>,
    route: &str,
    names: &[String],
) -> Result<Vec<LinkId>, TopologyError> {
    let route = route.to_owned();
    if names.is_empty() {
        return Err(TopologyError::Empty { route });
    }
    let mut path = Vec::with_capacity(names.len());
    let mut passed = BTreeSet::new();
    let mut at = None;
    for name in names {
        let link = name.clone();
        let Some(&id) = links.get(name) else {
            return Err(TopologyError::UnknownLink { route, link });
        };
        if !passed.insert(id) {
            return Err(TopologyError::Twice { route, link });
        }
        let spec = network.link(id);
        if let Some(at) = at.filter(|&at| at != spec.from) {
            let [at, from] = [at, spec.from].map(|node| network.node_name(node).to_owned());
            return Err(TopologyError::Gap { route, at, link, from });
        }
        at = Some(spec.to);
        path.push(id);
    }
    network.check_route(&path)?;
    Ok(path)
}
