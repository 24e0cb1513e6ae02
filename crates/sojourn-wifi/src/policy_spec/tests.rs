use crate::{GroupSpec, NodeSpec, Policies, QosOrder, SchedulerKind, Scheme};
use sojourn_units::Duration;

fn error(scheme: Scheme, policies: Policies) -> String {
    let spec = NodeSpec {
        scheme,
        policies,
        ..NodeSpec::ACCESS_POINT
    };
    spec.validate("wifi").unwrap_err().to_string()
}

fn group(name: &str) -> GroupSpec {
    GroupSpec {
        name: name.into(),
        weight: 256,
        cap: None,
    }
}

#[test]
fn what_cannot_be_is_told_in_one_sentence() {
    let none = || Policies::NONE;
    let groups = |groups| Policies { groups, ..none() };
    let caps = |cap| {
        groups(vec![GroupSpec {
            cap: Some(cap),
            ..group("guest")
        }])
    };
    let heavy = GroupSpec {
        weight: 65_536,
        ..group("guest")
    };
    for (policies, message) in [
        (caps(0.0), "wifi.groups[0].cap is 0, but must be 0.000001 to 1"),
        (caps(1.5), "wifi.groups[0].cap is 1.5, but must be 0.000001 to 1"),
        (caps(f64::NAN), "wifi.groups[0].cap is NaN, but must be 0.000001 to 1"),
        (
            groups(vec![group("guest"), group("guest")]),
            "wifi.groups[1].name is \"guest\", but must be a name that no other group has",
        ),
        (
            groups(vec![heavy]),
            "wifi.groups[0].weight is 65536, but must be 1 to 65535",
        ),
        (
            Policies {
                scheduler: SchedulerKind::Credit,
                ..groups(vec![group("guest")])
            },
            "wifi.scheduler is \"credit\", but must be \"deficit\" where there are groups: credits know none",
        ),
        (
            Policies {
                accounting_delay: Duration::from_secs(11),
                ..none()
            },
            "wifi.accounting_delay is 11s, but must be 0 to 10s",
        ),
        (
            Policies {
                vo_in_aggregate: Some(65),
                ..none()
            },
            "wifi.vo_in_aggregate_max is 65, but must be 1 to 64 (the Block Ack window)",
        ),
        (
            Policies {
                demote: Some(Duration::ZERO),
                ..none()
            },
            "wifi.demote is 0s, but must be 1us to 10s",
        ),
    ] {
        assert_eq!(error(Scheme::Airtime, policies), message);
    }
}

#[test]
fn policies_belong_to_the_airtime_scheme() {
    let all = [
        Policies {
            groups: vec![group("guest")],
            ..Policies::NONE
        },
        Policies {
            scheduler: SchedulerKind::Credit,
            ..Policies::NONE
        },
        Policies {
            accounting_delay: Duration::from_millis(1),
            ..Policies::NONE
        },
        Policies {
            vo_in_aggregate: Some(8),
            ..Policies::NONE
        },
        Policies {
            demote: Some(Duration::from_millis(20)),
            ..Policies::NONE
        },
        Policies {
            qos: QosOrder::Fairness,
            ..Policies::NONE
        },
    ];
    for policies in all {
        assert!(
            NodeSpec {
                policies: policies.clone(),
                ..NodeSpec::ACCESS_POINT
            }
            .validate("wifi")
            .is_ok()
        );
        for scheme in [Scheme::Fifo, Scheme::FqCodel, Scheme::FqMac] {
            let message = error(scheme, policies.clone());
            let rule = format!(
                "but must be left out with the scheme {}: it belongs to airtime",
                scheme.name()
            );
            assert!(message.ends_with(&rule), "{message}");
        }
    }
}
