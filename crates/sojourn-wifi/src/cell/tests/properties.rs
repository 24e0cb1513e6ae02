//! Properties of cells, whatever is offered to them.

use super::*;
use proptest::prelude::*;

fn scheme() -> impl Strategy<Value = Scheme> {
    prop::sample::select(Scheme::ALL.to_vec())
}

/// Of each packet: its station, whether it goes up, its TID, its bytes, and tenths of a microsecond since the one
/// before (whole microseconds count, so that packets often come together).
type Script = Vec<(u16, bool, u8, u64, u64)>;

/// Offers packets to a cell and lets it come to rest. At each step what was offered was delivered, dropped, or is in
/// the cell, and in the end nobody is left with anything.
fn play(spec: &CellSpec, seed: u64, script: Script) -> Result<Log, TestCaseError> {
    let mut cell = Cell::new(spec, seed).unwrap();
    let mut log = Log::default();
    let mut now = Time::ZERO;
    let offered = script.len();
    for (id, (station, up, tid, size, gap)) in (0..).zip(script) {
        now += Duration::from_micros(gap / 10);
        while let Some(due) = cell.due().filter(|&due| due < now) {
            cell.advance(due, &mut log);
        }
        let node = NodeId::of_station(station);
        let (from, to) = if up { (node, AP) } else { (AP, node) };
        // A flow for each TID of each station: packets of one flow stay in order in the queues too.
        let flow = u32::from(station) * 8 + u32::from(tid);
        let tid = Tid::new(tid).unwrap();
        cell.enqueue(from, to, Datagram { id, size, tid, flow }, now, &mut log);
        prop_assert_eq!(
            (log.delivered.len() + log.dropped.len()) as u64 + cell.packets(),
            id + 1
        );
    }
    let mut steps = 0;
    while let Some(due) = cell.due() {
        prop_assert!(due >= now, "{} before {}", due, now);
        now = due;
        cell.advance(now, &mut log);
        steps += 1;
        prop_assert!(steps < 100_000, "it comes to rest");
    }
    prop_assert_eq!(cell.packets(), 0, "nobody is left with anything");
    prop_assert_eq!(log.delivered.len() + log.dropped.len(), offered);
    Ok(log)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    /// Under any losses, rates and schemes every packet is delivered or dropped, once, in order within its TID, and in the end
    /// nobody is left with anything.
    #[test]
    fn packets_are_conserved_and_in_order(
        seed in any::<u64>(),
        schemes in (scheme(), scheme()),
        errors in prop::collection::vec(prop::sample::select(vec![0.0, 0.1, 0.5, 0.9]), 8),
        fades in prop::collection::vec(prop::option::of((100_u64..50_000, 100_u64..50_000, 0.01_f64..=1.0)), 4),
        rates in prop::collection::vec(
            prop::sample::select(vec!["ht mcs 0", "ht mcs 15 sgi", "vht mcs 9 80mhz nss 2", "ofdm 6mbit", "ofdm 54mbit"]), 4),
        retries in 1u8..12,
        limit in 1u32..200,
        simple in any::<bool>(),
        linux in any::<bool>(),
        standard in any::<bool>(),
        script in prop::collection::vec((0u16..4, any::<bool>(), 0u8..8, 60u64..1515, 0u64..3_000), 1..400),
    ) {
        let mut spec = CellSpec::new(
            rates.iter().enumerate().map(|(i, text)| StationSpec {
                error: errors[2 * i],
                error_up: errors[2 * i + 1],
                fade: fades[i].map(|(length, gap, error)| crate::FadeSpec {
                    length: Duration::from_micros(length),
                    gap: Duration::from_micros(gap),
                    error,
                }),
                ..StationSpec::new(&format!("s{i}"), rate(text))
            }).collect(),
        );
        spec.access_point.scheme = schemes.0;
        for node in spec.stations.iter_mut().map(|station| &mut station.node).chain([&mut spec.access_point]) {
            node.retries = retries;
            node.limit = limit;
            if linux {
                node.variant = crate::Variant::Linux612;
            }
        }
        for station in &mut spec.stations {
            station.node.scheme = schemes.1;
        }
        if simple {
            spec.rate_control = RateControl::Simple;
        }
        if standard {
            spec.edca.access_point = EdcaTable::STANDARD;
        }
        let offered = script.len();
        let log = play(&spec, seed, script)?;
        let mut ids: Vec<u64> = log.delivered.iter().map(|d| d.2.id).chain(log.dropped.iter().map(|d| d.1.packet.id)).collect();
        ids.sort_unstable();
        prop_assert!(ids.iter().copied().eq(0..offered as u64), "each once");
        let mut last = std::collections::BTreeMap::new();
        for (from, to, packet, times) in &log.delivered {
            prop_assert!(times.enqueued <= times.dequeued && times.dequeued < times.received);
            prop_assert!(times.received <= times.delivered && times.transmissions <= retries);
            if let Some(before) = last.insert((from, to, packet.tid), packet.id) {
                prop_assert!(before < packet.id, "{:?} after {}", packet, before);
            }
        }
    }

    #[test]
    fn airtime_of_a_cell_follows_weights_within_one_percent(
        stations in prop::collection::vec((any::<prop::sample::Index>(), 128_u32..1025, 0.0_f64..0.15), 2..5),
        credit: bool, seed: u64,
    ) {
        let texts = ["ht mcs 0 sgi", "ht mcs 3", "ht mcs 7 sgi", "ht mcs 15 sgi", "vht mcs 8 nss 2 80mhz"];
        let mut spec = with_groups(&[], &[]);
        for (i, (at, weight, error)) in stations.iter().enumerate() {
            spec.stations.push(StationSpec {
                weight: *weight,
                error: *error,
                ..StationSpec::new(&format!("{seed} {i}"), rate(at.get::<&str>(&texts)))
            });
        }
        if credit {
            spec.access_point.policies.scheduler = crate::SchedulerKind::Credit;
        }
        let all = f64::from(stations.iter().map(|s| s.1).sum::<u32>());
        let least = f64::from(stations.iter().map(|s| s.1).min().unwrap()) / all;
        let shares = airtime_shares(&spec, Duration::from_secs_f64(4.0 / least));
        for (share, (_, weight, _)) in shares.iter().zip(&stations) {
            let fair = f64::from(*weight) / all;
            prop_assert!((share / fair - 1.0).abs() < 0.01, "{share}, not {fair}");
        }
    }

    /// Whatever the policies, nothing is lost, nothing stays, and nobody starves.
    #[test]
    fn policies_keep_every_packet(
        seed: u64,
        errors in prop::collection::vec(0.0_f64..0.5, 4),
        groups in prop::collection::vec(prop::option::of(0_u16..2), 4),
        caps in prop::collection::vec(prop::option::of(0.01_f64..1.0), 2),
        min_rate in prop::option::of(1_u64..6),
        (credit, fairness, delay) in (any::<bool>(), any::<bool>(), 0_u64..30),
        (riders, hold, demote) in (prop::option::of(1_u32..9), 0_u32..3, prop::option::of(1_u64..30)),
        limit in prop::sample::select(vec![3u32, 40, 8192]),
        script in prop::collection::vec((0u16..4, any::<bool>(), 0u8..8, 60u64..1515, 0u64..3_000), 1..300),
    ) {
        let texts = ["ht mcs 0 sgi", "ht mcs 15 sgi", "ofdm 6mbit", "ht mcs 7"];
        let mut spec = with_groups(&[], &[]);
        for (i, text) in texts.into_iter().enumerate() {
            spec.stations.push(StationSpec {
                error: errors[i],
                min_rate: min_rate.filter(|_| i % 2 == 0).map(sojourn_units::Rate::from_mbit),
                group: groups[i].filter(|_| !credit).map(|g| g.to_string()),
                ..StationSpec::new(&format!("s{i}"), rate(text))
            });
        }
        spec.access_point.limit = limit;
        let policies = &mut spec.access_point.policies;
        if credit {
            policies.scheduler = crate::SchedulerKind::Credit;
        } else {
            let group = |(g, cap): (usize, &Option<f64>)| crate::GroupSpec { name: g.to_string(), weight: 256, cap: *cap };
            policies.groups = caps.iter().enumerate().map(group).collect();
        }
        if fairness {
            policies.qos = crate::QosOrder::Fairness;
        }
        policies.accounting_delay = Duration::from_millis(delay);
        policies.vo_in_aggregate = riders;
        policies.vo_hold = if riders.is_some() { hold } else { 0 };
        policies.demote = demote.map(Duration::from_millis);
        play(&spec, seed, script)?;
    }
}
