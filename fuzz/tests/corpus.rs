//! The committed corpus, case by case, as a plain test.

use std::path::Path;

#[test]
fn every_property_holds_for_the_committed_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut bytes = 0;
    for &(name, target) in sojourn_fuzz::TARGETS {
        let mut cases: Vec<_> = std::fs::read_dir(folder.join(name))
            .unwrap_or_else(|e| panic!("the corpus of {name}: {e}"))
            .map(|case| case.expect("a file").path())
            .collect();
        cases.sort();
        assert!(!cases.is_empty(), "{name} has no corpus");
        for case in cases {
            let case = std::fs::read(&case).expect("a file");
            bytes += case.len();
            target(&case);
        }
    }
    assert!(
        bytes < 50_000,
        "the corpus has {bytes} bytes; `cargo fuzz cmin` makes it smaller"
    );
}
