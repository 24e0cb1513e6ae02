//! What each back end can be asked for.

use serde_json::{Value, json};
use sojourn_sim::{Backend, Run, Scenario};

fn text(more: &Value) -> String {
    let mut all = json!({"duration": "1s"});
    let fields = more.as_object().expect("an object");
    all.as_object_mut().expect("an object").extend(fields.clone());
    all.to_string()
}

fn error(more: &Value, backend: Backend) -> String {
    Scenario::for_backend(&text(more), backend)
        .expect_err("refused")
        .to_string()
}

fn canonical(more: &Value, backend: Backend) -> Value {
    let scenario = Scenario::for_backend(&text(more), backend).expect("valid");
    serde_json::from_str(&scenario.to_json()).expect("JSON")
}

#[test]
fn only_linux_has_disciplines_that_are_not_modelled() {
    let cake = json!({"qdisc_up": "cake lan nat", "qdisc_down": "cake nat"});
    let linux = canonical(&cake, Backend::Linux);
    assert_eq!(
        (&linux["qdisc_up"], &linux["qdisc_down"]),
        (&json!("cake rtt 1ms nat"), &json!("cake nat"))
    );
    assert_eq!(
        error(&cake, Backend::Sim),
        "qdisc_up: cake.nat needs a kernel's connection tracking: use the linux back end"
    );
    let scenario = Scenario::for_backend(&text(&cake), Backend::Linux).expect("valid");
    assert_eq!(
        Run::new(scenario).expect_err("not modelled").to_string(),
        "qdisc_up: cake.nat needs a kernel's connection tracking: use the linux back end"
    );
    assert_eq!(
        error(&json!({"qdisc_down": "cake mpu 999"}), Backend::Linux),
        "qdisc_down: cake.mpu is 999, but must be <= 256"
    );
}

#[test]
fn linux_runs_its_own_variant_of_a_discipline() {
    let linux = canonical(
        &json!({"qdisc_up": "gbw:codel", "qdisc_down": "gbw:fq_codel"}),
        Backend::Linux,
    );
    assert_eq!(linux["qdisc_up"], "codel limit 1000 target 5ms interval 100ms noecn");
    let sim = canonical(&json!({"qdisc_up": "gbw:codel"}), Backend::Sim);
    assert_eq!(
        sim["qdisc_up"],
        "codel limit 1000 target 5ms interval 100ms noecn variant linux-3.14"
    );
}

#[test]
fn canonical_text_for_linux_says_the_same_again() {
    let linux = canonical(
        &json!({"qdisc_up": "gbw:fq_nocodel", "qdisc_down": "cake nat lan"}),
        Backend::Linux,
    );
    assert_eq!(canonical(&linux, Backend::Linux), linux);
}

#[test]
fn what_both_can_run_has_one_canonical_text() {
    let both = json!({"qdisc_up": "pie", "flows": [{"name": "a", "direction": "up"}], "tcp": {"min_rto": "1s"}});
    assert_eq!(canonical(&both, Backend::Linux), canonical(&both, Backend::Sim));
}

#[test]
fn real_hosts_open_a_connection_for_each_file() {
    let files = |persistent: bool| {
        let file = json!({"name": "d", "direction": "up", "bytes": 1000, "gap": "1s", "persistent": persistent});
        json!({"downloads": [file]})
    };
    for backend in [Backend::Linux, Backend::Live] {
        let sentence = format!(
            "downloads[0].persistent is true, but the {} back end opens a connection for each file: leave it out",
            backend.name()
        );
        assert_eq!(error(&files(true), backend), sentence);
        assert!(
            canonical(&files(false), backend)["downloads"][0]
                .get("persistent")
                .is_none()
        );
    }
    assert_eq!(
        canonical(&files(true), Backend::Sim)["downloads"][0]["persistent"],
        json!(true)
    );
}

#[test]
fn linux_refuses_what_a_kernel_cannot_do() {
    for (more, sentence) in [
        (
            json!({"tcp": {"ecn": true, "abe": true}}),
            "tcp.abe is true, but Linux has no ABE (RFC 8511), so only the simulator takes it: leave it out",
        ),
        (
            json!({"tcp": {"ecn": true, "ecn_low": true}}),
            "tcp.ecn_low is true, but only google's Linux has it, with BBRv3, so only the simulator takes it: leave it out",
        ),
        (
            json!({"tcp": {"ecn": true, "bbr2_ecn_max_rtt": "0s"}}),
            "tcp.bbr2_ecn_max_rtt is 0s, but Linux has no BBRv2, so only the simulator takes it: leave it out",
        ),
        (
            json!({"spare_acks": true}),
            "spare_acks is true, but the linux back end's queues drop what the kernel drops: leave it out",
        ),
        (
            json!({"service_interval_up": "4ms"}),
            "service_interval_up is 4ms, but the linux back end's link serves all the time: leave it out",
        ),
        (
            json!({"delay_tick": "4ms"}),
            "delay_tick is 4ms, but the linux back end's delay is the kernel's own, which lets a packet out when it is due: \
             leave it out",
        ),
        (
            json!({"tcp": {"variant": "linux-3.14"}}),
            "tcp.variant is linux-3.14, but the linux back end runs the kernel's own TCP: leave it out",
        ),
        (
            json!({"tcp": {"receive_buffer": "locked"}}),
            "tcp.receive_buffer is locked, but the linux back end locks the receive buffers of a cell's hosts alone: leave it out",
        ),
        (
            json!({"tcp": {"vegas_beta": 8}}),
            "tcp.vegas_beta is 8, but a kernel's Vegas is set by its module's parameters, so only the simulator takes it: leave it out",
        ),
        (
            json!({"tcp": {"min_rto": "1500us"}}),
            "tcp.min_rto is 1500us, but must be a whole number of milliseconds on the linux back end, as a route carries it",
        ),
    ] {
        assert_eq!(error(&more, Backend::Linux), sentence);
        assert!(Scenario::from_json(&text(&more)).is_ok(), "{more}");
    }
}

#[test]
fn a_locked_receive_buffer_is_a_cells_on_the_kernel_and_absent_unless_asked_for() {
    let cell = |tcp: Value| json!({"tcp": tcp, "wifi": {"variant": "linux-6.12", "stations": [{"name": "sta1", "rate": "ht mcs 0 20mhz"}]}});
    let locked = canonical(&cell(json!({"receive_buffer": "locked"})), Backend::Linux);
    assert_eq!(locked["tcp"]["receive_buffer"], "locked");
    assert_eq!(canonical(&locked, Backend::Linux), locked);
    let auto = canonical(&cell(json!({"receive_buffer": "auto"})), Backend::Linux);
    assert_eq!(auto, canonical(&cell(json!({})), Backend::Linux));
    assert!(auto["tcp"].get("receive_buffer").is_none());
    let refused = error(&json!({"tcp": {"receive_buffer": "locked"}}), Backend::Live);
    let why = "but the live back end leaves the size of receive buffers to the kernel: leave it out";
    assert_eq!(refused, format!("tcp.receive_buffer is locked, {why}"));
}

#[test]
fn metrics_are_off_and_absent_unless_asked_for() {
    let off = canonical(&json!({"tcp": {"save_metrics": false}}), Backend::Sim);
    assert_eq!(off, canonical(&json!({}), Backend::Sim));
    assert!(off["tcp"].is_object() && off["tcp"].get("save_metrics").is_none());
    let on = json!({"tcp": {"save_metrics": true}});
    for backend in Backend::ALL {
        assert_eq!(canonical(&on, backend)["tcp"]["save_metrics"], true);
    }
    let web = json!({"tcp": {"save_metrics": true}, "web": [{"name": "w", "objects": [5000]}]});
    assert_eq!(
        error(&web, Backend::Sim),
        "tcp.save_metrics is true, but must be false with web clients, whose servers remember nothing on the simulator"
    );
    assert!(Scenario::for_backend(&text(&web), Backend::Linux).is_ok());
}

#[test]
fn live_has_our_disciplines_with_their_variants() {
    let cake = json!({"qdisc_up": "cake nat"});
    assert_eq!(
        error(&cake, Backend::Live),
        "qdisc_up: cake.nat needs a kernel's connection tracking: use the linux back end"
    );
    let ours = json!({"qdisc_up": "gbw:codel", "qdisc_down": "fq_codel variant ns2 limit 100"});
    assert_eq!(canonical(&ours, Backend::Live), canonical(&ours, Backend::Sim));
    let bbr = json!({"flows": [{"name": "a", "direction": "up", "congestion_control": "bbr"}]});
    assert!(
        Scenario::for_backend(&text(&bbr), Backend::Live).is_ok(),
        "the kernel's TCP has it"
    );
}

/// In flows, web clients and downloads.
#[test]
fn controls_that_linux_lacks_are_refused_where_hosts_are_real() {
    for control in ["ledbat++", "bbr2", "bbr2-l4s", "bbr3"] {
        let flow = json!({"flows": [{"name": "a", "direction": "up", "congestion_control": control}]});
        assert_eq!(
            canonical(&flow, Backend::Sim)["flows"][0]["congestion_control"],
            control
        );
        let web = json!({"web": [{"name": "w", "objects": [5000], "congestion_control": control}]});
        for backend in [Backend::Linux, Backend::Live] {
            for (scenario, place) in [(&flow, "flows[0]"), (&web, "web[0]")] {
                assert_eq!(
                    error(scenario, backend),
                    format!(
                        "{place}.congestion_control is {control:?}, but Linux has no such control: use the simulator"
                    )
                );
            }
        }
    }
}

#[test]
fn prague_runs_on_kernels_that_have_it() {
    let prague = json!({"name": "a", "direction": "up", "congestion_control": "prague"});
    let flow = json!({"flows": [prague]});
    let linux = canonical(&flow, Backend::Linux);
    assert_eq!(linux, canonical(&flow, Backend::Sim));
    assert_eq!(
        error(&flow, Backend::Live),
        "flows[0].congestion_control is \"prague\", but this machine's kernel is not known to have it: use the simulator, \
         or the linux back end with a kernel that has it"
    );
    let set = json!({"tcp": {"prague_fallback": true}});
    assert_eq!(
        error(&set, Backend::Linux),
        "tcp.prague_fallback is true, but a kernel's Prague is set by its module's parameters, so only the simulator takes \
         it: leave it out"
    );
}

/// A kernel has one setting, and Prague negotiates AccECN whatever the setting is.
#[test]
fn flows_of_a_kernel_have_the_ecn_that_they_would_have_without_the_key() {
    let flows = |prague: Value, cubic: Value| {
        json!({"tcp": {"ecn": true}, "flows": [
            {"name": "l4s", "direction": "up", "congestion_control": "prague", "ecn": prague},
            {"name": "classic", "direction": "up", "congestion_control": "cubic", "ecn": cubic},
        ]})
    };
    let same = flows(json!("accecn"), json!(true));
    assert_eq!(canonical(&same, Backend::Linux), canonical(&same, Backend::Sim));
    assert_eq!(
        error(&flows(json!("accecn"), json!(false)), Backend::Linux),
        "flows[1].ecn is false, but a kernel has one setting for all flows: use tcp.ecn"
    );
    assert_eq!(
        error(&flows(json!(true), json!(true)), Backend::Linux),
        "flows[0].ecn is true, but a kernel has one setting for all flows: use tcp.ecn"
    );
}

#[test]
fn trains_of_segments_are_for_wires_and_for_kernels_of_our_own() {
    let trains = json!({"tcp": {"gso": true}});
    assert_eq!(canonical(&trains, Backend::Linux), canonical(&trains, Backend::Sim));
    assert_eq!(
        error(&trains, Backend::Live),
        "tcp.gso is true, but the live back end leaves the trains of its hosts to the kernel: leave it out"
    );
    let cell = json!({
        "tcp": {"gso": true},
        "wifi": {"variant": "linux-6.12", "stations": [{"name": "sta1", "rate": "ht mcs 0 20mhz"}]},
    });
    assert_eq!(
        error(&cell, Backend::Linux),
        "tcp.gso is true, but the radios of a cell take single segments (gso_max_segs 1) on the linux back end: leave it out"
    );
}

#[test]
fn a_kernel_takes_the_jitter_that_netem_can_count() {
    assert!(
        Scenario::for_backend(
            &text(&json!({"jitter_up": "4s", "jitter_down": "30ms"})),
            Backend::Linux
        )
        .is_ok()
    );
    assert_eq!(
        error(&json!({"jitter_down": "4001ms"}), Backend::Linux),
        "jitter_down is 4001ms, but must be at most 4s on the linux back end, as netem counts it"
    );
}

#[test]
fn live_refuses_what_it_has_not() {
    for (more, sentence) in [
        (
            json!({"edge_rate": "1gbit"}),
            "edge_rate is 1gbit, but the live back end has no links but the bottleneck: leave it out",
        ),
        (
            json!({"tcp": {"hystart": "plus-plus"}}),
            "tcp.hystart is \"plus-plus\", but Linux has no HyStart++: leave it out",
        ),
        (
            json!({"tcp": {"ecn": "accecn"}}),
            "tcp.ecn is \"accecn\", but the live back end runs on this machine's kernel, and only a kernel of its own is \
             known to have AccECN: leave it out",
        ),
        (
            json!({"tcp": {"hystart": false}}),
            "tcp.hystart is false, but the live back end runs on this machine's kernel, where HyStart is a setting of all \
             of it: leave it out",
        ),
        (
            json!({"jitter_up": "5ms"}),
            "jitter_up is 5ms, but the live back end's delay cannot vary and keep the order of packets: leave it out",
        ),
        (
            json!({"service_interval_down": "4ms"}),
            "service_interval_down is 4ms, but the live back end's link serves all the time: leave it out",
        ),
        (
            json!({"delay_tick": "4ms"}),
            "delay_tick is 4ms, but the live back end's delay lets a packet out when it is due: leave it out",
        ),
        (
            json!({"flows": [{"name": "a", "direction": "up", "protocol": "udp", "rate": "1mbit"}]}),
            "flows[0].protocol is \"udp\", but the live back end has no such flows: use sim or linux",
        ),
        (
            json!({"spare_acks": true}),
            "spare_acks is true, but the live back end's queues drop what the disciplines drop: leave it out",
        ),
    ] {
        assert_eq!(error(&more, Backend::Live), sentence);
        assert!(Scenario::from_json(&text(&more)).is_ok(), "{more}");
    }
}

#[test]
fn a_back_end_has_a_name() {
    for backend in Backend::ALL {
        assert_eq!(backend.name().parse(), Ok(backend));
    }
    let unknown: Result<Backend, _> = "ns3".parse();
    assert_eq!(
        unknown.expect_err("unknown").to_string(),
        "backend is \"ns3\", but must be \"sim\", \"linux\" or \"live\""
    );
}
