//! What a segment costs: `cargo bench -p sojourn-tcp`.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use sojourn_tcp::{Endpoint, Flags, Segment, TcpParams};
use sojourn_units::{Duration, Time};
use std::hint::black_box;

const MSS: u64 = 1448;
/// A full segment at 10 Mbit/s.
const SEGMENT_TIME: Duration = Duration::from_nanos(1_211_200);

/// Both ends after their handshake, the client with more to send than it may, and the time.
fn established(initial_window: u32) -> (Endpoint, Endpoint, Time) {
    let params = TcpParams {
        initial_window,
        ..TcpParams::default()
    };
    let mut client = Endpoint::client(&params).expect("valid parameters");
    let mut server = Endpoint::server(&params).expect("valid parameters");
    client.write(1 << 60);
    let mut now = Time::from_millis(1);
    client.connect(now);
    let syn = client.poll_transmit(now).expect("a SYN");
    server.on_segment(&syn, now);
    let syn_ack = server.poll_transmit(now).expect("a SYN-ACK");
    now += Duration::from_millis(50);
    client.on_segment(
        &Segment {
            window: 65_535,
            ..syn_ack
        },
        now,
    );
    (client, server, now)
}

fn drain(endpoint: &mut Endpoint, now: Time) -> Vec<Segment> {
    std::iter::from_fn(|| endpoint.poll_transmit(now)).collect()
}

/// An acknowledgement of two segments, and the two that it releases; the receiver's window is the limit.
fn steady_state(c: &mut Criterion) {
    let (mut client, _, mut now) = established(100);
    assert_eq!(drain(&mut client, now).len(), 100);
    let window = 100 * MSS / 256 + 1;
    let mut ack = Segment {
        ack: 1,
        flags: Flags::ACK,
        window: window as u16,
        ts_val: 1,
        ts_ecr: 52,
        ..Segment::default()
    };
    // The handshake offered more; let the window close to its steady size.
    let steps = 65_535 * 256 / MSS / 2;
    let mut step = move || {
        now += SEGMENT_TIME * 2;
        ack.ack += 2 * MSS;
        client.on_segment(&ack, now);
        let mut sent = 0;
        while let Some(segment) = client.poll_transmit(now) {
            black_box(&segment);
            sent += 1;
        }
        sent
    };
    for _ in 0..steps {
        step();
    }
    assert_eq!(step(), 2, "two in, two out");
    c.bench_function("ack of 2 segments, send 2", |b| b.iter(&mut step));
}

/// 1000 segments out, every twentieth lost: the acknowledgements that our receiver answers with, SACK blocks and all,
/// and what they release.
fn recovery(c: &mut Criterion) {
    let (mut client, mut server, mut now) = established(1000);
    let data = drain(&mut client, now);
    assert_eq!(data.len(), 1000);
    now += Duration::from_millis(25);
    let mut acks = Vec::new();
    for (k, segment) in data.iter().enumerate() {
        now += SEGMENT_TIME;
        server.on_timeout(now);
        if k % 20 != 0 {
            server.on_segment(segment, now);
        }
        while let Some(ack) = server.poll_transmit(now) {
            acks.push((now + Duration::from_millis(25), Segment { window: 65_535, ..ack }));
        }
    }
    let sacks = acks.iter().filter(|(_, a)| a.sack_count > 0).count();
    assert!(sacks > 500, "{sacks}");
    let mut group = c.benchmark_group("recovery");
    group.throughput(Throughput::Elements(acks.len() as u64));
    group.bench_function("ack with SACK blocks, 1000 segments out", |b| {
        b.iter_batched_ref(
            || client.clone(),
            |client| {
                for (at, ack) in &acks {
                    client.on_segment(ack, *at);
                    while let Some(segment) = client.poll_transmit(*at) {
                        black_box(segment);
                    }
                }
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

/// A data segment in order, and every second time an acknowledgement.
fn receiver(c: &mut Criterion) {
    let (mut client, mut server, mut now) = established(10);
    let mut segment = drain(&mut client, now).into_iter().find(|s| s.len > 0).expect("data");
    c.bench_function("data segment in order", |b| {
        b.iter(|| {
            now += SEGMENT_TIME;
            server.on_segment(&segment, now);
            segment.seq += MSS;
            black_box(server.poll_transmit(now))
        });
    });
    assert_eq!(server.receiver().bytes_in_order(), segment.seq - 1);
}

criterion_group!(benches, steady_state, recovery, receiver);
criterion_main!(benches);
