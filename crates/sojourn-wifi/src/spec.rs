//! What a cell is made of.

use crate::{
    Band, DEFAULT_WEIGHT, EdcaSpec, FadeSpec, Format, LatencySpec, NodeId, NodeSpec, PeerSpec, PhyRate, Policies,
    RateControl, Scheme, Variant, Width, WifiError,
};
use sojourn_units::Rate;
use std::collections::BTreeSet;

/// A cell: an access point and its stations on one channel, all of whom hear each other.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSpec {
    /// The frequency band.
    pub band: Band,
    /// The access point's sending side.
    pub access_point: NodeSpec,
    /// The stations, at least one; the first is [`NodeId`] 1.
    pub stations: Vec<StationSpec>,
    /// How the access point and the stations contend.
    pub edca: EdcaSpec,
    /// How rates are chosen.
    pub rate_control: RateControl,
}

/// A station and the link between it and the access point.
#[derive(Clone, Debug, PartialEq)]
pub struct StationSpec {
    /// Its name, unique in the cell; it names the link's random streams, so that another station disturbs no draw.
    pub name: String,
    /// The rate from the access point to it; with rate control the best that the link carries.
    pub rate: PhyRate,
    /// The rate from it to the access point.
    pub rate_up: PhyRate,
    /// The chance that an MPDU to it is lost, each on its own, 0 to below 1.
    pub error: f64,
    /// The chance that an MPDU from it is lost.
    pub error_up: f64,
    /// When the link loses more.
    pub fade: Option<FadeSpec>,
    /// Its share of the airtime under the scheme `airtime`, relative to the other stations.
    pub weight: u32,
    /// The name of its group in [`crate::Policies::groups`] of the access point.
    pub group: Option<String>,
    /// The rate of delivered packets for which the access point gives it more airtime.
    pub min_rate: Option<Rate>,
    /// Its own sending side.
    pub node: NodeSpec,
}

/// Stations in a cell at most: association identifiers. Source: IEEE 802.11-2020 section 9.4.1.8.
const STATIONS: usize = 2007;

impl StationSpec {
    /// A station without errors that sends as the access point does to it.
    #[must_use]
    pub fn new(name: &str, rate: PhyRate) -> Self {
        Self {
            name: name.to_owned(),
            rate,
            rate_up: rate,
            error: 0.0,
            error_up: 0.0,
            fade: None,
            weight: DEFAULT_WEIGHT,
            group: None,
            min_rate: None,
            node: NodeSpec::STATION,
        }
    }
}

impl CellSpec {
    /// These stations around an access point with airtime fairness at 5 GHz, hostapd's EDCA, fixed rates.
    #[must_use]
    pub fn new(stations: Vec<StationSpec>) -> Self {
        Self {
            band: Band::Ghz5,
            access_point: NodeSpec::ACCESS_POINT,
            stations,
            edca: EdcaSpec::default(),
            rate_control: RateControl::Fixed,
        }
    }

    /// Checks everything; fields are named as in scenarios: `wifi.stations[1].error`.
    ///
    /// # Errors
    /// [`WifiError`] for the first value that breaks its rule.
    pub fn validate(&self) -> Result<(), WifiError> {
        let count = self.stations.len();
        if !(1..=STATIONS).contains(&count) {
            let rule = format!("1 to {STATIONS} stations");
            return Err(WifiError::new("wifi", "stations", format!("{count} stations"), rule));
        }
        self.access_point.validate("wifi")?;
        self.edca.access_point.validate("wifi.edca.ap")?;
        self.edca.station.validate("wifi.edca.station")?;
        let mut names = BTreeSet::new();
        for (i, station) in self.stations.iter().enumerate() {
            let who = format!("wifi.stations[{i}]");
            if station.name.is_empty() || !names.insert(station.name.as_str()) {
                let value = format!("{:?}", station.name);
                return Err(WifiError::new(&who, "name", value, "a name that no other station has"));
            }
            for (field, error) in [("error", station.error), ("error_up", station.error_up)] {
                WifiError::unless_in(0.0..1.0, &who, field, error, "0 to below 1")?;
            }
            if let Some(fade) = &station.fade {
                fade.validate(&who)?;
            }
            for (field, rate) in [("rate", station.rate), ("rate_up", station.rate_up)] {
                let too_wide = rate.width() > Width::Mhz40 || rate.format() == Format::Vht;
                if self.band == Band::Ghz2 && too_wide {
                    let rule = "an OFDM or HT rate at 2.4ghz: the standard has VHT at 5 GHz only";
                    return Err(WifiError::new(&who, field, format!("\"{rate}\""), rule));
                }
            }
            self.peer(i, station.rate).validate(&who)?;
            self.check_policies(i, &who)?;
            station.node.validate(&who)?;
            let aql = (station.node.latency.aql).filter(|_| station.node.variant == Variant::Linux612);
            if station.node.latency
                != (LatencySpec {
                    aql,
                    ..LatencySpec::OFF
                })
            {
                let rule = "left out: only an access point has its options";
                return Err(WifiError::new(&who, "latency", "set", rule));
            }
        }
        Ok(())
    }

    /// Station `i` as the access point sees it.
    pub(crate) fn peer(&self, i: usize, rate: PhyRate) -> PeerSpec {
        let station = &self.stations[i];
        PeerSpec {
            node: NodeId::of_station(i as u16),
            rate,
            weight: station.weight,
            group: station
                .group
                .as_deref()
                .and_then(|name| self.access_point.policies.group(name)),
            min_rate: station.min_rate,
        }
    }

    /// What station `i` wants of the access point's policies, it must have.
    fn check_policies(&self, i: usize, who: &str) -> Result<(), WifiError> {
        let (station, access_point) = (&self.stations[i], &self.access_point);
        if let Some(group) = &station.group
            && access_point.policies.group(group).is_none()
        {
            return Err(WifiError::new(
                who,
                "group",
                format!("{group:?}"),
                "the name of one of wifi.groups",
            ));
        }
        if station.min_rate.is_some() && access_point.variant == Variant::Linux612 {
            let rule = "\"paper\" where a station has a min_rate, which Linux does not have";
            let value = format!("{:?}", access_point.variant.name());
            return Err(WifiError::new("wifi", "variant", value, rule));
        }
        if let Some(min_rate) = station.min_rate
            && access_point.scheme != Scheme::Airtime
        {
            let scheme = access_point.scheme.name();
            let rule = format!("left out with the scheme {scheme}: it belongs to airtime");
            return Err(WifiError::new(who, "min_rate", min_rate.to_string(), rule));
        }
        if station.node.policies != Policies::NONE {
            return Err(WifiError::new(
                who,
                "policies",
                "set",
                "none: only the access point has policies",
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
