//! Flows, probes, voice and pages.

use super::*;
use sojourn_bed::{Fetch, Sample};

fn sample(sent_ms: i64, delay_ms: Option<u64>) -> Sample {
    Sample {
        sent_ns: sent_ms * MS,
        delay_ns: delay_ms.map(|ms| ms * 1_000_000),
    }
}

/// 1,250,000 bytes in a second are 10 Mbit/s; 500,000 in a bin of 200 ms are 20.
#[test]
fn goodput_is_what_the_receiver_read() {
    let s = scenario(&json!({"flows": [{"name": "a", "direction": "up"}, {"name": "b", "direction": "down"}]}));
    let mut m = nothing(&s);
    m.flows[0] = FlowMeasured {
        delivered: vec![0, 500_000, 750_000, 1_000_000, 1_250_000],
        cwnd: vec![10, 20, 30, 40, 50],
        delivered_total: 1_250_000,
        segments_sent: 900,
        retransmissions: 4,
        timeouts: Some(1),
        syn_retransmissions: 2,
        ..FlowMeasured::default()
    };
    m.flows[1].error = Some("connection timed out".to_owned());
    let r = record(&s, &m, &[]);
    let flow = &r.flows[0];
    near(flow.goodput_mbit, 10.0);
    near(flow.mean_cwnd_segments.unwrap(), 30.0);
    assert_eq!(
        (flow.segments_sent, flow.retransmissions, flow.syn_retransmissions),
        (900, 4, 2)
    );
    assert_eq!((flow.timeouts, flow.loss_probes, flow.undone), (Some(1), None, None));
    assert_eq!(
        (r.flows[1].timeouts, r.flows[1].error.as_deref()),
        (None, Some("connection timed out"))
    );
    assert_eq!(r.series.goodput_mbit["a"], [0.0, 20.0, 10.0, 10.0, 10.0]);
    assert_eq!(r.series.cwnd_segments["a"], [10, 20, 30, 40, 50]);
    near(r.summary.goodput_up_mbit, 10.0);
    assert_eq!(r.series.t_s, [0.2, 0.4, 0.6, 0.8, 1.0]);
}

#[test]
fn a_record_says_where_it_comes_from() {
    let s = scenario(&json!({}));
    let json: Value = serde_json::from_str(&record(&s, &nothing(&s), &[]).to_json()).expect("JSON");
    assert_eq!(
        (&json["backend"], &json["format"]),
        (&json!("linux"), &json!("sojourn-run/1"))
    );
    assert_eq!(
        json["kernel"],
        json!({"release": "6.1.0", "version": "#1", "virtual_time": true})
    );
    assert_eq!(json["tcp_counters"], json!({"client": {"TcpRetransSegs": 3}}));
    assert_eq!(
        (&json["cost"]["events"], &json["cost"]["sim_s"]),
        (&json!(0), &json!(1.0))
    );
    assert_eq!(json["scenario"].to_string(), s.to_json());
}

/// The base RTT is 50 ms; early samples are in the series and not in the summary.
#[test]
fn echoes_are_measured_against_the_base() {
    let s = scenario(&json!({"probes": [{"name": "ping", "kind": "icmp"}]}));
    let mut m = nothing(&s);
    m.probes[0].samples = vec![
        sample(-100, Some(500)),
        sample(100, Some(60)),
        sample(300, None),
        sample(500, Some(70)),
        sample(700, Some(80)),
    ];
    let r = record(&s, &m, &[]);
    near(r.summary.induced_latency_ms.unwrap(), 20.0);
    near(r.summary.probe_loss.unwrap(), 0.25);
    near(r.summary.rtt_ms.median.unwrap(), 70.0);
    assert_eq!((r.probes[0].sent, r.probes[0].lost), (4, 1));
    assert_eq!(r.series.rtt["ping"].t_s, [-0.1, 0.1, 0.3, 0.5, 0.7]);
    assert_eq!(
        r.series.rtt["ping"].rtt_ms,
        [Some(500.0), Some(60.0), None, Some(70.0), Some(80.0)]
    );
}

/// Transactions that end in a bin are averaged: those at 60 and 100 ms have 40 and 60 ms, that at 450 ms has 50.
#[test]
fn transactions_are_told_by_bins() {
    let s = scenario(&json!({"probes": [{"name": "rr", "kind": "udp_rr"}], "lead": "0s"}));
    let mut m = nothing(&s);
    m.probes[0].samples = vec![sample(20, Some(40)), sample(40, Some(60)), sample(400, Some(50))];
    let r = record(&s, &m, &[]);
    assert_eq!(r.series.rtt["rr"].t_s, [0.0, 0.2, 0.4, 0.6, 0.8]);
    assert_eq!(r.series.rtt["rr"].rtt_ms, [Some(50.0), None, Some(50.0), None, None]);
}

/// Delays 10, 26, lost, 10, 10 ms in the order of arrival: |D| 16, 16, 0, so J = 1, then 31/16, then 15/16 of that
/// (RFC 3550 section 6.4.1). Successive pairs that both arrived differ by 16 and 0 ms.
#[test]
fn voice_has_the_jitter_of_rfc_3550() {
    let s = scenario(&json!({"probes": [{"name": "v", "kind": "voip", "rtt": "41ms"}], "edge_rate": "1mbit"}));
    let mut m = nothing(&s);
    m.probes[0].samples = vec![
        sample(-20, Some(99)),
        sample(160, Some(10)),
        sample(180, Some(26)),
        sample(200, None),
        sample(220, Some(10)),
        sample(240, Some(10)),
    ];
    let r = record(&s, &m, &[]);
    let (probe, voice) = (&r.probes[0], r.probes[0].voice.clone().expect("it is a voice stream"));
    near(voice.jitter_ms.unwrap(), (1.0 + 15.0 / 16.0) * 15.0 / 16.0);
    near(voice.ipdv_ms.unwrap(), 8.0);
    // Half of the RTT, and 214 bytes twice at 1 Mbit/s.
    near(voice.base_delay_ms, 20.5 + 2.0 * 1.712);
    assert_eq!((probe.sent, probe.lost), (5, 1));
    near(probe.delay_ms.as_ref().and_then(|q| q.mean).unwrap(), 14.0);
    let series = &r.series.voip["v"];
    assert_eq!((&series.sent[..2], &series.lost[..2]), (&[2, 3][..], &[0, 1][..]));
    assert_eq!(
        (series.delay_ms[0], series.max_ms[0], series.delay_ms[2]),
        (Some(18.0), Some(26.0), None)
    );
}

#[test]
fn pages_are_the_fetches_that_were_completed() {
    let s = scenario(&json!({"web": [{"name": "w", "objects": [1000, 50]}]}));
    let mut m = nothing(&s);
    let fetch = |start_ms: i64, time_ms: u64| Fetch {
        start_ns: start_ms * MS,
        dns_ns: 50_000_000,
        connect_ns: 51_000_000,
        time_ns: time_ms * 1_000_000,
        syn_retransmitted: 1,
        dns_retried: 0,
    };
    m.web[0].fetches = vec![fetch(10, 300), fetch(400, 500)];
    let r = record(&s, &m, &[]);
    let web = &r.web[0];
    assert_eq!(
        (web.completed, web.objects, web.bytes, web.fetches[1].syn_retransmitted),
        (2, 2, 1050, 1)
    );
    near(web.fetches[1].start_s, 0.4);
    near(web.fetches[0].connect_s, 0.051);
    near(r.summary.page_fetch_s.unwrap_or_default(), 0.4);
}

/// Counters of the series begin with the window.
#[test]
fn series_are_the_kernels_counters() {
    let s = scenario(&json!({}));
    let mut m = nothing(&s);
    for (k, sample) in m.down.samples.iter_mut().enumerate() {
        sample.packets = 100 + 10 * k as u64;
        sample.queued = k as u64;
    }
    let r = record(&s, &m, &[]);
    assert_eq!(r.series.packets.down, [10, 20, 30, 40, 50]);
    assert_eq!(r.series.backlog_packets.down, [1, 2, 3, 4, 5]);
    assert_eq!(r.series.drops.down, [0; 5]);
}
