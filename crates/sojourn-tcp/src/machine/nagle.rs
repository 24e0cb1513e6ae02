//! Small segments that wait for more: Nagle's rule, and corks.
//!
//! Source: RFC 9293 section 3.7.4, RFC 896; Linux 7.3 `tcp_nagle_check`, `tcp_minshall_check`, `tcp_push`,
//! `__tcp_sock_set_cork`, `__tcp_sock_set_nodelay`.

use super::{LossRecovery, Machine};

/// What makes a small segment wait.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Nagle {
    /// A small segment waits as long as another is not acknowledged.
    on: bool,
    /// The application holds small segments back (`TCP_CORK`).
    corked: bool,
    /// The application has said that it writes more at once (`MSG_MORE`); it holds until something is acknowledged.
    more: bool,
    /// What begins before this has been let go, whatever else holds (`TCP_NAGLE_PUSH`).
    let_go: u64,
    /// One past the last small segment that was sent. Source: Linux `snd_sml`.
    small_end: u64,
}

impl<R: LossRecovery> Machine<R> {
    /// Whether Nagle's rule holds. If it does no longer, what waits is let go, even from under a cork.
    pub(crate) fn set_nagle(&mut self, on: bool) {
        let written = self.written;
        let nagle = &mut self.options_mut().nagle;
        nagle.on = on;
        if !on {
            nagle.let_go = written;
            nagle.more = false;
        }
    }

    /// Puts the cork in, or takes it out.
    pub(crate) fn set_cork(&mut self, corked: bool) {
        let written = self.written;
        let nagle = &mut self.options_mut().nagle;
        nagle.corked = corked;
        nagle.more = false;
        if !corked && !nagle.on {
            nagle.let_go = written;
        }
    }

    /// The application has written, and says whether it writes more at once.
    pub(crate) fn say_more(&mut self, more: bool) {
        if more || self.options.is_some() {
            // A record is not added to.
            if self.records.back() != Some(&self.buffer.end()) {
                self.buffer.unpush(self.nxt);
            }
            self.options_mut().nagle.more = more;
        }
    }

    /// Whether what is written so far ends with PSH: the application says so, now and from now on.
    pub(crate) fn tell_push(&mut self, push: bool) {
        self.buffer.tell_push(self.written, push);
    }

    /// Whether the application has said that it writes more at once.
    #[inline]
    pub(super) fn expects_more(&self) -> bool {
        self.options.as_ref().is_some_and(|options| options.nagle.more)
    }

    /// An acknowledgement came: what waited for more goes as far as other rules let it. Source: Linux
    /// `tcp_data_snd_check`.
    #[inline]
    pub(super) fn end_more(&mut self) {
        if let Some(options) = &mut self.options {
            options.nagle.more = false;
        }
    }

    /// Whether the next segment, of `len` bytes, is small and waits for more. One with a FIN does not, nor one that has
    /// others behind it.
    pub(super) fn holds_small(&self, len: u16) -> bool {
        let Some(Nagle {
            on,
            corked,
            more,
            let_go,
            small_end,
        }) = self.options.as_ref().map(|options| options.nagle)
        else {
            return false;
        };
        let end = self.nxt + u64::from(len);
        let behind = end < self.buffer.end() || self.buffer.is_full();
        if len >= self.payload() || behind || self.fin.is_some() || self.nxt < let_go {
            return false;
        }
        corked || more || on && !self.board.is_empty() && small_end > self.una
    }

    /// A new segment of `len` bytes was sent.
    #[inline]
    pub(super) fn note_small(&mut self, len: u16) {
        let (small, end) = (len < self.payload(), self.nxt);
        if small && let Some(options) = &mut self.options {
            options.nagle.small_end = end;
        }
    }
}
