//! A TCP flow, whose ends the simulator itself has.

use crate::network::{Destination, LinkId};
use sojourn_scenario::Application;
use sojourn_tcp::TcpParams;
use sojourn_units::Time;

/// A TCP flow from one node to another.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Unique name.
    pub name: String,
    /// Sender to receiver.
    pub route: Vec<LinkId>,
    /// Receiver to sender.
    pub back: Vec<LinkId>,
    /// Parameters of both ends.
    pub tcp: TcpParams,
    /// When the sender connects.
    pub start: Time,
    /// What its application does.
    pub application: Application,
    /// What the sender remembers of other connections to the same place, by [`Simulator::add_destination`](crate::Simulator::add_destination); `None`
    /// for nothing.
    pub destination: Option<Destination>,
}

impl FlowSpec {
    /// A flow that starts with the run, and whose application makes more than can be sent, with the default TCP.
    #[must_use]
    pub fn bulk(name: &str, route: &[LinkId], back: &[LinkId]) -> Self {
        Self {
            name: name.to_owned(),
            route: route.to_vec(),
            back: back.to_vec(),
            tcp: TcpParams::default(),
            start: Time::ZERO,
            application: Application::default(),
            destination: None,
        }
    }
}
