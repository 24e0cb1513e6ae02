//! Accurate congestion notification (AccECN): RFC 9768.

use crate::net::{Dir, Fate, Net, Sent, params};
use sojourn_tcp::cc::Algorithm::{Cubic, Dctcp, Reno};
use sojourn_tcp::{AccEcnParams, EcnMode, OptionSeen, OptionUse, TcpParams, Variant};
use sojourn_units::Ecn;

fn accurate(algorithm: sojourn_tcp::cc::Algorithm) -> TcpParams {
    TcpParams {
        ecn: EcnMode::Accurate,
        ..params(algorithm)
    }
}

fn of(net: &Net, dir: Dir) -> impl Iterator<Item = &Sent> {
    net.log.iter().filter(move |s| s.dir == dir)
}

/// Section 3.1: SYN 111, SYN-ACK and third acknowledgement 010, because neither was ECN-capable; after those everything is.
#[test]
fn the_handshake_agrees_by_three_bits() {
    let net = Net::transfer(&accurate(Cubic), 5, |_| Fate::Deliver);
    let aces = |dir| of(&net, dir).map(|s| s.segment.flags.ace()).collect::<Vec<_>>();
    let data = aces(Dir::Data);
    assert_eq!(data[..3], [0b111, 0b010, 5]);
    assert!(data[3..].iter().all(|ace| *ace == 5));
    let acks = aces(Dir::Ack);
    assert_eq!(acks[0], 0b010);
    assert!(acks[1..].iter().all(|ace| *ace == 5));
    for dir in [Dir::Data, Dir::Ack] {
        assert!(of(&net, dir).skip(1).all(|s| s.segment.flags.ecn() == Ecn::Ect0));
        assert_eq!(of(&net, dir).next().map(|s| s.segment.flags.ecn()), Some(Ecn::NotEct));
    }
    for end in [&net.client, &net.server] {
        assert_eq!(end.ecn(), EcnMode::Accurate);
        assert!(end.sender().ecn());
        assert_eq!(
            end.accecn().map(|a| (a.option_seen(), a.fail_mode())),
            Some((OptionSeen::Counters, 0))
        );
    }
}

/// Section 3.2.3: the option takes 12 of the 1448 bytes, so that no packet is larger.
#[test]
fn segments_leave_room_for_the_option() {
    let net = Net::transfer(&accurate(Cubic), 40, |_| Fate::Deliver);
    let full: Vec<_> = of(&net, Dir::Data).filter(|s| s.segment.len > 1000).collect();
    assert!(
        full.iter()
            .all(|s| s.segment.len == 1436 && s.segment.wire_size() == 1514)
    );
    // Two full segments an acknowledgement, as without the option, once quick acknowledgements are over.
    let acks = of(&net, Dir::Ack).count();
    assert!(acks < full.len(), "{acks} of {}", full.len());
    let never = TcpParams {
        accecn: AccEcnParams {
            option: OptionUse::Never,
            ..AccEcnParams::default()
        },
        ..accurate(Cubic)
    };
    let net = Net::transfer(&never, 40, |_| Fate::Deliver);
    assert!(net.log.iter().all(|s| !s.segment.accecn.is_present()));
    assert!(of(&net, Dir::Data).any(|s| s.segment.len == 1448));
}

/// Section 3.2.2.5: each mark is counted, though ACE has three bits and acknowledgements are lost; an option is not needed
/// for that. 20 marks in a row are two and a half rounds of ACE.
#[test]
fn marks_survive_lost_acknowledgements() {
    for option in [OptionUse::Never, OptionUse::Always] {
        let p = TcpParams {
            accecn: AccEcnParams {
                option,
                ..AccEcnParams::default()
            },
            ..accurate(Reno)
        };
        let net = Net::transfer(&p, 400, |s| match (s.dir, s.nth) {
            (Dir::Data, 40..60 | 150 | 340) => Fate::Mark,
            (Dir::Ack, n) if n > 10 && n % 3 == 0 => Fate::Drop,
            _ => Fate::Deliver,
        });
        assert_eq!(net.server.accecn().map(sojourn_tcp::AccEcn::received_ce), Some(22));
        assert_eq!(net.server.receiver().stats().marked, 22);
        assert_eq!(net.client.sender().stats().delivered_ce, 22, "{option:?}");
        assert_eq!(net.client.sender().stats().recoveries, 0);
        // The row is within one round trip, the others are apart.
        assert_eq!(net.client.sender().stats().ecn_reductions, 3, "{option:?}");
        if option == OptionUse::Always {
            let bytes = net.client.accecn().map(|a| a.delivered_bytes(Ecn::Ce));
            assert_eq!(bytes, Some(22 * 1436));
        }
    }
}

/// Table 2: where one end has no more than classic ECN, both have that; where one has none, both have none.
#[test]
fn the_poorer_end_decides() {
    use EcnMode::{Accurate, Classic, Off};
    for (client, server) in [
        (Accurate, Classic),
        (Classic, Accurate),
        (Accurate, Off),
        (Off, Accurate),
    ] {
        let with = |ecn| TcpParams { ecn, ..params(Cubic) };
        let agreed = client.min(server);
        let net = Net::between(&with(client), &with(server), 20, move |s| {
            if s.dir == Dir::Data && s.nth == 8 && agreed == Classic {
                Fate::Mark
            } else {
                Fate::Deliver
            }
        });
        assert_eq!(
            (net.client.ecn(), net.server.ecn()),
            (agreed, agreed),
            "{client:?} {server:?}"
        );
        assert!(net.client.accecn().is_none() && net.server.accecn().is_none());
        assert!(net.log.iter().all(|s| !s.segment.accecn.is_present()));
        assert_eq!(net.client.sender().stats().echoes > 0, agreed == Classic);
    }
}

/// RFC 8257's echo is not needed where both ends have AccECN: DCTCP hears of as many marks, and of no more.
#[test]
fn dctcp_takes_its_marks_from_accecn() {
    let net = Net::transfer(&accurate(Dctcp), 300, |s| match (s.dir, s.nth) {
        (Dir::Data, 40..50) => Fate::Mark,
        _ => Fate::Deliver,
    });
    assert_eq!(net.client.sender().stats().delivered_ce, 10);
    assert_eq!(
        of(&net, Dir::Data).next().map(|s| s.segment.flags.ecn()),
        Some(Ecn::Ect0)
    );
}

#[test]
fn an_old_kernel_has_no_accecn() {
    let refused = TcpParams {
        variant: Variant::Linux314,
        ..accurate(Cubic)
    };
    assert_eq!(
        refused.validate().unwrap_err().to_string(),
        "tcp.ecn is accecn, but must be true or false with tcp.variant linux-3.14, which is older than AccECN"
    );
}
