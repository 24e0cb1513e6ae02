use super::*;
use crate::network::Shaping;
use sojourn_qdisc::QdiscSpec;
use sojourn_units::Rate;

/// A delay of 1 ms.
fn link(name: &str, from: &str, to: &str) -> NamedLink {
    NamedLink {
        delay: Duration::from_millis(1),
        ..NamedLink::new(name, from, to)
    }
}

/// Nodes a, b and c, and a link from each to the next.
fn chain() -> TopologyBuilder {
    let mut t = Topology::builder();
    t.node("a").node("b").node("c");
    t.link(link("ab", "a", "b")).link(link("bc", "b", "c"));
    t
}

fn refused(t: &mut TopologyBuilder) -> String {
    t.build().expect_err("it cannot be built").to_string()
}

#[test]
fn links_and_routes_are_found_by_name() {
    let t = chain().route("through", ["ab", "bc"]).build().expect("a path");
    let [ab, bc] = ["ab", "bc"].map(|name| t.link(name).expect("it is there"));
    assert_eq!(t.route("through"), Some(&[ab, bc][..]));
    assert_eq!((t.link("ca"), t.route("back")), (None, None));
    assert_eq!(t.links().collect::<Vec<_>>(), [("ab", ab), ("bc", bc)]);
    assert_eq!(t.routes().collect::<Vec<_>>(), [("through", &[ab, bc][..])]);
    assert_eq!(t.network().links().len(), 2);
}

#[test]
fn each_name_is_unique_among_its_kind() {
    assert_eq!(
        refused(chain().node("a")),
        r#"two nodes have the name "a", but each node must have a name of its own"#
    );
    assert_eq!(
        refused(chain().link(link("ab", "b", "a"))),
        r#"two links have the name "ab", but each link must have a name of its own"#
    );
    assert_eq!(
        refused(chain().route("r", ["ab"]).route("r", ["bc"])),
        r#"two routes have the name "r", but each route must have a name of its own"#
    );
    assert!(chain().link(link("a", "b", "a")).route("a", ["a"]).build().is_ok());
}

#[test]
fn a_link_leads_from_one_node_to_another() {
    assert_eq!(
        refused(chain().link(link("cd", "c", "d"))),
        r#"link "cd" has node "d" as an end, but there is no node of that name"#
    );
    assert_eq!(
        refused(chain().link(link("cc", "c", "c"))),
        r#"link "cc" begins and ends at node "c", but must lead to another one"#
    );
}

#[test]
fn a_link_through_a_cell_has_no_rate_and_a_cell() {
    let hop = Some(Hop {
        cell: CellId(0),
        from: sojourn_wifi::NodeId::ACCESS_POINT,
        to: sojourn_wifi::NodeId::of_station(0),
    });
    let air = NamedLink {
        hop,
        ..link("air", "c", "a")
    };
    assert_eq!(
        refused(chain().link(air.clone())),
        r#"link "air" leads through a cell that the topology does not have"#
    );
    let egress = Some(EgressSpec {
        shaping: Shaping::Wire,
        ..EgressSpec::new(
            Rate::from_mbit(1),
            QdiscSpec::parse("pfifo limit 10", None).expect("valid"),
        )
    });
    assert_eq!(
        refused(chain().link(NamedLink { egress, ..air })),
        r#"link "air" has a rate and leads through a cell, but must have at most one of the two"#
    );
}

#[test]
fn a_route_is_a_connected_path_that_takes_time() {
    assert_eq!(
        refused(chain().route("r", ["ab", "cd"])),
        r#"route "r" has link "cd", but there is no link of that name"#
    );
    assert_eq!(
        refused(chain().route("r", [])),
        r#"route "r" has no links, but must have at least one"#
    );
    assert_eq!(
        refused(chain().route("r", ["bc", "ab"])),
        r#"route "r" goes on from node "c" by link "ab", which begins at node "a", but the links of a route must follow each other"#
    );
    assert_eq!(
        refused(chain().link(link("ba", "b", "a")).route("r", ["ab", "ba", "ab"])),
        r#"route "r" has link "ab" twice, but must have each link at most once"#
    );
    assert_eq!(
        refused(chain().link(NamedLink::new("ca", "c", "a")).route("r", ["ca"])),
        r#"the route from node "c" to node "a" has neither a rate nor a delay, but must have one"#
    );
}

#[test]
fn more_nodes_than_can_be_numbered_are_refused() {
    let mut t = Topology::builder();
    for i in 0..65_535 {
        t.node(&i.to_string());
    }
    assert_eq!(
        refused(&mut t),
        "the network has 65535 nodes, but must have at most 65534"
    );
}

/// The dumbbell is a description like any other: its names lead to the links that it answers.
#[test]
fn the_dumbbell_names_its_links_by_what_they_are_for() {
    let fq_codel = || QdiscSpec::parse("fq_codel", None).expect("valid");
    let side = |mbit| EgressSpec::new(Rate::from_mbit(mbit), fq_codel());
    let spec = DumbbellSpec {
        rtts: vec![Duration::from_nanos(3), Duration::from_millis(50)],
        ..DumbbellSpec::new(side(1), side(10), Duration::ZERO)
    };
    let d = dumbbell(&spec, None);
    let rate = |link| d.topology.network().link(link).egress.as_ref().map(|e| e.rate);
    assert_eq!(
        (rate(d.up), rate(d.down)),
        (Some(Rate::from_mbit(1)), Some(Rate::from_mbit(10)))
    );
    assert_eq!(
        (Some(d.up), Some(d.down)),
        (d.topology.link("up"), d.topology.link("down"))
    );
    let [near, far] = d.paths[..] else {
        panic!("two RTTs, and one client")
    };
    assert_eq!(d.topology.route("client up 50ms"), Some(&far.up.links()[..]));
    assert_eq!(d.topology.route("client down 50ms"), Some(&far.down.links()[..]));
    let delay = |link| d.topology.network().link(link).delay.as_nanos();
    assert_eq!(
        (delay(near.up.delay), delay(near.down.delay)),
        (2, 1),
        "an odd nanosecond goes up"
    );
    for path in [near, far] {
        assert_eq!((path.up.bottleneck, path.down.bottleneck), (d.up, d.down));
        assert_eq!(path.up.links()[1..], path.up.from_router());
    }
}
