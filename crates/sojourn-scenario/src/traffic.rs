//! What all kinds of traffic have in common: a name, its ends, and whose packets they are.

use crate::access::IdentityKeysMut;
use crate::{DownloadScenario, FlowScenario, IdentityKeys, ProbeScenario, Scenario, WebScenario};
use sojourn_units::Duration;

/// A flow, a probe, a web client or a download.
pub trait Traffic {
    /// Its name, unique among all traffic.
    fn name(&self) -> &str;
    /// The base round-trip time of its path.
    fn rtt(&self) -> Duration;
    /// The nodes of its client and server, on a topology.
    fn ends(&self) -> Option<&[String; 2]>;
    /// Whose packets these are.
    fn identity(&self) -> IdentityKeys<'_>;
}

/// The keys of some traffic that follow from the rest of the scenario, to be completed.
pub(crate) struct CommonKeysMut<'a> {
    /// Such as `flows[2]`.
    pub(crate) place: String,
    pub(crate) rtt: &'a mut Duration,
    pub(crate) ends: &'a mut Option<[String; 2]>,
    pub(crate) identity: IdentityKeysMut<'a>,
}

macro_rules! traffic {
    ($($list:ident: $Kind:ty),+) => {
        $(impl Traffic for $Kind {
            fn name(&self) -> &str {
                &self.name
            }
            fn rtt(&self) -> Duration {
                self.rtt
            }
            fn ends(&self) -> Option<&[String; 2]> {
                self.ends.as_ref()
            }
            fn identity(&self) -> IdentityKeys<'_> {
                IdentityKeys {
                    client: self.client,
                    server: self.server,
                    station: self.station.as_deref(),
                    dscp: self.dscp,
                }
            }
        })+

        impl Scenario {
            /// All traffic: flows first, then probes, web clients, downloads.
            pub fn traffic(&self) -> impl Iterator<Item = &dyn Traffic> {
                std::iter::empty()$(.chain(self.$list.iter().map(|one| one as &dyn Traffic)))+
            }

            pub(crate) fn traffic_mut(&mut self) -> impl Iterator<Item = CommonKeysMut<'_>> {
                std::iter::empty()$(.chain(self.$list.iter_mut().enumerate().map(|(i, one)| CommonKeysMut {
                    place: format!("{}[{i}]", stringify!($list)),
                    rtt: &mut one.rtt,
                    ends: &mut one.ends,
                    identity: IdentityKeysMut {
                        client: &mut one.client,
                        server: &mut one.server,
                        station: &mut one.station,
                        dscp: &mut one.dscp,
                    },
                })))+
            }
        }
    };
}

traffic!(flows: FlowScenario, probes: ProbeScenario, web: WebScenario, downloads: DownloadScenario);
