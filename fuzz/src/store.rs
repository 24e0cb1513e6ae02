//! The series of a stored run: a Parquet file that anyone may have written.

use crate::is_a_sentence;
use arbitrary::{Arbitrary, Unstructured};
use sojourn_store::load;
use sojourn_store::parquet::{Column, Rows, write};

#[derive(Arbitrary, Debug)]
struct Case {
    labels: Vec<(Option<u8>, u8)>,
    numbers: Vec<Option<u16>>,
    /// Where a byte of the file becomes another.
    flips: Vec<(u16, u8)>,
    /// How many rows more are expected than are there.
    more: u8,
}

/// After an even first byte a file, read as it is; after an odd one a file that was written and then damaged.
///
/// # Panics
/// If what is read has another number of rows than was expected, or a label that is not there.
pub fn store(data: &[u8]) {
    let Some((mode, rest)) = data.split_first() else { return };
    if mode % 2 == 0 {
        let Some((rows, file)) = rest.split_first_chunk::<2>() else {
            return;
        };
        check(file, usize::from(u16::from_le_bytes(*rows)));
        return;
    }
    let Ok(case) = Case::arbitrary(&mut Unstructured::new(rest)) else {
        return;
    };
    let runs: Vec<_> = case
        .labels
        .iter()
        .map(|(label, rows)| (label.map(|l| format!("{l}")), usize::from(*rows)))
        .collect();
    let rows = runs.iter().map(|run| run.1).sum::<usize>();
    let numbers: Vec<Option<f64>> = (0..rows)
        .map(|n| *case.numbers.get(n % case.numbers.len().max(1)).unwrap_or(&None))
        .map(|v| v.map(f64::from))
        .collect();
    let mut file = write(
        rows,
        &[
            Column::numbers("t_s", numbers.clone()),
            Column::labels("metric", runs.clone()),
            Column::labels("name", runs.clone()),
            Column::labels("direction", runs),
            Column::numbers("value", numbers),
        ],
    );
    assert!(load(&file, rows).is_ok(), "what was written cannot be read");
    for (at, byte) in case.flips {
        let at = usize::from(at) % file.len();
        file[at] = byte;
    }
    check(&file, rows + usize::from(case.more % 2));
}

fn check(file: &[u8], rows: usize) {
    match load(file, rows) {
        Err(why) => is_a_sentence(&why),
        Ok(columns) => {
            for column in columns {
                match column {
                    Rows::Numbers(values) => assert_eq!(values.len(), rows),
                    Rows::Labels { entries, places } => {
                        assert_eq!(places.len(), rows);
                        assert!(places.iter().all(|at| *at as usize <= entries.len()));
                    }
                }
            }
        }
    }
}
