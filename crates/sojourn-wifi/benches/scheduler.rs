//! What choosing the next station costs: `cargo bench -p sojourn-wifi --bench scheduler`. One element is an
//! aggregate: a charge and a choice, with all stations saturated; each aggregate took 4 ms at a slow station, 0.3 to
//! 3 ms at the others.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sojourn_units::Duration;
use sojourn_wifi::{AccessCategory, AirtimeScheduler, CreditScheduler, Driver};
use std::collections::VecDeque;

const AC: AccessCategory = AccessCategory::BestEffort;

/// Stations that always have something to send, and a hardware queue of two.
#[derive(Debug, Default)]
struct Saturated(VecDeque<u16>);

impl Driver for Saturated {
    fn hardware_queue_is_full(&self, _: AccessCategory) -> bool {
        self.0.len() >= 2
    }
    fn queue_is_empty(&self, _: u16, _: AccessCategory) -> bool {
        false
    }
    fn window_is_closed(&self, _: u16, _: AccessCategory) -> bool {
        false
    }
    fn build_aggregate(&mut self, station: u16, _: AccessCategory) {
        self.0.push_back(station);
    }
}

fn airtime(station: u16) -> Duration {
    Duration::from_micros(if station == 0 {
        4000
    } else {
        300 + u64::from(station) * 137 % 2700
    })
}

fn choosing(c: &mut Criterion) {
    let mut group = c.benchmark_group("choosing");
    group.throughput(Throughput::Elements(1));
    for stations in [3_u16, 16, 64, 256] {
        let weights = vec![256; usize::from(stations)];
        group.bench_function(format!("deficit_{stations}"), |b| {
            let (mut s, mut driver) = (
                AirtimeScheduler::new(Duration::from_micros(300), &weights),
                Saturated::default(),
            );
            (0..stations).for_each(|station| s.wake(station, AC));
            b.iter(|| {
                s.schedule(AC, &mut driver);
                let station = driver.0.pop_front().expect("one was built");
                s.charge(station, AC, airtime(station));
            });
        });
        group.bench_function(format!("credit_{stations}"), |b| {
            let (mut s, mut driver) = (CreditScheduler::new(&weights), Saturated::default());
            (0..stations).for_each(|station| s.wake(station, AC));
            b.iter(|| {
                s.schedule(AC, &mut driver);
                let station = driver.0.pop_front().expect("one was built");
                s.charge(station, AC, airtime(station));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, choosing);
criterion_main!(benches);
