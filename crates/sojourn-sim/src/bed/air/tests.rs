use super::*;

#[test]
fn counters_of_queues_are_read_by_traffic_identifier() {
    let text = "tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes tx-packets flags\n\
                0 2 0 0 5 3 1 2 0 9000 6 0x0(RUN AMPDU)\n16 2 0 0 0 0 0 0 0 10 1 0x0(RUN)\n";
    let table = aqm(text);
    assert_eq!(table.keys().collect::<Vec<_>>(), [&0]);
    assert_eq!(
        (table[&0]["drops"], table[&0]["overlimit"], table[&0]["tx-bytes"]),
        (3, 2, 9000)
    );
}

#[test]
fn deficits_are_read_from_the_line_of_debugfs() {
    let text = "RX: 12 us\nTX: 34 us\nWeight: 256\nDeficit: VO: 256 us VI: 255 us BE: -17 us BK: 0 us\n";
    let found: Vec<_> = deficits(text).expect("a line").into_iter().collect();
    assert_eq!(found, [("be", -17), ("bk", 0), ("vi", 255), ("vo", 256)]);
    assert_eq!(deficits("Weight: 256\n"), None);
}
