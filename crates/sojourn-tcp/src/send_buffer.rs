//! The send buffer: how much may be written and not yet acknowledged.

use crate::params::Variant;

/// `tcp_wmem`'s largest size.
const BYTES: u32 = 4 << 20;
/// What a full segment occupies there when nothing is offloaded. Linux 3.14: a 4 KiB slab with its bookkeeping.
const SEGMENT_3_14: u32 = 4352;
/// Linux 6.1: a head of 512 bytes, its `sk_buff` of 256, and the payload in a page. (A kernel with wireless or tunnels reserves more
/// room for headers, and the head is 1 KiB.)
const SEGMENT_6_1: u32 = 512 + 256 + 1448;

/// A send buffer of segments, acknowledged or not.
///
/// Linux 6.1: once it is full, the application is woken when a third of it is free (`sk_stream_is_writeable`), and then fills it
/// at once. With `tcp_wmem` at 64 MiB the kernel's flows go as far as its window; with 4 MiB, one flow at 400 ms goes no further
/// than this.
///
/// Deviation: of Linux 3.14 only the size is modelled. Segments that are not full count as full ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendBuffer {
    segments: u32,
    /// A full buffer takes more when it holds so many.
    refill_at: u32,
    full: bool,
}

impl SendBuffer {
    pub(crate) const fn new(variant: Variant) -> Self {
        let (segments, refill_at) = match variant {
            Variant::Linux314 => (BYTES / SEGMENT_3_14, BYTES / SEGMENT_3_14 - 1),
            Variant::Linux61 => (BYTES / SEGMENT_6_1, BYTES / SEGMENT_6_1 / 3 * 2),
        };
        Self {
            segments,
            refill_at,
            full: false,
        }
    }

    /// Whether a new segment finds room while so many are outstanding.
    pub(crate) fn has_room(&mut self, outstanding: u32) -> bool {
        if outstanding >= self.segments {
            self.full = true;
        } else if outstanding <= self.refill_at {
            self.full = false;
        }
        !self.full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_takes_more_when_a_third_is_free() {
        // 4194304 / 2216 = 1892; two thirds of it are 1260.
        let mut buffer = SendBuffer::new(Variant::Linux61);
        assert!(buffer.has_room(1891));
        assert!(!buffer.has_room(1892));
        assert!(!buffer.has_room(1261));
        assert!(buffer.has_room(1260));
        assert!(buffer.has_room(1891));
    }

    #[test]
    fn that_of_the_old_kernel_takes_more_as_soon_as_there_is_room() {
        let mut buffer = SendBuffer::new(Variant::Linux314);
        assert!(buffer.has_room(962));
        assert!(!buffer.has_room(963));
        assert!(buffer.has_room(962));
    }
}
