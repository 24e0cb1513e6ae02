use super::*;

const TABLE: &str = "tx rx ac bursts airtime_us\n0 1 2 10 3000\n1 0 2 4 250\n0 1 0 1 100\n0 2 2 7 9\n1 * 2 8 8\nmedium busy_us 12 idle_us 34 collisions 5\n";

#[test]
fn a_table_is_read_by_the_names_of_its_columns_and_times_are_in_nanoseconds() {
    let (links, medium) = parse(TABLE).expect("a table");
    assert_eq!(links.len(), 5);
    assert_eq!(
        (number(&links[0], "bursts"), number(&links[0], "airtime_ns")),
        (10, 3_000_000)
    );
    let found: Vec<_> = medium.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    assert_eq!(found, [("busy_us", 12), ("collisions", 5), ("idle_us", 34)]);
}

#[test]
fn airtime_is_added_over_access_categories_and_one_way() {
    let (links, medium) = parse(TABLE).expect("a table");
    let totals = RadioTotals {
        at_ns: 0,
        links,
        medium,
    };
    assert_eq!(airtime(&totals, 0, 1), 3_100_000);
    assert_eq!(airtime(&totals, 1, 0), 250_000);
    assert_eq!(airtime(&totals, 2, 0), 0);
}

#[test]
fn what_is_no_table_is_told() {
    for text in ["", "no such thing\n1 2 3\n"] {
        assert!(parse(text).is_none(), "{text:?}");
    }
}
