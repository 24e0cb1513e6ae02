use super::*;

fn cell() -> CellSpec {
    let rate = PhyRate::parse("ht mcs 15 sgi").unwrap();
    CellSpec::new(vec![StationSpec::new("fast", rate), StationSpec::new("slow", rate)])
}

fn message(change: impl FnOnce(&mut CellSpec)) -> String {
    let mut spec = cell();
    change(&mut spec);
    spec.validate().unwrap_err().to_string()
}

#[test]
fn the_defaults_are_accepted() {
    assert_eq!(cell().validate(), Ok(()));
}

#[test]
fn what_breaks_a_rule_is_refused_with_it() {
    assert_eq!(
        message(|c| c.stations.clear()),
        "wifi.stations is 0 stations, but must be 1 to 2007 stations"
    );
    assert_eq!(
        message(|c| c.stations[1].name = "fast".into()),
        "wifi.stations[1].name is \"fast\", but must be a name that no other station has"
    );
    assert_eq!(
        message(|c| c.stations[1].error_up = 1.0),
        "wifi.stations[1].error_up is 1, but must be 0 to below 1"
    );
    assert_eq!(
        message(|c| c.stations[0].error = f64::NAN),
        "wifi.stations[0].error is NaN, but must be 0 to below 1"
    );
    assert!(message(|c| c.stations[0].weight = 0).starts_with("wifi.stations[0].weight is 0"));
    assert!(message(|c| c.stations[0].node.retries = 0).starts_with("wifi.stations[0].retries is 0"));
    assert!(message(|c| c.access_point.aggregate_frames = 65).starts_with("wifi.aggregate_frames is 65"));
    assert!(message(|c| c.edca.station.categories[0].aifsn = 0).starts_with("wifi.edca.station.vo.aifsn is 0"));
}

#[test]
fn vht_at_2_4_ghz_is_refused() {
    let vht = PhyRate::parse("vht mcs 0").unwrap();
    let told = message(|c| {
        c.band = Band::Ghz2;
        c.stations[1].rate_up = vht;
    });
    assert_eq!(
        told,
        "wifi.stations[1].rate_up is \"vht mcs 0 nss 1 20mhz lgi\", but must be an OFDM or HT rate at 2.4ghz: the standard has VHT at \
         5 GHz only"
    );
}
