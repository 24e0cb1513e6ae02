//! Downloads, thin streams and the waiting of probes, of a measurement made by hand.

use super::*;
use sojourn_bed::{FileMeasured, WritesMeasured};

fn long_link() -> Scenario {
    scenario(&json!({
        "flows": [{"name": "thin", "direction": "up", "write": "100b", "write_interval": "200ms"}],
        "probes": [{"name": "ping", "kind": "icmp"}, {"name": "voip", "kind": "voip", "direction": "down"}],
        "downloads": [{"name": "a", "direction": "up", "bytes": 1448, "gap": "1s"},
                      {"name": "b", "direction": "up", "bytes": 5000, "gap": "1s"}],
        "up": "1mbit",
    }))
}

#[test]
fn files_and_writes_are_told_as_they_were_measured() {
    let s = long_link();
    let mut m = nothing(&s);
    m.flows[0].writes = Some(WritesMeasured {
        count: 5,
        delays_ns: vec![30_000_000, 10_000_000, 20_000_000],
    });
    let file = |ms: i64, time_ns| FileMeasured {
        start_ns: ms * MS,
        time_ns,
    };
    m.downloads[1] = DownloadMeasured {
        files: vec![
            file(100, Some(150_000_000)),
            file(400, Some(250_000_000)),
            file(900, None),
        ],
        delivered: 12_500,
        segments_sent: 12,
        retransmissions: 2,
        syn_retransmissions: 1,
        error: None,
    };
    // Frames of both downloads wait at the bottleneck: those of one 40 ms, of the other 20 ms, and an echo request 60.
    let of = |key: u64, conversation, ms: i64| Watched {
        conversation,
        ..data(key, ms)
    };
    let ping = Watched {
        data: false,
        length: 98,
        ..of(3, Conversation::Probe(0), 10)
    };
    let (one, two) = (of(1, Conversation::Download(0), 0), of(2, Conversation::Download(1), 5));
    let r = record(&s, &m, &[one, left(one, 40), two, left(two, 25), ping, left(ping, 70)]);
    let writes = r.flows[0].writes.as_ref().expect("a thin stream");
    assert_eq!((writes.count, writes.delivered), (5, 3));
    near(writes.delay_ms.mean.unwrap(), 20.0);
    near(writes.delay_ms.max.unwrap(), 30.0);
    let second = &r.downloads[1];
    assert_eq!(
        (
            second.files.len(),
            second.completed,
            second.retransmissions,
            second.syn_retransmissions
        ),
        (3, 2, 2, 1)
    );
    near(second.files[1].start_s, 0.4);
    assert_eq!(second.files[2].fct_ms, None);
    near(second.fct_ms.mean.unwrap(), 200.0);
    near(r.summary.fct_ms.flatten().expect("files"), 200.0);
    near(second.goodput_mbit, 0.1);
    near(r.downloads[0].sojourn_ms.mean.unwrap(), 40.0);
    near(r.downloads[1].sojourn_ms.max.flatten().expect("a long link"), 20.0);
    let sojourns: Vec<_> = r.probes.iter().map(|p| p.sojourn_ms.unwrap().mean).collect();
    near(sojourns[0].unwrap(), 60.0);
    assert_eq!(sojourns[1], None, "none of its packets was there");
    near(
        r.bottleneck.up.utilisation.expect("a long link"),
        (2.0 * 1514.0 + 98.0) * 8.0 / 1e6,
    );
}

#[test]
fn a_measurement_that_no_bed_made_is_refused() {
    let s = long_link();
    let mut m = nothing(&s);
    m.downloads.pop();
    assert_eq!(
        error(&s, &m, &[]),
        "number of measured downloads is 1, but must be 2, as in the scenario"
    );
    let mut m = nothing(&s);
    let file = FileMeasured {
        start_ns: 0,
        time_ns: None,
    };
    m.downloads[0].files = vec![file, file];
    assert_eq!(
        error(&s, &m, &[]),
        "file 0 of download 0 is incomplete, but must be complete, as others follow it"
    );
    let far = Watched {
        conversation: Conversation::Download(2),
        ..data(1, 0)
    };
    assert!(
        error(&s, &nothing(&s), &[far]).contains("less than 2"),
        "{}",
        error(&s, &nothing(&s), &[far])
    );
    let mut m = nothing(&s);
    m.flows[0].writes = Some(WritesMeasured {
        count: 0,
        delays_ns: vec![1],
    });
    assert!(error(&s, &m, &[]).starts_with("writes of flow 0 is 1 delays of 0"));
}
