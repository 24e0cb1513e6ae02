//! The measured window begins and ends.

use super::Simulator;
use sojourn_units::Time;

impl Simulator {
    /// The measured window begins now: egress statistics start over, and series are sampled.
    pub fn begin_window(&mut self, at: Time) {
        self.fabric.begin_window(at);
        for i in 0..self.flows.len() {
            self.flows[i].delivered_before = self.receiver(i).receiver().bytes_in_order();
        }
        self.begin_sources();
        self.fabric.calendar.set(self.sampler_slot, at + self.sample_interval);
    }

    /// The measured window ends now: TCP and agents stop, statistics are final; probes still under way may come home.
    pub fn end_window(&mut self, at: Time) {
        self.frozen = true;
        self.fabric.end_window(at);
        for host in &self.hosts {
            self.fabric.calendar.clear(host.slot);
        }
        if !self.paces.is_empty() {
            self.fabric.calendar.clear(self.paces_slot);
        }
        for flow in &self.flows {
            self.fabric.calendar.clear(flow.slot);
        }
        self.fabric.calendar.clear(self.sampler_slot);
        self.end_sources();
    }
}
