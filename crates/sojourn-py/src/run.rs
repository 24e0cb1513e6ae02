//! Running scenarios.

use crate::error::{param, whole};
use crate::stacks::{self, Given};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sojourn_capture::{LEAST_SNAPLEN, MOST_SNAPLEN, PcapNg};
use sojourn_sim::tap::Point;
use sojourn_sim::{Backend, LIMITS, Limits, Progress, Record, Run, Scenario, Stacks};
use sojourn_store::Packed;
use sojourn_store::cost::{Clock, peak_rss_mb};
use sojourn_store::parquet::Rows;
use sojourn_units::Duration;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

/// The names of the congestion control algorithms.
#[pyfunction]
pub(crate) fn congestion_controls() -> Vec<&'static str> {
    let all = sojourn_tcp::cc::Algorithm::ALL;
    all.iter().map(|algorithm| algorithm.name()).collect()
}

/// The canonical JSON of a scenario for a back end (`sim` or `linux`): every default written out.
#[pyfunction]
#[pyo3(signature = (scenario_json, backend = "sim"))]
pub(crate) fn normalize(scenario_json: &str, backend: &str) -> PyResult<String> {
    let backend: Backend = backend.parse().map_err(param)?;
    Ok(scenario(scenario_json, backend).map_err(param)?.to_json())
}

/// What the run of a scenario on a back end will need, as JSON: `packets`, `seconds` of one core, `memory` in bytes,
/// and `parts`, which say what needs the memory. A scenario that needs more than is allowed is answered, too.
#[pyfunction]
#[pyo3(signature = (scenario_json, backend = "sim"))]
pub(crate) fn estimate(scenario_json: &str, backend: &str) -> PyResult<String> {
    let backend: Backend = backend.parse().map_err(param)?;
    let unlimited = Limits {
        memory: u64::MAX,
        packets: u64::MAX,
    };
    let scenario = Scenario::within(scenario_json, backend, unlimited).map_err(param)?;
    serde_json::to_string(&scenario.cost(backend)).map_err(param)
}

/// The keys of a scenario as a JSON Schema: their types, defaults and meaning.
#[pyfunction]
pub(crate) fn scenario_schema() -> PyResult<String> {
    serde_json::to_string(&sojourn_scenario::schema()).map_err(param)
}

/// The keys of a record as a JSON Schema: their types and meaning.
#[pyfunction]
pub(crate) fn record_schema() -> PyResult<String> {
    serde_json::to_string(&sojourn_sim::record_schema()).map_err(param)
}

/// The limits of a scenario, by name.
#[pyfunction]
pub(crate) fn limits() -> BTreeMap<&'static str, u64> {
    LIMITS.into_iter().collect()
}

/// Reads a scenario, and checks that its run needs no more than is allowed.
pub(crate) fn scenario(json: &str, backend: Backend) -> Result<Scenario, String> {
    Scenario::within(json, backend, Limits::allowed()?).map_err(|e| e.to_string())
}

/// The build: a hash of the sources that a record is a function of. Runs of different builds are not mixed.
pub(crate) const BUILD: &str = env!("SOJOURN_BUILD");

/// Runs a scenario in the simulator and answers its record, as JSON.
///
/// Other Python threads run meanwhile; Ctrl-C is noticed within a few hundredths of a second, or a tenth of a
/// simulated one if that takes longer. `stacks` are transports that flows may name.
#[pyfunction]
#[pyo3(signature = (scenario_json, stacks = Vec::new()))]
pub(crate) fn run(py: Python<'_>, scenario_json: &str, stacks: Given) -> PyResult<String> {
    let record = record(py, scenario_json, stacks)?;
    Ok(py.detach(|| record.to_json()))
}

/// Runs a scenario and answers its record in the form that is stored: the record without its series, as JSON; the
/// series, as a Parquet file in long form; and the record's summary, as JSON.
///
/// The record has one field more, ``stored``: the run's ``id`` and ``build``, the length and the CRC-32 of the
/// Parquet file, and the layout that puts the series back into the record.
#[pyfunction]
#[pyo3(signature = (scenario_json, id, stacks = Vec::new()))]
pub(crate) fn run_stored<'py>(py: Python<'py>, scenario_json: &str, id: &str, stacks: Given) -> PyResult<Parts<'py>> {
    let record = record(py, scenario_json, stacks)?;
    parts(py, &record, id)
}

/// The columns of the series of a stored run, each of ``rows`` rows, in the order of the file.
///
/// A column of numbers is eight bytes for each row, and a row without a value is not a number. One of labels is the
/// list of them, and four bytes for each row: the place of its label in the list, or past its end for a row without
/// one. All in the order of bytes of a small-endian machine. Raises ``ValueError`` with what is wrong with the file.
#[pyfunction]
pub(crate) fn read_series<'py>(py: Python<'py>, file: &[u8], rows: usize) -> PyResult<Vec<Column<'py>>> {
    let columns = py
        .detach(|| sojourn_store::load(file, rows))
        .map_err(PyValueError::new_err)?;
    Ok(columns
        .into_iter()
        .map(|column| match column {
            Rows::Numbers(values) => (None, laid_out(py, &values, f64::to_le_bytes)),
            Rows::Labels { entries, places } => (Some(entries), laid_out(py, &places, u32::to_le_bytes)),
        })
        .collect())
}

/// Reads the heads of these runs of a store, as JSON: ``rows`` has an object for each, in this order, and ``settings``
/// what they name by its place. A run that cannot be read has the key ``error``, which says why.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python's values are converted into values of our own"
)]
pub(crate) fn read_heads(py: Python<'_>, store: PathBuf, names: Vec<String>) -> PyResult<Bound<'_, PyBytes>> {
    let rows = py.detach(|| serde_json::to_vec(&sojourn_store::read_heads(&store, &names)));
    rows.map(|rows| PyBytes::new(py, &rows))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The labels of a column, if it has such, and its rows.
type Column<'py> = (Option<Vec<String>>, Bound<'py, PyBytes>);

fn laid_out<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    rows: &[T],
    bytes: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = rows.iter().flat_map(|row| bytes(*row)).collect();
    PyBytes::new(py, &all)
}

/// The record without its series, the series, and the summary.
pub(crate) type Parts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// A record in the form that is stored.
pub(crate) fn parts<'py>(py: Python<'py>, record: &Record, id: &str) -> PyResult<Parts<'py>> {
    let directions = || record.flows.iter().map(|flow| (flow.name.as_str(), flow.direction));
    let Packed { head, series, summary } = py
        .detach(|| sojourn_store::pack(record, &record.summary, directions(), id, BUILD))
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    Ok((
        PyBytes::new(py, head.as_bytes()),
        PyBytes::new(py, &series),
        PyBytes::new(py, summary.as_bytes()),
    ))
}

fn record(py: Python<'_>, scenario_json: &str, stacks: Given) -> PyResult<Record> {
    let stacks = stacks::stacks(stacks)?;
    let scenario = self::scenario(scenario_json, Backend::Sim).map_err(param)?;
    let clock = Clock::start();
    let run = py
        .detach(|| Run::with_stacks(scenario, Stacks(&stacks)))
        .map_err(param)?;
    drive(py, run, &clock)
}

/// The names of the points at which a capture can be made.
#[pyfunction]
pub(crate) fn capture_points() -> Vec<&'static str> {
    Point::ALL.map(Point::name).to_vec()
}

/// Runs a scenario as `run` does, and writes a packet capture at `points` into the new file `path`, in pcapng.
///
/// `snaplen` bytes of each frame are kept; the run begins `epoch_ns` after 1970. The file is incomplete if this
/// raises.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "Python's strings and paths are taken as they come"
)]
pub(crate) fn run_captured(
    py: Python<'_>,
    scenario_json: &str,
    path: PathBuf,
    points: Vec<String>,
    snaplen: &Bound<'_, PyAny>,
    epoch_ns: u64,
) -> PyResult<String> {
    let scenario = self::scenario(scenario_json, Backend::Sim).map_err(param)?;
    let points = parse_points(&points).map_err(param)?;
    let snaplen = whole(
        snaplen,
        "pcap-snaplen",
        u64::from(LEAST_SNAPLEN),
        u64::from(MOST_SNAPLEN),
    )? as u32;
    let clock = Clock::start();
    let run = py.detach(|| -> PyResult<Run> {
        let file = BufWriter::with_capacity(1 << 18, File::create_new(&path)?);
        let capture = PcapNg::new(file, &points, snaplen, Duration::from_nanos(epoch_ns))?;
        Run::with_capture(scenario, &points, Box::new(capture)).map_err(param)
    })?;
    let record = drive(py, run, &clock)?;
    Ok(py.detach(|| record.to_json()))
}

fn parse_points(names: &[String]) -> Result<Vec<Point>, String> {
    let mut points = Vec::new();
    for name in names {
        let known = Point::ALL.map(Point::name).join(", ");
        let point = Point::parse(name).ok_or_else(|| format!("pcap-at is {name:?}, but must be one of {known}"))?;
        if points.contains(&point) {
            return Err(format!("pcap-at is {name:?} twice, but each point must be named once"));
        }
        points.push(point);
    }
    if points.is_empty() {
        return Err("pcap-at is empty, but must name a point".into());
    }
    Ok(points)
}

/// How long a run goes on without a look at signals, s.
const LOOK_S: f64 = 0.02;

/// Runs to the end.
fn drive(py: Python<'_>, mut run: Run, clock: &Clock) -> PyResult<Record> {
    loop {
        let progress = py.detach(|| {
            let look_at = clock.seconds() + LOOK_S;
            loop {
                let progress = run.advance();
                if matches!(progress, Progress::Done) || clock.seconds() >= look_at {
                    return progress;
                }
            }
        });
        py.check_signals()?;
        if let Some(error) = run.capture_error() {
            return Err(io::Error::into(error));
        }
        if let Progress::Done = progress {
            break;
        }
    }
    let mut record = py.detach(|| run.finish());
    record.cost.wall_s = clock.seconds();
    record.cost.peak_rss_mb = peak_rss_mb();
    Ok(record)
}
