//! What a run draws before it begins. Every back end draws the same from one seed.

use sojourn_scenario::{ProbeKindScenario, ProbeScenario};
use sojourn_units::{Duration, Stream};

/// How much later than its scenario says a flow or web client starts.
pub(crate) fn start(seed: u64, name: &str, most: Duration) -> Duration {
    uniform(seed, &format!("start {name}"), most)
}

/// How long after the beginning of the run a probe sends its first packet: somewhere in its period.
pub(crate) fn phase(seed: u64, probe: &ProbeScenario) -> Duration {
    let period = match probe.kind() {
        ProbeKindScenario::Icmp(interval)
        | ProbeKindScenario::Isochronous(_, interval)
        | ProbeKindScenario::Poisson(_, interval) => interval,
        ProbeKindScenario::UdpRr(_) => Duration::from_millis(200),
        ProbeKindScenario::Voip(_, voice) => voice.frame,
    };
    uniform(seed, &format!("phase {}", probe.name), period)
}

/// Exponential times of this mean by the stream of `name`: those between the files of a download.
#[derive(Clone, Debug)]
pub(crate) struct Gaps {
    mean: Duration,
    stream: Stream,
}

impl Gaps {
    pub(crate) fn new(seed: u64, name: &str, mean: Duration) -> Self {
        let stream = Stream::named(seed, &format!("gaps {name}"));
        Self { mean, stream }
    }

    /// The next one.
    pub(crate) fn draw(&mut self) -> Duration {
        self.stream.exponential(self.mean)
    }

    /// As many as a run of `duration` may need: the last of them ends after it, however short the files.
    pub(crate) fn fill(mut self, duration: Duration) -> Vec<Duration> {
        let mut all = Vec::new();
        let mut sum = Duration::ZERO;
        while sum <= duration {
            let gap = self.draw();
            sum += gap;
            all.push(gap);
        }
        all
    }
}

/// Uniform in `[0, most)` by the stream of `name`.
fn uniform(seed: u64, name: &str, most: Duration) -> Duration {
    Duration::from_nanos(Stream::named(seed, name).below(most.as_nanos()))
}
