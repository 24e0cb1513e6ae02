//! The numbers of a connection: those of the script and those on the wire.

use sojourn_drill::Clocks;

/// Where the numbers of our side begin on the wire, if the script begins at 0. A number far from both ends.
const BEGIN: u32 = 0x2a00_0000;

/// One connection of the kernel under test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// The port of the kernel, if it is known.
    pub(crate) local_port: Option<u16>,
    /// The port of our side.
    pub(crate) remote_port: u16,
    /// What is added to the kernel's numbers in the script to get those on the wire; known after its SYN.
    pub(crate) local: Option<u32>,
    /// The same for our side's numbers.
    pub(crate) remote: Option<u32>,
    /// Timestamps of the kernel: those of the script and those on the wire.
    pub(crate) clocks: Clocks,
    /// The application has closed it.
    pub(crate) closed: bool,
}

impl Numbers {
    /// A number of our side, from the script to the wire. The first one that is asked for is our SYN's.
    pub(crate) fn ours_to_wire(&mut self, script: u32) -> u32 {
        script.wrapping_add(*self.remote.get_or_insert(BEGIN.wrapping_sub(script)))
    }

    /// A number of our side, from the wire to the script.
    pub(crate) fn ours_to_script(&self, wire: u32) -> u32 {
        wire.wrapping_sub(self.remote.unwrap_or(0))
    }

    /// A number of the kernel, from the script to the wire.
    pub(crate) fn theirs_to_wire(&self, script: u32) -> u32 {
        script.wrapping_add(self.local.unwrap_or(0))
    }

    /// A number of the kernel, from the wire to the script.
    pub(crate) fn theirs_to_script(&self, wire: u32) -> u32 {
        wire.wrapping_sub(self.local.unwrap_or(0))
    }
}
