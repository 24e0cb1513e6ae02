//! Where packets are seen: at the ends of a path, and at the flusher's place.

use crate::network::LinkId;
use crate::tap::Passing;
use crate::topology::Path;
use sojourn_scenario::Place;
use sojourn_units::Rate;

/// The links from a place through a bottleneck to the hosts behind it: upstream from the client's side, downstream
/// from the server's. `None` if a burst towards `up` would not cross the bottleneck.
pub(crate) fn way(place: Place, path: Path, up: bool) -> Option<Vec<LinkId>> {
    match (place, up) {
        (Place::Client, true) => Some(path.up.links().into()),
        (Place::Router, true) => Some(path.up.from_router().into()),
        (Place::Server, false) => Some(path.down.links().into()),
        _ => None,
    }
}

/// Of a packet on its way from an end of the path to the other.
pub(crate) const LEAVES: u8 = 1;
pub(crate) const ARRIVES: u8 = 2;
pub(crate) const AT_FLUSHER: u8 = 4;

/// What is seen where, by link and what happens there.
#[derive(Debug)]
pub(crate) struct Sight {
    masks: Vec<[u8; 3]>,
}

impl Sight {
    /// On `paths`, whose edges have a rate or not, with a flusher at `place`.
    pub(crate) fn new(paths: &[Path], edge_rate: Option<Rate>, place: Place) -> Self {
        let mut sight = Self { masks: Vec::new() };
        for path in paths {
            for (way, outgoing) in [
                (path.up, matches!(place, Place::Client)),
                (path.down, matches!(place, Place::Server)),
            ] {
                // An edge without rate is not passed through.
                let (leaves, arrives) = if edge_rate.is_some() {
                    ((Passing::Departed, way.first), (Passing::Arrived, way.last))
                } else {
                    ((Passing::Offered, way.bottleneck), (Passing::Arrived, way.delay))
                };
                sight.add(leaves, LEAVES | if outgoing { AT_FLUSHER } else { 0 });
                let incoming = !outgoing && !matches!(place, Place::Router);
                sight.add(arrives, ARRIVES | if incoming { AT_FLUSHER } else { 0 });
            }
            if matches!(place, Place::Router) {
                sight.add((Passing::Offered, path.up.bottleneck), AT_FLUSHER);
                sight.add((Passing::Arrived, path.down.delay), AT_FLUSHER);
            }
        }
        sight
    }

    fn add(&mut self, (passing, link): (Passing, LinkId), mask: u8) {
        let link = usize::from(link.0);
        if link >= self.masks.len() {
            self.masks.resize(link + 1, [0; 3]);
        }
        self.masks[link][passing as usize] |= mask;
    }

    /// What of a packet to which this happens at `link` is seen.
    #[inline]
    pub(crate) fn of(&self, passing: Passing, link: u16) -> u8 {
        self.masks
            .get(usize::from(link))
            .map_or(0, |masks| masks[passing as usize])
    }
}
