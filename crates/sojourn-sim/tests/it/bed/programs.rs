//! Programs and their flows at the bottleneck.

use super::*;
use sojourn_bed::{ProgramFlow, ProgramMeasured};

/// Two equal datagrams are in the queue together, and a third is dropped: all by hand.
#[test]
fn flows_of_programs_are_told_by_the_agents_numbers() {
    let program = json!({"name": "p", "host": "client", "command": ["x"]});
    let s = scenario(&json!({"programs": [program], "qdisc_up": "pfifo limit 100"}));
    let mut m = nothing(&s);
    m.programs = vec![ProgramMeasured {
        started_ns: Some(5 * MS),
        signal: Some(6),
        outputs: [("stdout".to_owned(), "/w==".to_owned())].into(),
        base64: ["stdout".to_owned()].into(),
        ..ProgramMeasured::default()
    }];
    let [client, server] = ["[fd00::1]:9", "[fd00::4]:53"].map(|end| end.parse().expect("an end"));
    m.program_flows = vec![ProgramFlow {
        protocol: 17,
        client,
        server,
    }];
    with_drops(&mut m, 1, &[]);
    let frame = |key, ms| Watched {
        conversation: Conversation::Program(0),
        ..data(key, ms)
    };
    let (first, again, lost) = (frame(7, 10), frame(7, 11), frame(8, 12));
    let answer = Watched {
        down: true,
        length: 100,
        ..frame(9, 40)
    };
    let frames = [
        first,
        again,
        lost,
        left(again, 20),
        left(first, 22),
        answer,
        left(answer, 41),
    ];
    let r = record(&s, &m, &frames);
    let [flow] = &r.program_flows[..] else {
        panic!("one flow")
    };
    assert_eq!(
        (&*flow.protocol, &*flow.client, &*flow.server),
        ("udp", "[fd00::1]:9", "[fd00::4]:53")
    );
    assert_eq!((flow.up.packets, flow.up.bytes, flow.up.dropped), (2, 3028, 1));
    // 9 and 12 ms; in the order of coming it would be 10 and 11.
    near(flow.up.sojourn_ms.mean.expect("two"), 10.5);
    near(flow.up.rate_mbit.expect("two"), 1514.0 * 8.0 / 0.002 / 1e6);
    assert_eq!(
        (flow.down.packets, flow.down.dropped, flow.down.rate_mbit),
        (1, 0, None)
    );
    assert_eq!((r.programs[0].started_s, r.programs[0].signal), (Some(0.005), Some(6)));
    assert_eq!(r.programs[0].base64, ["stdout"]);
    let unknown = Watched {
        conversation: Conversation::Program(1),
        ..first
    };
    assert!(error(&s, &m, &[unknown]).contains("flow of programs of watched frame 0 is 1, but must be less than 1"));
    m.programs.clear();
    assert!(error(&s, &m, &[]).contains("number of measured programs is 0, but must be 1"));
}
