//! What an application asks of a connection by options of its socket. All is off at first.

use super::{Endpoint, State};
use crate::handshake::Handshake;
use crate::segment::{Flags, Segment};
use sojourn_units::Duration;

impl Endpoint {
    /// The connection is given up if the peer acknowledges nothing for `timeout`, counted from the first retransmission
    /// or the first probe of a closed window, or from the first SYN; `None` never. What waits longer for a timer is given
    /// up when that goes off, which is in time.
    ///
    /// Source: RFC 9293 section 3.8.3, RFC 5482; Linux `TCP_USER_TIMEOUT`. Deviation: Linux without it gives up after
    /// fifteen retransmissions (`tcp_retries2`).
    pub fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        self.sender.set_user_timeout(timeout);
        self.handshake = self.with_limits(self.handshake);
    }

    /// Whether it has given the connection up because the user timeout has passed. It is closed then.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// No time-out that is set from now on is longer than `most`. Source: Linux 7.3 `TCP_RTO_MAX_MS`, 1 s to 120 s.
    pub fn set_max_rto(&mut self, most: Duration) {
        self.sender.set_max_rto(most);
        self.handshake = self.with_limits(self.handshake);
    }

    /// Whether a segment that is not full waits as long as another such segment is not acknowledged (RFC 9293 section
    /// 3.7.4, by Minshall's rule; Linux without `TCP_NODELAY`). If not, what has waited leaves, even from under a cork.
    pub fn set_nagle(&mut self, on: bool) {
        self.sender.set_nagle(on);
    }

    /// Whether segments that are not full wait until the cork is out (Linux `TCP_CORK`). If nothing is unacknowledged,
    /// they wait no longer than a time-out.
    pub fn set_cork(&mut self, corked: bool) {
        self.sender.set_cork(corked);
    }

    /// The application writes `bytes`, and will write more at once: a segment that is not full waits for that until
    /// something arrives, at most for a time-out (Linux `MSG_MORE`).
    ///
    /// # Panics
    /// After [`Endpoint::close`].
    pub fn write_more(&mut self, bytes: u64) {
        assert!(!self.is_closing(), "nothing can be written to a closed connection");
        self.sender.say_more(true);
        self.sender.write(bytes);
    }

    /// Whether the last byte that was written carries PSH. Who says so once has to say so of all that it writes: no rule
    /// for what a kernel without segmentation offload does sets it any more.
    pub fn set_push(&mut self, push: bool) {
        self.sender.tell_push(push);
    }

    /// The host's own device drops all that it is given from now on, or takes it again. The sender hears of what is
    /// dropped: it keeps that, reduces its window as after an ECN echo, and tries again every half second. What has no
    /// payload its host drops.
    pub fn set_device_full(&mut self, full: bool) {
        self.sender.set_device_full(full);
    }

    /// The application has read `bytes` of what has come ([`TcpParams::receive_memory`]).
    ///
    /// [`TcpParams::receive_memory`]: crate::TcpParams::receive_memory
    pub fn read(&mut self, bytes: u64) {
        self.receiver.read(bytes);
    }

    /// The application sets the size of the receive buffer, bytes of memory (Linux `SO_RCVBUF`, twice what is set).
    pub fn set_receive_memory(&mut self, size: u64) {
        self.receiver.set_memory(size);
    }

    /// Whether an application has the connection, or it still waits to be accepted. The buffer of one that waits is not
    /// enlarged. At first it has.
    pub fn set_owned(&mut self, owned: bool) {
        self.receiver.set_owned(owned);
    }

    /// The application that has closed is gone: nobody reads what still comes. With [`TcpParams::resets`] data is
    /// answered by a reset, and the connection is over (RFC 1122 section 4.2.2.13).
    ///
    /// [`TcpParams::resets`]: crate::TcpParams::resets
    pub fn release(&mut self) {
        self.released = true;
    }

    /// Whether data came that nobody will read. Source: Linux `tcp_rcv_state_process`.
    #[cold]
    pub(super) fn refuses_data(&mut self, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let refuses = self.resets
            && self.is_closing()
            && segment.len > 0
            && segment.seq + u64::from(segment.len) > next
            && (segment.seq <= next || self.receiver.admits(segment.seq));
        if refuses {
            self.end();
            self.answer = Some(Box::new(Segment {
                seq: segment.ack,
                flags: Flags::RST,
                ..Segment::default()
            }));
        }
        refuses
    }

    /// The user timeout has passed. The peer is not told. Source: Linux `tcp_write_err`.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.end();
        self.gave_up = true;
    }

    /// There is no connection any more.
    pub(super) fn end(&mut self) {
        self.state = State::Done;
        self.handshake_due = false;
        self.forced = None;
    }

    /// What holds for the handshake, too.
    pub(super) fn with_limits(&self, handshake: Handshake) -> Handshake {
        handshake.with_limits(self.sender.max_rto(), self.sender.user_timeout())
    }
}
