//! Our own scripts pass, and what is left of a damaged one ends in a sentence.

use sojourn_drill::{Outcome, parse, run};
use std::path::{Path, PathBuf};

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/packetdrill");
    let entries = std::fs::read_dir(&folder).expect("the scripts are in the repository");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("it can be read").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "pkt"));
    files.sort();
    files
}

#[test]
fn all_scripts_of_ours_pass() {
    let files = scripts();
    assert!(files.len() >= 29, "{} scripts", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        let script = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let outcome = run(&script).outcome;
        assert_eq!(outcome, Outcome::Passed, "{}: {outcome}", file.display());
    }
}

#[test]
fn a_script_has_the_same_outcome_each_time() {
    for file in scripts() {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        // With another window an expectation somewhere breaks, at the same place each time.
        let script = parse(&text.replace("win 400", "win 3")).expect("it is a script");
        assert_eq!(run(&script), run(&script));
    }
}

/// No panic, whatever is missing.
#[test]
fn a_damaged_script_ends_in_a_sentence() {
    for file in scripts() {
        let text = std::fs::read_to_string(&file).expect("it can be read");
        for cut in (0..text.len()).step_by(13) {
            let pieces = [&text[..cut], &text[cut..]];
            for piece in pieces
                .map(str::to_string)
                .into_iter()
                .chain([format!("{}{}", &text[..cut], &text[cut + 1..])])
            {
                match parse(&piece) {
                    Ok(script) => drop(run(&script)),
                    Err(error) => assert!(error.to_string().starts_with("line "), "{error}"),
                }
            }
        }
    }
}
