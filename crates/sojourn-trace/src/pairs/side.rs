//! One capture, packet by packet.

use super::{Numbers, PairSettings, SideCounts, Sighting};
use crate::identity::identity;
use crate::{Reader, Record};

/// A capture and the packet that is next in it.
pub(super) struct Side<'s, 'r> {
    reader: Reader<'r>,
    settings: &'s PairSettings,
    pub(super) next: Option<Sighting>,
    pub(super) counts: SideCounts,
}

impl<'s, 'r> Side<'s, 'r> {
    pub(super) fn new(reader: Reader<'r>, settings: &'s PairSettings) -> Self {
        Self {
            reader,
            settings,
            next: None,
            counts: SideCounts::default(),
        }
    }

    /// What was read, with what the reader passed over.
    pub(super) fn into_counts(self) -> SideCounts {
        let mut counts = self.counts;
        let unread = self.reader.skipped();
        counts.frames += unread.total();
        counts.skipped.add(unread);
        counts
    }

    /// The packet that is next; the one after it is looked up.
    pub(super) fn take(&mut self, numbers: &mut Numbers) -> Option<Sighting> {
        let taken = self.next;
        self.advance(numbers);
        taken
    }

    /// Looks up the next packet.
    pub(super) fn advance(&mut self, numbers: &mut Numbers) {
        self.next = None;
        while self.next.is_none() {
            match self.reader.next() {
                Ok(Some(record)) => self.next = look(&record, self.settings, &mut self.counts, numbers),
                Ok(None) => return,
                Err(damage) => {
                    self.counts.damage = Some(damage);
                    return;
                }
            }
        }
    }
}

/// The packet of a record, if it is one that is looked for.
fn look(
    record: &Record<'_>,
    settings: &PairSettings,
    counts: &mut SideCounts,
    numbers: &mut Numbers,
) -> Option<Sighting> {
    counts.frames += 1;
    let at_ns = record.at_ns;
    let (first, last) = counts.span.unwrap_or((at_ns, at_ns));
    counts.span = Some((first.min(at_ns), last.max(at_ns)));
    let found = match identity(record.link, record.bytes, record.wire) {
        Ok(found) => found,
        Err(reason) => {
            counts.skipped.count(reason);
            return None;
        }
    };
    if !settings.takes(&found.conversation) {
        counts.unselected += 1;
        return None;
    }
    let Some(conversation) = numbers.of(found.conversation) else {
        counts.crowded += 1;
        return None;
    };
    counts.packets += 1;
    Some(Sighting {
        key: found.key,
        at_ns,
        conversation,
        from_low: found.from_low,
    })
}
