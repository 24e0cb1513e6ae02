//! The classes of one priority that take turns, in the order of their numbers.

/// Classes in the order of their numbers, and whose turn it is.
///
/// Source: Linux `struct htb_prio`, a tree by class number with a pointer. The classes here are numbered in that order
/// already.
#[derive(Clone, Debug, Default)]
pub(super) struct Feed {
    members: Vec<u32>,
    /// Whose turn it is; `None` behind the last.
    pub(super) turn: Option<u32>,
    /// Whose turn it was when that class left: the turn is then at the next number.
    pub(super) left: Option<u32>,
}

impl Feed {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn insert(&mut self, class: u32) {
        if let Err(place) = self.members.binary_search(&class) {
            self.members.insert(place, class);
        }
    }

    pub(super) fn remove(&mut self, class: u32) {
        if let Ok(place) = self.members.binary_search(&class) {
            self.members.remove(place);
        }
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.members.first().copied()
    }

    /// This class, or the next behind it.
    pub(super) fn from(&self, class: u32) -> Option<u32> {
        let place = self.members.partition_point(|&member| member < class);
        self.members.get(place).copied()
    }

    /// Gives the turn to the next class.
    pub(super) fn advance(&mut self) {
        self.turn = self.turn.and_then(|class| self.from(class + 1));
    }
}
