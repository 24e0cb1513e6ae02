//! A run at a moment, as arrays of numbers.

use sojourn_sim::view::{PassageKind, PassageView, QueueView, View};
use sojourn_units::Duration;
use wasm_bindgen::prelude::wasm_bindgen;

/// A run at a moment.
#[derive(Clone, Debug)]
#[wasm_bindgen]
pub struct Snapshot {
    pub(crate) view: View,
}

/// What stands in one queue.
#[derive(Clone, Debug)]
#[wasm_bindgen]
pub struct Queue {
    view: QueueView,
}

fn ms(time: Option<Duration>) -> f64 {
    time.map_or(f64::NAN, Duration::as_millis_f64)
}

fn four(passage: &PassageView) -> [f64; 4] {
    let kind = match passage.kind {
        PassageKind::Arrival => 0.0,
        PassageKind::Departure => 1.0,
        PassageKind::Marked => 2.0,
        PassageKind::Drop => 3.0,
    };
    [
        passage.at_s,
        f64::from(passage.flow),
        kind,
        passage.stood.as_millis_f64(),
    ]
}

#[wasm_bindgen]
impl Snapshot {
    /// Since the beginning of the measured window, s.
    #[must_use]
    #[wasm_bindgen(js_name = nowS)]
    pub fn now_s(&self) -> f64 {
        self.view.now_s
    }

    /// The share of the run that is done, 0 to 1.
    #[must_use]
    pub fn done(&self) -> f64 {
        self.view.done
    }

    /// The queue from client to server.
    #[must_use]
    pub fn up(&self) -> Queue {
        let view = self.view.up.clone();
        Queue { view }
    }

    /// The queue from server to client.
    #[must_use]
    pub fn down(&self) -> Queue {
        let view = self.view.down.clone();
        Queue { view }
    }

    /// The congestion window of each TCP flow, segments.
    #[must_use]
    pub fn cwnd(&self) -> Vec<f64> {
        self.view.flows.iter().map(|flow| f64::from(flow.cwnd)).collect()
    }

    /// Bytes that the receiver of each TCP flow has delivered since the beginning of the run.
    #[must_use]
    pub fn delivered(&self) -> Vec<f64> {
        self.view.flows.iter().map(|flow| flow.delivered as f64).collect()
    }

    /// Pairs of the time at which a probe was sent (s) and its delay (ms); NaN is a loss.
    #[must_use]
    pub fn pings(&self) -> Vec<f64> {
        let pairs = self.view.pings.iter().map(|ping| [ping.at_s, ms(ping.delay)]);
        pairs.flatten().collect()
    }

    /// How long the first ping that has no answer yet has been under way, ms; NaN if none is.
    #[must_use]
    #[wasm_bindgen(js_name = waitsMs)]
    pub fn waits_ms(&self) -> f64 {
        ms(self.view.waits)
    }

    /// Triples of the number of a voice call, the time at which a packet of it was sent (s), and its one-way delay (ms);
    /// NaN is a loss.
    #[must_use]
    pub fn voice(&self) -> Vec<f64> {
        let triples = self.view.voice.iter();
        triples
            .flat_map(|one| [f64::from(one.flow), one.at_s, ms(one.delay)])
            .collect()
    }

    /// Pairs of the time at which the load of a page ended (s) and how long it took (s).
    #[must_use]
    pub fn pages(&self) -> Vec<f64> {
        let pairs = self.view.pages.iter().map(|page| {
            let time = page.time.as_secs_f64();
            [page.at_s + time, time]
        });
        pairs.flatten().collect()
    }

    /// The share of the air that each station had since the last look; all zero if none had any.
    #[must_use]
    pub fn airtime(&self) -> Vec<f64> {
        let times = self.view.airtime.iter().map(|time| time.as_secs_f64());
        let all: f64 = times.clone().sum();
        times.map(|time| if all > 0.0 { time / all } else { 0.0 }).collect()
    }
}

#[wasm_bindgen]
impl Queue {
    /// For each packet, in the order of arrival, the number of its flow.
    #[must_use]
    pub fn flows(&self) -> Vec<u16> {
        self.view.flows.clone()
    }

    /// For each packet its size on the wire, bytes.
    #[must_use]
    pub fn sizes(&self) -> Vec<u16> {
        self.view.sizes.clone()
    }

    /// For each packet how long it has stood, ms.
    #[must_use]
    pub fn stood(&self) -> Vec<f32> {
        self.view
            .stood
            .iter()
            .map(|stood| stood.as_millis_f64() as f32)
            .collect()
    }

    /// What came and left since the last look: time (s), flow, what befell it (0 it came, 1 it left, 2 it left with a mark, 3
    /// it was dropped), and how long it had stood (ms).
    #[must_use]
    pub fn passages(&self) -> Vec<f64> {
        self.view.passages.iter().flat_map(four).collect()
    }

    /// All packets that stand.
    #[must_use]
    pub fn packets(&self) -> f64 {
        self.view.packets as f64
    }

    /// Their bytes.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        self.view.bytes as f64
    }

    /// Packets that departed since the beginning of the run.
    #[must_use]
    pub fn departed(&self) -> f64 {
        self.view.departed as f64
    }

    /// Packets that were dropped since then.
    #[must_use]
    pub fn dropped(&self) -> f64 {
        self.view.dropped as f64
    }

    /// Packets that were marked since then.
    #[must_use]
    pub fn marked(&self) -> f64 {
        self.view.marked as f64
    }

    /// Drops since then, by flow.
    #[must_use]
    #[wasm_bindgen(js_name = droppedByFlow)]
    pub fn dropped_by_flow(&self) -> Vec<u32> {
        let drops = self.view.dropped_by_flow.iter();
        drops
            .map(|&dropped| u32::try_from(dropped).unwrap_or(u32::MAX))
            .collect()
    }

    /// How long the packet that departed last had stood, ms; NaN before the first.
    #[must_use]
    #[wasm_bindgen(js_name = sojournMs)]
    pub fn sojourn_ms(&self) -> f64 {
        ms(self.view.sojourn)
    }

    /// The names of the numbers of [`Queue::values`], with commas between them.
    #[must_use]
    pub fn keys(&self) -> String {
        let names: Vec<&str> = self.view.state.iter().map(|(name, _)| *name).collect();
        names.join(",")
    }

    /// The state of the discipline.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        self.view.state.iter().map(|(_, value)| *value).collect()
    }

    /// The rate of the link now, bit/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.view.rate.as_bps() as f64
    }
}
