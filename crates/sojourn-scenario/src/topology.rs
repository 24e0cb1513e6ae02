//! A network other than the path with one bottleneck: nodes, and links with a rate, a discipline and a delay.

use crate::error::within;
use crate::{Backend, LinkScenario, RTT, ScenarioError, fail};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use sojourn_units::{Duration, Rate};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Most entries of `topology.links`; a route looks at each of them.
pub(crate) const LINKS_MAX: usize = 1_000;

/// A network of any shape, in place of the path with one bottleneck. Packets take the way with the fewest links, of several
/// such ways the one whose links come first in the list.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Topology", extend("required" = ["links", "ends"]))]
pub struct TopologyScenario {
    /// What connects the nodes, which are those that the links name.
    pub links: Vec<LinkScenario>,
    /// The nodes of client and server, for traffic that names none.
    pub ends: [String; 2],
    /// The link that the record's `bottleneck.up` tells of (default: the slowest on the way from client to server, the first
    /// of several).
    pub up: Option<String>,
    /// The same from server to client.
    pub down: Option<String>,
}

/// A link in one direction.
#[derive(Clone, Debug)]
pub struct Directed<'a> {
    /// `A-B`.
    pub name: String,
    /// Where it begins.
    pub from: &'a str,
    /// Where it ends.
    pub to: &'a str,
    /// Its numbers.
    pub link: &'a LinkScenario,
}

impl TopologyScenario {
    /// All links, each in one direction; those of one entry follow each other.
    #[must_use]
    pub fn directed(&self) -> Vec<Directed<'_>> {
        let one = |from, to, link| Directed {
            name: format!("{from}-{to}"),
            from,
            to,
            link,
        };
        let mut all = Vec::with_capacity(2 * self.links.len());
        for link in &self.links {
            let [a, b] = link.between.each_ref().map(String::as_str);
            all.push(one(a, b, link));
            if !link.one_way {
                all.push(one(b, a, link));
            }
        }
        all
    }

    /// The nodes, in the order in which the links name them.
    #[must_use]
    pub fn nodes(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let named = self.links.iter().flat_map(|link| &link.between);
        named.map(String::as_str).filter(|node| seen.insert(*node)).collect()
    }

    /// The base round-trip time between two nodes, without the time that sending takes.
    pub(crate) fn rtt(&self, ends: &[String; 2], field: &str) -> Result<Duration, ScenarioError> {
        let [client, server] = ends;
        let delay = |from, to| -> Result<Duration, ScenarioError> {
            let route = self.route(from, to).ok_or_else(|| ScenarioError::Value {
                field: field.to_owned(),
                value: format!("[{client:?}, {server:?}]"),
                rule: format!("two nodes with a way from {from:?} to {to:?} in topology.links"),
            })?;
            let delays = route.iter().map(|link| link.link.delay);
            Ok(delays.fold(Duration::ZERO, |sum, delay| sum + delay))
        };
        Ok(delay(client, server)? + delay(server, client)?)
    }

    /// What all traffic between these nodes, in both directions, can be at most: the slowest links of all ways, added up.
    pub(crate) fn carried<'a>(&self, all: impl Iterator<Item = &'a [String; 2]>) -> Rate {
        let pairs: BTreeSet<_> = all
            .flat_map(|[a, b]| [(a.as_str(), b.as_str()), (b.as_str(), a.as_str())])
            .collect();
        let slowest = |(from, to): (&str, &str)| {
            let rated = self
                .route(from, to)?
                .into_iter()
                .filter_map(|link| Some((link.link.rate?, link.name)));
            rated.min()
        };
        let links: BTreeSet<_> = pairs.into_iter().filter_map(slowest).collect();
        Rate::from_bps(links.iter().map(|(rate, _)| rate.as_bps()).sum::<u64>().max(1))
    }

    /// The links from a node to another one; `None` if there is no way.
    #[must_use]
    pub fn route(&self, from: &str, to: &str) -> Option<Vec<Directed<'_>>> {
        let links = self.directed();
        let mut came_by: BTreeMap<&str, usize> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            for (i, link) in links.iter().enumerate() {
                if link.from == node && link.to != from && !came_by.contains_key(link.to) {
                    came_by.insert(link.to, i);
                    queue.push_back(link.to);
                }
            }
        }
        let mut route = Vec::new();
        let mut node = to;
        while node != from {
            let link = &links[*came_by.get(node)?];
            route.push(link.clone());
            node = link.from;
        }
        route.reverse();
        Some(route).filter(|route| !route.is_empty())
    }

    /// Gives the links that the record reports these disciplines, where they name none of their own: up and down.
    pub(crate) fn take_disciplines(&mut self, qdiscs: [Option<String>; 2]) {
        let [client, server] = self.ends.clone();
        let ways = [(&self.up, &client, &server), (&self.down, &server, &client)];
        // A name that is missing is refused later, with its own name.
        let names = ways.map(|(named, from, to)| self.bottleneck("", named.as_deref(), from, to).ok());
        for (name, text) in names.into_iter().zip(qdiscs) {
            let leads = |link: &&mut LinkScenario| {
                let [a, b] = &link.between;
                let names = [format!("{a}-{b}"), format!("{b}-{a}")];
                name.as_ref().is_some_and(|name| names.contains(name))
            };
            if let (Some(link), Some(text)) = (self.links.iter_mut().find(leads), text) {
                link.qdisc.get_or_insert(text);
            }
        }
    }

    /// Checks it and writes out what is left out. `frame` is the largest frame of the scenario, bytes.
    pub(crate) fn complete(&mut self, frame: u64, backend: Backend) -> Result<(), ScenarioError> {
        if self.links.is_empty() {
            return fail("topology.links", "empty", "a list of at least one link");
        }
        for (i, link) in self.links.iter_mut().enumerate() {
            link.complete(&format!("topology.links[{i}]"), frame, backend)?;
        }
        let mut seen = BTreeSet::new();
        for link in self.directed() {
            if !seen.insert(link.name.clone()) {
                let rule = "unique: two nodes have at most one link each way";
                return fail("topology.links", format!("{:?} twice", link.name), rule);
            }
        }
        within("rtt", self.rtt(&self.ends, "topology.ends")?, RTT.0, RTT.1)?;
        let [client, server] = self.ends.clone();
        self.up = Some(self.bottleneck("topology.up", self.up.as_deref(), &client, &server)?);
        self.down = Some(self.bottleneck("topology.down", self.down.as_deref(), &server, &client)?);
        Ok(())
    }

    /// The name of the link that the record reports as the bottleneck: the one that is named, or the slowest from one node to another.
    fn bottleneck(&self, field: &str, named: Option<&str>, from: &str, to: &str) -> Result<String, ScenarioError> {
        let links = self.directed();
        if let Some(name) = named {
            return match links.iter().find(|link| link.name == name && link.link.rate.is_some()) {
                Some(_) => Ok(name.to_owned()),
                None => fail(field, format!("{name:?}"), "the name A-B of a link with a rate"),
            };
        }
        let route = self.route(from, to).unwrap_or_default();
        let slowest = route.iter().filter(|link| link.link.rate.is_some());
        match slowest.min_by_key(|link| link.link.rate) {
            Some(link) => Ok(link.name.clone()),
            None => fail(
                field,
                "missing",
                format!("given where no link from {from:?} to {to:?} has a rate"),
            ),
        }
    }

    /// The link of this name.
    pub(crate) fn link(&self, name: Option<&str>) -> Option<&LinkScenario> {
        let found = self
            .directed()
            .into_iter()
            .find(|link| Some(link.name.as_str()) == name);
        found.map(|link| link.link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(text: &str) -> TopologyScenario {
        let links = text.split(' ').map(|pair| {
            let (from, to) = pair.split_once('-').expect("two nodes");
            LinkScenario {
                between: [from.to_owned(), to.to_owned()],
                delay: Duration::from_millis(1),
                ..LinkScenario::default()
            }
        });
        TopologyScenario {
            links: links.collect(),
            ends: ["a".to_owned(), "c".to_owned()],
            up: None,
            down: None,
        }
    }

    fn names(topology: &TopologyScenario, from: &str, to: &str) -> Option<Vec<String>> {
        Some(topology.route(from, to)?.into_iter().map(|link| link.name).collect())
    }

    #[test]
    fn a_route_has_the_fewest_links_and_of_several_the_first() {
        let ring = chain("a-b b-c c-d d-a");
        assert_eq!(names(&ring, "a", "c"), Some(vec!["a-b".to_owned(), "b-c".to_owned()]));
        assert_eq!(names(&ring, "a", "d"), Some(vec!["a-d".to_owned()]));
        assert_eq!(
            names(&chain("a-d d-c a-b b-c"), "a", "c"),
            Some(vec!["a-d".to_owned(), "d-c".to_owned()])
        );
        assert_eq!(names(&chain("a-b c-d"), "a", "d"), None);
        assert_eq!(names(&ring, "a", "a"), None);
    }

    #[test]
    fn a_link_of_one_way_leads_nowhere_the_other_way() {
        let mut pair = chain("a-b b-c");
        pair.links[0].one_way = true;
        assert!(pair.route("a", "c").is_some());
        assert_eq!(names(&pair, "c", "a"), None);
        assert_eq!(pair.nodes(), ["a", "b", "c"]);
    }
}
