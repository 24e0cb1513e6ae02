//! What an application asks of the sending half by options of its socket.

use super::{AnyMachine, Sender};
use sojourn_units::Duration;

impl Sender {
    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Duration>) {
        each!(mut self, m => m.set_user_timeout(timeout));
    }
    pub(crate) fn user_timeout(&self) -> Option<Duration> {
        each!(self, m => m.user_timeout())
    }
    /// Whether the user timeout has passed.
    #[inline]
    pub(crate) fn has_expired(&self) -> bool {
        each!(self, m => m.has_expired())
    }
    pub(crate) fn set_max_rto(&mut self, most: Duration) {
        each!(mut self, m => m.rtt.set_max_rto(most));
    }
    pub(crate) fn max_rto(&self) -> Duration {
        each!(self, m => m.rtt.max_rto())
    }
    pub(crate) fn set_nagle(&mut self, on: bool) {
        each!(mut self, m => m.set_nagle(on));
    }
    pub(crate) fn set_cork(&mut self, corked: bool) {
        each!(mut self, m => m.set_cork(corked));
    }
    /// Whether the application writes more at once; it is told before a write.
    pub(crate) fn say_more(&mut self, more: bool) {
        each!(mut self, m => m.say_more(more));
    }
    pub(crate) fn tell_push(&mut self, push: bool) {
        each!(mut self, m => m.tell_push(push));
    }
    pub(crate) fn set_device_full(&mut self, full: bool) {
        each!(mut self, m => m.set_device_full(full));
    }
}
