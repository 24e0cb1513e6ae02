//! From the cell of a scenario to what radios, access point and stations are told.

use sojourn_bed::{AqlPlan, CategoryPlan, QdiscPlan, WifiLinkPlan, WifiPlan, WifiQueuePlan, WifiStationPlan};
use sojourn_scenario::wifi_discipline;
use sojourn_units::Duration;
use sojourn_wifi::{AqlSpec, CellSpec, EdcaTable, Format, Guard, NodeSpec, PhyRate, Scheme, Width};

/// The plan of a cell that a kernel can run.
pub(super) fn plan(cell: &CellSpec) -> WifiPlan {
    let ap = &cell.access_point;
    let rates = || cell.stations.iter().flat_map(|s| [s.rate, s.rate_up]);
    WifiPlan {
        scheme: ap.scheme.name().to_owned(),
        access_point: queue(ap),
        station: queue(&cell.stations[0].node),
        hardware_queue: ap.hardware_queue,
        aggregate_frames: ap.aggregate_frames,
        aggregate_us: us(ap.aggregate_time),
        retries: ap.retries,
        aql: ap.latency.aql.map(limits),
        station_aql: cell.stations[0].node.latency.aql.map(limits),
        airtime_flags: match ap.scheme {
            Scheme::Airtime => u8::from(ap.airtime_tx) | u8::from(ap.airtime_rx) << 1,
            _ => 0,
        },
        fq_limit: ap.limit,
        fq_memory: ap.memory.get(),
        fq_quantum: ap.quantum,
        channel_mhz: rates().map(|rate| mhz(rate.width())).max().unwrap_or(20),
        vht: rates().any(|rate| rate.format() == Format::Vht),
        edca_access_point: categories(&cell.edca.access_point),
        edca_station: categories(&cell.edca.station),
        stations: cell
            .stations
            .iter()
            .map(|s| WifiStationPlan {
                name: s.name.clone(),
                weight: s.weight,
                down: link(s.rate, s.error),
                up: link(s.rate_up, s.error_up),
            })
            .collect(),
    }
}

fn limits(aql: AqlSpec) -> AqlPlan {
    AqlPlan {
        low_us: us(aql.low),
        high_us: us(aql.high),
        total_us: us(aql.total),
    }
}

fn us(d: Duration) -> u64 {
    d.as_nanos() / 1000
}

fn queue(node: &NodeSpec) -> WifiQueuePlan {
    if !node.scheme.has_qdisc() {
        return WifiQueuePlan::default();
    }
    WifiQueuePlan {
        fifo: node.driver_frames,
        // A scenario with one that a kernel cannot be told was refused.
        qdisc: wifi_discipline("wifi", node).ok().flatten().map(QdiscPlan::from),
    }
}

fn categories(table: &EdcaTable) -> [CategoryPlan; 4] {
    table.categories.map(|c| CategoryPlan {
        aifsn: c.aifsn,
        cw_min: c.cw_min,
        cw_max: c.cw_max,
        txop_us: us(c.txop_limit),
    })
}

const fn mhz(width: Width) -> u16 {
    match width {
        Width::Mhz20 => 20,
        Width::Mhz40 => 40,
        Width::Mhz80 => 80,
        Width::Mhz160 => 160,
    }
}

fn link(rate: PhyRate, error: f64) -> WifiLinkPlan {
    let (format, mcs) = match rate.format() {
        // A legacy rate is told in units of 500 kbit/s, as in a beacon.
        Format::Ofdm => ("legacy", (rate.nominal().as_bps() / 500_000) as u16),
        Format::Ht => ("ht", u16::from(rate.mcs())),
        Format::Vht => ("vht", u16::from(rate.mcs())),
    };
    WifiLinkPlan {
        format: format.to_owned(),
        mcs,
        streams: rate.streams(),
        mhz: mhz(rate.width()),
        short_guard: rate.guard() == Guard::Short,
        // Less than 1, so less than 2^32; what is near rounds down.
        error: (error * 2.0f64.powi(32)) as u32,
    }
}
