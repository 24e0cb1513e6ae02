//! A slow station gets more than its share of airtime if it needs that for a minimum rate.

use crate::PeerSpec;
use sojourn_units::{Duration, Time};

/// How often weights are set.
const PERIOD: Duration = Duration::from_millis(100);

/// The share of the airtime in use that stations with a minimum rate may be raised to, all of them together.
const MOST: f64 = 0.5;

/// A station with a minimum rate.
#[derive(Clone, Debug)]
struct Station {
    place: u16,
    /// Bytes that are to reach it in a period.
    wanted: f64,
    /// Its weight by configuration, and of the moment.
    base: f64,
    weight: f64,
    /// Over the period: bytes that reached it, and its airtime.
    bytes: u64,
    airtime: Duration,
    /// Whether it had data queued when the period began.
    had_data: bool,
}

/// Weights that adapt to minimum rates.
///
/// Every 100 ms, for each station that had data queued when the period began and has when it ends: the airtime that
/// it used and the bytes that it got for it say which share f of the airtime in use it needs for its rate. If it had
/// the share g, its weight is multiplied by the root of (f / (1 - f)) / (g / (1 - g)), at most doubled and at least
/// halved, since with weight w beside others of weight v a share is w / (w + v). It never falls below the configured
/// weight; and if the needs of all such stations exceed half of the airtime in use, they are cut down in proportion.
/// A station without data keeps its weight, of which it makes no use.
///
/// Source: seed 002 section 4.2 (a slow station may exceed its share "to get it above a minimum bit rate"); the rule
/// is ours. The bound is a half, so that one far station cannot take the cell.
#[derive(Clone, Debug)]
pub(super) struct MinRates {
    stations: Vec<Station>,
    /// Airtime of all stations over the period.
    airtime: Duration,
    ends: Time,
}

impl MinRates {
    /// `None` if no peer has a minimum rate.
    pub(super) fn new(peers: &[PeerSpec]) -> Option<Self> {
        let station = |(place, peer): (u16, &PeerSpec)| {
            let wanted = peer.min_rate?.as_bps() as f64 / 8.0 * PERIOD.as_secs_f64();
            let base = f64::from(peer.weight);
            Some(Station {
                place,
                wanted,
                base,
                weight: base,
                bytes: 0,
                airtime: Duration::ZERO,
                had_data: false,
            })
        };
        let stations: Vec<Station> = (0..).zip(peers).filter_map(station).collect();
        (!stations.is_empty()).then_some(Self {
            stations,
            airtime: Duration::ZERO,
            ends: Time::ZERO,
        })
    }

    fn station(&mut self, place: u16) -> Option<&mut Station> {
        self.stations.iter_mut().find(|s| s.place == place)
    }

    #[inline]
    pub(super) fn used(&mut self, place: u16, airtime: Duration) {
        self.airtime += airtime;
        if let Some(station) = self.station(place) {
            station.airtime += airtime;
        }
    }

    #[inline]
    pub(super) fn arrived(&mut self, place: u16, bytes: u64) {
        if let Some(station) = self.station(place) {
            station.bytes += bytes;
        }
    }

    /// Sets weights if a period has ended.
    pub(super) fn adapt(&mut self, now: Time, has_data: impl Fn(u16) -> bool, mut set: impl FnMut(u16, u32)) {
        if now < self.ends {
            return;
        }
        let late = now.since(self.ends);
        self.ends = now + PERIOD;
        // A period that nobody was there to end says nothing.
        let whole = late < PERIOD;
        let all = self.airtime.as_secs_f64();
        let airtime = self.airtime;
        let need = |s: &Station| {
            let measured = whole && s.had_data && s.bytes > 0 && s.airtime < airtime;
            let period = (PERIOD + late).as_secs_f64() / PERIOD.as_secs_f64();
            measured.then(|| s.wanted * period / s.bytes as f64 * s.airtime.as_secs_f64() / all)
        };
        let needs: f64 = self.stations.iter().filter_map(need).sum();
        let cut = if needs > MOST { MOST / needs } else { 1.0 };
        for s in &mut self.stations {
            let data = has_data(s.place);
            if let (Some(need), true) = (need(s), data) {
                let needed = need * cut;
                let had = s.airtime.as_secs_f64() / all;
                let odds = |share: f64| share / (1.0 - share);
                let factor = (odds(needed) / odds(had)).sqrt().clamp(0.5, 2.0);
                s.weight = (s.weight * factor).clamp(s.base, s.base.max(65_535.0));
                set(s.place, s.weight.round() as u32);
            }
            (s.bytes, s.airtime, s.had_data) = (0, Duration::ZERO, data);
        }
        self.airtime = Duration::ZERO;
    }

    /// The weight of the moment of a station with a minimum rate.
    pub(super) fn weight(&self, place: u16) -> Option<u32> {
        let station = self.stations.iter().find(|s| s.place == place)?;
        Some(station.weight.round() as u32)
    }
}
