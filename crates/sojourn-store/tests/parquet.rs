//! What is written is read, and whatever else is read is rows or one sentence. That other readers of Parquet find the
//! same in a file is tested in Python, with polars.

use proptest::prelude::*;
use sojourn_store::parquet::{Column, Holds, Rows, read, write};

/// Runs of (label, rows), which together are so many rows.
type Labels = Vec<(Option<String>, usize)>;

fn labels() -> impl Strategy<Value = Labels> {
    prop::collection::vec((prop::option::of("[a-z]{0,3}"), 1..40usize), 0..12)
}

/// Numbers of which many are equal, or all differ.
fn number() -> impl Strategy<Value = Option<f64>> {
    prop::option::of(prop_oneof![
        (0..5i32).prop_map(f64::from),
        any::<f64>().prop_filter("a record has none", |v| v.is_finite())
    ])
}

/// A file of a column of labels and one of numbers, with the rows that are in it.
fn files() -> impl Strategy<Value = (Labels, Vec<Option<f64>>, Vec<u8>)> {
    labels()
        .prop_flat_map(|runs| {
            let rows = runs.iter().map(|run| run.1).sum::<usize>();
            (Just(runs), prop::collection::vec(number(), rows))
        })
        .prop_map(|(runs, numbers)| {
            let columns = [
                Column::labels("metric", runs.clone()),
                Column::numbers("value", numbers.clone()),
            ];
            let file = write(numbers.len(), &columns);
            (runs, numbers, file)
        })
}

const COLUMNS: [(&str, Holds); 2] = [("metric", Holds::Labels), ("value", Holds::Numbers)];

proptest! {
    #[test]
    fn what_is_written_is_read((runs, numbers, file) in files()) {
        let found = read(&file, numbers.len(), &COLUMNS).expect("it was written here");
        let [Rows::Labels { entries, places }, Rows::Numbers(values)] = &found[..] else {
            panic!("{found:?}");
        };
        let read: Vec<Option<&str>> = places.iter().map(|at| entries.get(*at as usize).map(String::as_str)).collect();
        let written: Vec<Option<&str>> =
            runs.iter().flat_map(|(label, rows)| std::iter::repeat_n(label.as_deref(), *rows)).collect();
        prop_assert_eq!(read, written);
        let bits = |value: Option<f64>| value.map(f64::to_bits);
        let read: Vec<Option<u64>> = values.iter().map(|v| bits((!v.is_nan()).then_some(*v))).collect();
        prop_assert_eq!(read, numbers.into_iter().map(bits).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_damaged_is_rows_or_one_sentence(
        (_, numbers, mut file) in files(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
        more in 0..3usize,
    ) {
        for (at, byte) in flips {
            let at = at.index(file.len());
            file[at] = byte;
        }
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        let rows = numbers.len() + more;
        match read(&file, rows, &COLUMNS) {
            Err(why) => prop_assert!(!why.contains('\n') && why.len() > 10, "{why:?}"),
            Ok(found) => for column in found {
                let (length, fits) = match column {
                    Rows::Numbers(values) => (values.len(), true),
                    Rows::Labels { entries, places } => {
                        (places.len(), places.iter().all(|at| *at as usize <= entries.len()))
                    }
                };
                prop_assert_eq!(length, rows);
                prop_assert!(fits);
            },
        }
    }
}

/// A page of a few bytes cannot have the reader take the memory of many rows: it takes eight bytes for each row that
/// the caller expects, and the caller is bounded.
#[test]
fn more_rows_than_a_series_has_are_refused() {
    let file = write(0, &[]);
    assert!(read(&file, 0, &[]).is_ok());
    let why = read(&file, usize::MAX, &[]).expect_err("so many rows there are not");
    assert!(why.contains("at most 67108864"), "{why}");
}
