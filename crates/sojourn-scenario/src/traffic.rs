//! What all kinds of traffic have in common: a name, its ends, and whose packets they are.

use crate::access::IdentityKeysMut;
use crate::context::Context;
use crate::cost::Estimate;
use crate::{
    Direction, DownloadScenario, FlowScenario, GameScenario, IdentityKeys, ProbeScenario, Scenario, ScenarioError,
    Transport, WebScenario, schema,
};
use sojourn_units::Duration;

/// A flow, a probe, a web client, a download or a stream of a game.
pub trait Traffic {
    /// Its name, unique among all traffic.
    fn name(&self) -> &str;
    /// The base round-trip time of its path.
    fn rtt(&self) -> Duration;
    /// The nodes of its client and server, on a topology.
    fn ends(&self) -> Option<&[String; 2]>;
    /// Whose packets these are.
    fn identity(&self) -> IdentityKeys<'_>;
    /// Itself, by its kind.
    fn any(&self) -> AnyTraffic<'_>;

    /// The direction of what its opener sends: up if that is the client.
    fn opens(&self) -> Direction {
        match self.any() {
            AnyTraffic::Flow(flow) => flow.direction,
            AnyTraffic::Probe(probe) => probe.kind().direction().unwrap_or(Direction::Up),
            AnyTraffic::Web(_) => Direction::Up,
            AnyTraffic::Download(download) => download.direction,
            AnyTraffic::Game(game) => game.direction,
        }
    }

    /// What carries it.
    fn transport(&self) -> Transport {
        match self.any() {
            AnyTraffic::Flow(flow) => flow.transport(),
            AnyTraffic::Probe(_) | AnyTraffic::Game(_) => Transport::Udp,
            AnyTraffic::Web(_) | AnyTraffic::Download(_) => Transport::Tcp,
        }
    }
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
    ($($(#[$doc:meta])+ $list:ident: $Name:ident($Kind:ty)),+) => {
        /// Some traffic, by its kind.
        #[derive(Clone, Copy, Debug)]
        pub enum AnyTraffic<'a> {
            $($(#[$doc])+ $Name(&'a $Kind)),+
        }

        /// The lists of traffic, in the order of [`Scenario::traffic`].
        pub(crate) const LISTS: &[&str] = &[$(stringify!($list)),+];

        /// The name and the keys of each kind.
        pub(crate) fn keys() -> Vec<(String, Vec<&'static str>)> {
            vec![$(schema::named::<$Kind>()),+]
        }

        $(impl Traffic for $Kind {
            fn any(&self) -> AnyTraffic<'_> {
                AnyTraffic::$Name(self)
            }
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
        }

        impl<'a> TryFrom<AnyTraffic<'a>> for &'a $Kind {
            type Error = ();

            fn try_from(traffic: AnyTraffic<'a>) -> Result<Self, ()> {
                match traffic {
                    AnyTraffic::$Name(one) => Ok(one),
                    _ => Err(()),
                }
            }
        })+

        impl Scenario {
            /// All traffic: flows first, then probes, web clients, downloads, games.
            pub fn traffic(&self) -> impl Iterator<Item = &dyn Traffic> {
                std::iter::empty()$(.chain(self.$list.iter().map(|one| one as &dyn Traffic)))+
            }

            /// Checks the keys of all traffic. Those of probes, whose sizes others are checked against, were checked before.
            pub(crate) fn check_each(&self, on: &Context<'_>) -> Result<(), ScenarioError> {
                $(for (i, one) in self.$list.iter().enumerate() {
                    one.check(i, on)?;
                })+
                Ok(())
            }

            /// Adds what all traffic needs, each kind for itself.
            pub(crate) fn cost_each(&self, run: &mut Estimate<'_>) {
                $(<$Kind>::cost(&self.$list, run);)+
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

traffic!(
    /// A TCP flow, or a flood of datagrams.
    flows: Flow(FlowScenario),
    /// A probe of latency, or a voice stream.
    probes: Probe(ProbeScenario),
    /// A web client.
    web: Web(WebScenario),
    /// Files, one after the other.
    downloads: Download(DownloadScenario),
    /// A stream of a game.
    games: Game(GameScenario)
);

/// All kinds of traffic, as sentences name them.
pub(crate) const KINDS: &str = "flows, probes, web clients, downloads and games";

impl Scenario {
    /// The traffic of one kind, such as `&FlowScenario`, and what `all` has for it. `all` has something for each piece of
    /// traffic, in the order of [`Scenario::traffic`].
    pub fn traffic_with<'a, K: TryFrom<AnyTraffic<'a>>, T>(
        &'a self,
        all: impl IntoIterator<Item = T>,
    ) -> impl Iterator<Item = (K, T)> {
        let each = self.traffic().zip(all);
        each.filter_map(|(one, its)| Some((one.any().try_into().ok()?, its)))
    }
}
