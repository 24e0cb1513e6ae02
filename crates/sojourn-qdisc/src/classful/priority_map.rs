//! Which band the packets of a priority belong to.

use super::Children;
use crate::grammar::numbers::Numbers;
use crate::{Packet, ParamError};

/// The bands of priorities 0 to 15. Source: `prio2band` of Linux `prio_classify` and `ets_classify`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PriorityMap([u8; 16]);

impl PriorityMap {
    /// Checks that each band of the map is one of so many.
    pub(crate) fn check(kind: &str, map: &Numbers, bands: u32) -> Result<(), ParamError> {
        if map.as_slice().iter().all(|&band| band < bands) {
            return Ok(());
        }
        let rule = format!("bands of priorities 0 to 15, each less than {bands}, the number of bands");
        Err(ParamError::new(kind, "priomap", map.to_string(), rule))
    }

    /// A map that was checked.
    pub(crate) fn of(map: &Numbers) -> Self {
        let mut bands = [0; 16];
        for (own, &band) in bands.iter_mut().zip(map.as_slice()) {
            *own = band as u8;
        }
        Self(bands)
    }

    /// The band of a packet: that of the first filter that takes it, else that of its priority.
    #[inline]
    pub(crate) fn band<Q>(&self, bands: &Children<Q>, packet: &impl Packet) -> usize {
        let mapped = || usize::from(self.0[usize::from(packet.priority() & 15)]);
        bands.filtered(packet).unwrap_or_else(mapped)
    }
}
