//! What the application of a flow does: when it makes how much.

use crate::UDP_PAYLOAD;
use sojourn_units::{Bytes, Duration, Rate};

/// The application of a thin stream writes so much at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Of payload.
    pub bytes: Bytes,
    /// Between the beginnings of two writes.
    pub interval: Duration,
}

/// The application of a flow. All times are from its start on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Application {
    /// How much it makes; `None` for more than can be sent.
    pub bytes: Option<u64>,
    /// It makes a segment at a time, at this rate; `None` for all at once.
    pub rate: Option<Rate>,
    /// How it writes if it is that of a thin stream.
    pub writes: Option<Writes>,
}

/// What an application does at a time that it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// It makes so many bytes; `None` for more than can be sent.
    pub bytes: Option<u64>,
    /// When it is due again.
    pub again: Option<Duration>,
    /// Whether it closes, for it has made all.
    pub closes: bool,
}

impl Application {
    /// What it does `after` its start, when it has made `made` bytes. A segment holds `segment` bytes.
    #[must_use]
    pub fn step(&self, made: u64, segment: u64, after: Duration) -> Step {
        let left = self.bytes.map(|bytes| bytes - made);
        let at_most = |size: u64| left.map_or(size, |left| left.min(size));
        let (bytes, pause) = match (self.writes, self.rate) {
            (Some(writes), _) => (Some(at_most(writes.bytes.get())), Some(writes.interval)),
            (None, Some(rate)) => {
                let bytes = at_most(segment);
                (Some(bytes), Some(rate.time_to_send(Bytes::new(bytes))))
            }
            (None, None) => (left, None),
        };
        let closes = self.bytes.is_some() && left == bytes;
        Step {
            bytes,
            again: pause.filter(|_| !closes).map(|pause| after + pause),
            closes,
        }
    }

    /// When the datagram with this number leaves, if there is a rate: no rounding adds up.
    #[must_use]
    pub fn datagram_due(&self, number: u64) -> Option<Duration> {
        let bit_ns = u128::from(number) * u128::from(UDP_PAYLOAD) * 8_000_000_000;
        let due = bit_ns / u128::from(self.rate?.as_bps());
        Some(Duration::from_nanos(u64::try_from(due).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(application: Application, most: usize) -> Vec<(Option<u64>, u64)> {
        let (mut made, mut at, mut all) = (0, Some(Duration::ZERO), Vec::new());
        while let Some(now) = at.filter(|_| all.len() < most) {
            let step = application.step(made, 1000, now);
            all.push((step.bytes, now.as_nanos()));
            made += step.bytes.unwrap_or(0);
            assert_eq!(step.closes, Some(made) == application.bytes, "{all:?}");
            at = step.again;
        }
        all
    }

    #[test]
    fn all_at_once_or_at_a_rate_or_in_writes() {
        let endless = Application::default();
        assert_eq!(steps(endless, 9), [(None, 0)]);
        let some = Application {
            bytes: Some(2500),
            ..endless
        };
        assert_eq!(steps(some, 9), [(Some(2500), 0)]);
        // 1000 bytes at 8 Mbit/s take 1 ms.
        let rate = Some(Rate::from_bps(8_000_000));
        let paced = Application { rate, ..some };
        let ms = 1_000_000;
        assert_eq!(
            steps(paced, 9),
            [(Some(1000), 0), (Some(1000), ms), (Some(500), 2 * ms)]
        );
        assert_eq!(
            steps(Application { rate, ..endless }, 2),
            [(Some(1000), 0), (Some(1000), ms)]
        );
        let writes = Some(Writes {
            bytes: Bytes::new(2000),
            interval: Duration::from_millis(7),
        });
        assert_eq!(
            steps(Application { writes, ..some }, 9),
            [(Some(2000), 0), (Some(500), 7 * ms)]
        );
    }
}
