//! The measured window begins and ends.

use super::Simulator;
use crate::link::Air;
use sojourn_units::Time;

impl Simulator {
    /// The measured window begins now: egress statistics start over, and series are sampled.
    pub fn begin_window(&mut self, at: Time) {
        self.now = at;
        for link in &mut self.links {
            if let Some(e) = &mut link.egress {
                e.meter.begin(at);
            }
            if let Some(Air::Impaired(weather)) = &mut link.air {
                weather.lost = 0;
            }
        }
        for radio in &mut self.radios {
            radio.begin(at);
        }
        for i in 0..self.flows.len() {
            self.flows[i].delivered_before = self.receiver(i).receiver().bytes_in_order();
        }
        for flood in &mut self.floods {
            flood.begin();
        }
        self.calendar.set(self.sampler_slot, at + self.sample_interval);
    }

    /// The measured window ends now: TCP and agents stop, statistics are final; probes still under way may come home.
    pub fn end_window(&mut self, at: Time) {
        self.now = at;
        self.frozen = true;
        for link in &mut self.links {
            if let Some(e) = &mut link.egress {
                e.meter.advance(at);
            }
        }
        for host in &self.hosts {
            self.calendar.clear(host.slot);
        }
        if !self.paces.is_empty() {
            self.calendar.clear(self.paces_slot);
        }
        for flow in &self.flows {
            self.calendar.clear(flow.slot);
        }
        for flood in &mut self.floods {
            flood.stop();
            self.calendar.clear(flood.slot);
        }
        self.calendar.clear(self.sampler_slot);
        for web in &self.webs {
            self.calendar.clear(web.slot);
        }
        for download in &self.downloads {
            self.calendar.clear(download.slot);
        }
        for agent in &self.agents {
            self.calendar.clear(agent.slot);
        }
        for probe in &mut self.probes {
            probe.stop();
        }
        for voip in &mut self.voips {
            voip.stop();
        }
        if let Some(watch) = &mut self.watch {
            watch.finish(&mut self.calendar);
        }
    }
}
