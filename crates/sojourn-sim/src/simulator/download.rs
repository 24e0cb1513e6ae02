//! Downloads on the network.

use super::{Added, Component, Owner, SimError, Simulator};
use crate::calendar::Slot;
use crate::draws::Gaps;
use crate::network::RoutePair;
use crate::packet::Packet;
use crate::traffic::download::{DownloadSpec, Downloader, Outgoing};
use sojourn_tcp::Endpoint;
use sojourn_units::{Stream, Time};

/// A download and where it sits. All its connections share its two routes and its one slot.
#[derive(Debug)]
pub(crate) struct Download {
    pub(crate) downloader: Downloader,
    pub(crate) slot: Slot,
    /// To the receivers, and back.
    routes: RoutePair,
}

impl Simulator {
    /// A download, which starts at `spec.start`.
    ///
    /// # Errors
    /// [`SimError`] for unusable TCP parameters, or more routes than can be numbered.
    pub fn add_download(&mut self, spec: DownloadSpec) -> Result<Added, SimError> {
        Endpoint::client(&spec.tcp)?;
        let index = self.downloads.len() as u32;
        let [at_receiver, at_sender] = [true, false].map(|at_receiver| Owner::Download(index, at_receiver));
        let routes = self.add_routes(&spec.name, (&spec.route, at_receiver), (&spec.back, at_sender))?;
        let slot = self.add_slot(Component::Download(index));
        self.fabric.calendar.set(slot, spec.start);
        let gaps = Gaps::new(self.fabric.seed, &spec.name, spec.gap);
        let ports = Stream::named(self.fabric.seed, &format!("ports {}", spec.name));
        self.downloads.push(Download {
            downloader: Downloader::new(spec, gaps, ports),
            slot,
            routes,
        });
        let index = index as usize;
        Ok(Added { index, routes })
    }

    pub(super) fn download_due(&mut self, download: u32) {
        let d = &mut self.downloads[download as usize];
        self.fabric.calendar.clear(d.slot);
        let known = d.downloader.spec.destination.map(|to| &self.metrics[usize::from(to.0)]);
        d.downloader.on_timeout(self.fabric.now, known);
        self.download_pump(download);
        self.deliver_arrived();
    }

    pub(super) fn download_arrived(&mut self, download: u32, at_receiver: bool, packet: &Packet) {
        let segment = self.fabric.segments.take(packet);
        if self.frozen {
            return;
        }
        let downloader = &mut self.downloads[download as usize].downloader;
        let known = downloader
            .spec
            .destination
            .map(|to| &mut self.metrics[usize::from(to.0)]);
        let number = packet.connection();
        downloader.on_segment(at_receiver, number, &segment, self.fabric.now, known);
        while let Some(out) =
            self.downloads[download as usize]
                .downloader
                .poll_end(at_receiver, number, self.fabric.now)
        {
            self.download_send(download, &out);
        }
        let at = self.downloads[download as usize]
            .downloader
            .settle(number, self.fabric.now);
        self.download_wake(download, at);
    }

    /// Sends what the ends want to send, and sets the timer.
    fn download_pump(&mut self, download: u32) {
        while let Some(out) = self.downloads[download as usize].downloader.poll() {
            self.download_send(download, &out);
        }
        let at = self.downloads[download as usize].downloader.timeout();
        self.download_wake(download, at);
    }

    #[inline]
    fn download_send(&mut self, download: u32, out: &Outgoing) {
        let route = self.downloads[download as usize].routes.of(out.to_receiver).0;
        let body = self.fabric.segments.keep(&out.segment);
        let packet = Packet::of_segment(&out.segment, body, out.hash, route).of_connection(out.number);
        if self.fabric.watch.is_some() {
            self.tell_tap_of_file(download, packet);
        }
        self.fabric.send(packet);
    }

    /// Sets the timer: a lazy one, as that of [`Simulator::pump`].
    #[inline]
    fn download_wake(&mut self, download: u32, at: Option<Time>) {
        let slot = self.downloads[download as usize].slot;
        if let Some(at) = at
            && self.fabric.calendar.due(slot).is_none_or(|due| due > at)
        {
            self.fabric.calendar.set(slot, at.max(self.fabric.now));
        }
    }

    /// Tells a capture of the connection that a packet may begin.
    #[cold]
    #[inline(never)]
    fn tell_tap_of_file(&mut self, download: u32, packet: Packet) {
        let Some(tap) = self.fabric.watch.as_mut().and_then(|watch| watch.tap.as_mut()) else {
            return;
        };
        let d = &self.downloads[download as usize];
        let number = packet.connection();
        if let Some(hashes) = d.downloader.hashes(number) {
            // Web clients were announced before.
            let place = self.webs.len() + download as usize;
            tap.open_next(place, packet, hashes, number, d.routes);
        }
    }
}
