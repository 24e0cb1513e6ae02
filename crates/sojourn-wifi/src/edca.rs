//! EDCA parameters: how each access category contends.

use crate::{AccessCategory, WifiError};
use sojourn_units::Duration;

/// The parameters of one access category. Source: IEEE 802.11-2020 section 10.23.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdcaParams {
    /// Arbitration interframe space number: AIFS = SIFS + AIFSN slots.
    pub aifsn: u8,
    /// The contention window at first: the backoff is uniform in 0 to this.
    pub cw_min: u16,
    /// The contention window at most.
    pub cw_max: u16,
    /// How long a node may go on with frames of the category, SIFS apart, once it has won; zero for one exchange.
    pub txop_limit: Duration,
}

/// The four access categories of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdcaTable {
    /// In the order of [`AccessCategory::index`].
    pub categories: [EdcaParams; 4],
}

/// Who contends how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EdcaSpec {
    /// The access point's own parameters.
    pub access_point: EdcaTable,
    /// The parameters that it announces to the stations.
    pub station: EdcaTable,
}

impl Default for EdcaSpec {
    /// As hostapd has them.
    fn default() -> Self {
        Self {
            access_point: EdcaTable::ACCESS_POINT,
            station: EdcaTable::STATION,
        }
    }
}

impl EdcaTable {
    /// What hostapd announces to stations.
    ///
    /// Source: hostapd.conf, `wmm_ac_*`, which is IEEE 802.11-2020 table 9-155 with the TXOP limits of the earlier
    /// standard for OFDM: none for best effort and background, 3.008 ms for video, 1.504 ms for voice.
    pub const STATION: Self = Self {
        categories: [
            params(2, 3, 7, 1_504),
            params(2, 7, 15, 3_008),
            params(3, 15, 1023, 0),
            params(7, 15, 1023, 0),
        ],
    };

    /// What hostapd sets for the access point itself: voice and video wait one slot less, best effort's window ends
    /// at 63.
    ///
    /// Source: hostapd.conf, `tx_queue_data*`: bursts of 1.5 ms for voice and 3.0 ms for video.
    pub const ACCESS_POINT: Self = Self {
        categories: [
            params(1, 3, 7, 1_500),
            params(1, 7, 15, 3_000),
            params(3, 15, 63, 0),
            params(7, 15, 1023, 0),
        ],
    };

    /// The table of the standard with no TXOP limit for best effort and background, for access points and stations
    /// alike. Source: IEEE 802.11-2020 table 9-155.
    ///
    /// Deviation: the table's 2.528 ms for best effort and background is not used by the drivers of the papers.
    pub const STANDARD: Self = Self {
        categories: [
            params(2, 3, 7, 2_080),
            params(2, 7, 15, 4_096),
            params(3, 15, 1023, 0),
            params(7, 15, 1023, 0),
        ],
    };

    /// The parameters of a category.
    #[must_use]
    pub const fn of(&self, category: AccessCategory) -> EdcaParams {
        self.categories[category.index()]
    }

    /// Checks every parameter; `who` names the table in errors, such as `wifi.edca.ap`.
    ///
    /// # Errors
    /// [`WifiError`] for an AIFSN other than 1 to 15, a window that is not 2^n - 1 up to 32767, a CWmax below CWmin,
    /// or a TXOP limit above 8.16 ms (255 units of 32 us). Source: IEEE 802.11-2020 section 9.4.2.28.
    pub fn validate(&self, who: &str) -> Result<(), WifiError> {
        for category in AccessCategory::ALL {
            let who = format!("{who}.{}", category.name());
            self.of(category).validate(&who)?;
        }
        Ok(())
    }
}

impl EdcaParams {
    /// The longest TXOP limit that [`EdcaTable::validate`] accepts.
    pub const LONGEST_TXOP: Duration = Duration::from_micros(255 * 32);

    fn validate(&self, who: &str) -> Result<(), WifiError> {
        WifiError::unless_in(1..=15, who, "aifsn", self.aifsn, "1 to 15")?;
        let rule = "a power of two less one, 0 to 32767";
        for (field, window) in [("cw_min", self.cw_min), ("cw_max", self.cw_max)] {
            if window > 32_767 || !(u32::from(window) + 1).is_power_of_two() {
                return Err(WifiError::new(who, field, window.to_string(), rule));
            }
        }
        let rule = format!("at least cw_min, {}", self.cw_min);
        WifiError::unless_in(self.cw_min.., who, "cw_max", self.cw_max, rule)?;
        WifiError::unless_in(..=Self::LONGEST_TXOP, who, "txop", self.txop_limit, "0s to 8.16ms")
    }
}

const fn params(aifsn: u8, cw_min: u16, cw_max: u16, txop_us: u64) -> EdcaParams {
    EdcaParams {
        aifsn,
        cw_min,
        cw_max,
        txop_limit: Duration::from_micros(txop_us),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_accepted() {
        for table in [EdcaTable::STATION, EdcaTable::ACCESS_POINT, EdcaTable::STANDARD] {
            assert_eq!(table.validate("wifi.edca.ap"), Ok(()));
        }
    }

    #[test]
    fn values_that_the_standard_cannot_announce_are_refused() {
        let message = |change: fn(&mut EdcaParams)| {
            let mut table = EdcaTable::STATION;
            change(&mut table.categories[2]);
            table.validate("wifi.edca.ap").unwrap_err().to_string()
        };
        assert_eq!(
            message(|p| p.aifsn = 0),
            "wifi.edca.ap.be.aifsn is 0, but must be 1 to 15"
        );
        assert_eq!(
            message(|p| p.cw_min = 14),
            "wifi.edca.ap.be.cw_min is 14, but must be a power of two less one, 0 to 32767"
        );
        assert_eq!(
            message(|p| p.cw_max = 65_535),
            "wifi.edca.ap.be.cw_max is 65535, but must be a power of two less one, 0 to 32767"
        );
        assert_eq!(
            message(|p| p.cw_max = 7),
            "wifi.edca.ap.be.cw_max is 7, but must be at least cw_min, 15"
        );
        assert_eq!(
            message(|p| p.txop_limit = Duration::from_millis(9)),
            "wifi.edca.ap.be.txop is 9ms, but must be 0s to 8.16ms"
        );
    }
}
