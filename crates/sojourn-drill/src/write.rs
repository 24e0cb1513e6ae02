//! Calls that write, and what of them waits for memory.

use crate::calls::size;
use crate::connection::Write;
use crate::host::{Descriptor, Host};
use crate::memory::{Sizes, doubled};
use crate::script::Call;
use crate::target::Answer;
use sojourn_tcp::ConnectionState;
use sojourn_units::Time;

/// The most pieces that a write is cut into: more than one of 64 MiB makes.
const MOST_PIECES: u64 = 10_000;

impl Host {
    /// An application writes on connection `i`, or asks `again` after it had to wait.
    pub(crate) fn write(&mut self, call: &Call, descriptor: Descriptor, i: usize, again: bool, now: Time) -> Answer {
        let asked = size(call).max(0).cast_unsigned();
        let write = write_of(call, asked);
        let connection = &mut self.connections[i];
        let waiting = connection.waiting.take().filter(|_| again);
        let mut left = waiting.unwrap_or(asked);
        if connection.endpoint.is_closing() || connection.endpoint.state() == ConnectionState::Closed {
            return if left < asked {
                Answer::Done((asked - left).cast_signed())
            } else {
                Answer::Error("EPIPE".into())
            };
        }
        // What is written before the handshake is over waits without a limit.
        let limit = descriptor.send_buffer.filter(|_| connection.endpoint.is_established());
        let limit = limit.map_or(u64::MAX, |set| doubled(set).cast_unsigned());
        if asked == 0 {
            connection.write(write, now);
            self.pump(i, now);
        } else if waiting.is_none() || connection.memory.wakes(limit) {
            left = self.fill(i, limit, Write { bytes: left, ..write }, waiting.is_some(), now);
        }
        if left == 0 {
            Answer::Done(asked.cast_signed())
        } else if !descriptor.nonblocking {
            self.connections[i].waiting = Some(left);
            self.note_time(i, now);
            Answer::Waits
        } else if left < asked {
            Answer::Done((asked - left).cast_signed())
        } else {
            Answer::Error("EAGAIN".into())
        }
    }

    /// Puts in what the buffer takes, piece by piece, and sends what may be sent. `goes_on` says whether the write had to
    /// wait. Answers how many bytes are left.
    ///
    /// Source: Linux 6.1 `tcp_sendmsg_locked`. Deviation: later kernels fill a piece up from the next before it leaves
    /// (`tcp_grow_skb`), and its PSH may go on to the end of the write.
    fn fill(&mut self, i: usize, limit: u64, write: Write, goes_on: bool, now: Time) -> u64 {
        let mut left = write.bytes;
        while left > 0 {
            let sizes = self.sizes(i);
            let connection = &mut self.connections[i];
            let room = connection.memory.room(limit, sizes);
            if room == 0 {
                break;
            }
            let bytes = room.max(write.bytes / MOST_PIECES).min(left);
            let is_first = left == write.bytes && !goes_on;
            left -= bytes;
            let written = connection.written();
            let ends_record = write.ends_record && left == 0;
            let more = write.more && left == 0;
            let grows = connection.memory.put(written, bytes, ends_record, sizes);
            let waits = left > 0 && connection.memory.room(limit, sizes) == 0;
            let whole = left == 0 && !write.more || waits;
            let piece = Write {
                bytes,
                ends_record,
                more,
                opens: grows,
                // A new write takes PSH from what it adds to.
                push: connection
                    .memory
                    .pushes(written + bytes, whole, grows && !is_first, sizes),
            };
            connection.write(piece, now);
            self.pump(i, now);
        }
        left
    }

    /// How large the pieces of the send buffer of connection `i` are now.
    pub(crate) fn sizes(&self, i: usize) -> Sizes {
        let connection = &self.connections[i];
        Sizes {
            mss: connection.params.mss.into(),
            largest_window: connection.largest_window,
            least: self.settings.min_tso_segs.into(),
        }
    }
}

/// What the flags of the call say.
fn write_of(call: &Call, bytes: u64) -> Write {
    let says = |word| call.args.iter().any(|arg| arg.has_word(word));
    Write {
        bytes,
        ends_record: says("MSG_EOR"),
        more: says("MSG_MORE"),
        opens: false,
        push: false,
    }
}
