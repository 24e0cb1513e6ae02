//! The numbers of a connection: those of the script and those on the wire.

use sojourn_drill::Clocks;

/// Where the numbers of a side begin: in the script, and on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Begin {
    script: u32,
    wire: u32,
}

impl Begin {
    /// Of a SYN that is `script` there and `wire` here.
    pub(crate) fn new(script: u32, wire: u32) -> Self {
        Self { script, wire }
    }

    /// From the script to the wire. A SYN has the numbers themselves, and the others count from the SYN.
    /// Source: packetdrill's rule.
    pub(crate) fn to_wire(self, script: u32, syn: bool) -> u32 {
        let base = if syn { self.script } else { 0 };
        script.wrapping_sub(base).wrapping_add(self.wire)
    }

    /// From the wire to the script.
    pub(crate) fn to_script(self, wire: u32, syn: bool) -> u32 {
        let base = if syn { self.script } else { 0 };
        wire.wrapping_sub(self.wire).wrapping_add(base)
    }
}

/// One connection of the kernel under test.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    /// The port of the kernel, if it is known.
    pub(crate) local_port: Option<u16>,
    /// The port of our side.
    pub(crate) remote_port: u16,
    /// Where the kernel's numbers begin; known after its SYN.
    pub(crate) local: Option<Begin>,
    /// Where the numbers of our side begin; known after our SYN.
    pub(crate) remote: Option<Begin>,
    /// Timestamps of the kernel: those of the script and those on the wire.
    pub(crate) clocks: Clocks,
    /// The application has closed it.
    pub(crate) closed: bool,
}

impl Numbers {
    /// Where the numbers of our side begin.
    pub(crate) fn ours(&self) -> Begin {
        self.remote.unwrap_or_default()
    }

    /// Where the kernel's numbers begin.
    pub(crate) fn theirs(&self) -> Begin {
        self.local.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_syn_are_absolute_and_the_others_count_from_it() {
        let begin = Begin::new(999_000, 70);
        assert_eq!(begin.to_wire(999_000, true), 70);
        assert_eq!(begin.to_wire(1, false), 71);
        assert_eq!(begin.to_script(71, true), 999_001);
        assert_eq!(begin.to_script(69, false), u32::MAX);
    }
}
