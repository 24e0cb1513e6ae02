//! The radio driver that judges this model on the real mac80211 (`kernel/sojourn_radio`) has the same durations: its
//! C is compiled here and asked for every rate.

use sojourn_units::{Bytes, Duration};
use sojourn_wifi::{AMPDU_MAX, AmpduLength, Band, Format, Guard, PhyRate, Response, Width};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BANDS: [Band; 2] = [Band::Ghz5, Band::Ghz2];

/// Compiles the driver's computation with a program that asks it; `None`, with the reason printed, if nothing
/// compiles here.
fn compiled() -> Option<PathBuf> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if let Err(reason) = Command::new(&compiler)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
    {
        println!("skipped: needs a C compiler: scripts/setup says which -- {compiler:?}: {reason}");
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let driver = root.join("../../kernel/sojourn_radio");
    // One for each test: they run at the same time.
    let name = format!("radio_airtime_{:?}", std::thread::current().id());
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace(['(', ')'], "_"));
    let status = Command::new(&compiler)
        .args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(&driver)
        .arg("-o")
        .arg(&program)
        .arg(driver.join("airtime.c"))
        .arg(root.join("tests/radio_airtime/main.c"))
        .status()
        .expect("the compiler ran a moment ago");
    assert!(
        status.success(),
        "the driver's airtime.c does not compile on this machine"
    );
    Some(program)
}

/// What the driver answers, a list of numbers for each line.
fn ask(program: &Path, questions: String) -> Vec<Vec<u64>> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("what was compiled runs");
    let mut input = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()));
    let output = child.wait_with_output().expect("it ends when its input does");
    writer.join().expect("no panic").expect("all of it was read");
    let text = String::from_utf8(output.stdout).expect("numbers");
    text.lines()
        .map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect())
        .collect()
}

/// A rate as the driver's `struct sj_rate` has it.
fn fields(rate: PhyRate) -> String {
    let (format, mcs) = match rate.format() {
        Format::Ofdm => (0, 2 * rate.mcs()),
        Format::Ht => (1, rate.mcs()),
        Format::Vht => (2, rate.mcs()),
    };
    let guard = u8::from(rate.guard() == Guard::Short);
    format!("{format} {mcs} {} {} {guard}", rate.streams(), rate.width() as u8)
}

/// The longest PSDU that is sent within `limit`, found without halving.
fn within(rate: PhyRate, limit: Duration, band: Band) -> u64 {
    let symbol = rate.symbol().as_nanos();
    let spare = limit.as_nanos().saturating_sub(rate.ppdu(Bytes::ZERO, band).as_nanos());
    // Some bytes before the answer, so that few are tried.
    let near = (spare / symbol * u64::from(rate.bits_per_symbol()) / 8).saturating_sub(2_000);
    (near.min(AMPDU_MAX.get())..=AMPDU_MAX.get())
        .take_while(|&bytes| rate.ppdu(Bytes::new(bytes), band) <= limit)
        .last()
        .expect("the first one fits")
}

#[test]
fn the_driver_has_every_duration_of_the_model() {
    let Some(program) = compiled() else { return };
    let lengths: Vec<u64> = (0..=80)
        .chain((81..2_400).step_by(29))
        .chain((2_400..=65_535).step_by(1_201))
        .chain([1_538, 3_082, 35_510, 65_535])
        .collect();
    let limit = Duration::from_micros(4_000);
    let rates: Vec<PhyRate> = PhyRate::all().filter(|rate| rate.width() <= Width::Mhz80).collect();
    assert!(rates.len() > 500, "{}", rates.len());
    let mut questions = String::new();
    for &rate in &rates {
        for band in BANDS {
            for &bytes in &lengths {
                let band = u8::from(band == Band::Ghz2);
                writeln!(questions, "{} {band} {bytes} {}", fields(rate), limit.as_nanos()).expect("a string");
            }
        }
    }
    let mut answers = ask(&program, questions).into_iter();
    for &rate in &rates {
        for band in BANDS {
            let fits = within(rate, limit, band);
            for &bytes in &lengths {
                let psdu = Bytes::new(bytes);
                let mut length = AmpduLength::default();
                if bytes >= 4 {
                    // A first MPDU of which the A-MPDU has this length.
                    length.push(Bytes::new(bytes - 4));
                }
                let model = [
                    1,
                    u64::from(rate.bits_per_symbol()),
                    u64::from(rate.encoders()),
                    rate.ppdu(psdu, band).as_nanos(),
                    rate.response(Response::Ack, band).as_nanos(),
                    rate.response(Response::BlockAck, band).as_nanos(),
                    rate.single(psdu).get(),
                    if bytes >= 4 {
                        length.with(psdu).get()
                    } else {
                        psdu.get().next_multiple_of(4) + 4 + bytes
                    },
                    fits,
                    band.sifs().as_nanos(),
                    band.eifs_less_difs().as_nanos(),
                ];
                let driver = answers.next().expect("an answer to each question");
                assert_eq!(driver, model, "{rate}, {bytes} bytes, {}", band.name());
            }
        }
    }
    assert_eq!(answers.next(), None);
}

#[test]
fn the_driver_refuses_what_the_standard_leaves_out() {
    let Some(program) = compiled() else { return };
    let widths = [Width::Mhz20, Width::Mhz40, Width::Mhz80];
    let guards = [Guard::Long, Guard::Short];
    let mut questions = String::new();
    let mut model = Vec::new();
    let mut add = |format: u8, mcs: u8, streams: u8, width: Width, guard: Guard, valid: bool| {
        let guard = u8::from(guard == Guard::Short);
        writeln!(
            questions,
            "{format} {mcs} {streams} {} {guard} 0 1538 4000000",
            width as u8
        )
        .expect("a string");
        model.push(u64::from(valid));
    };
    for (width, guard) in widths.into_iter().flat_map(|width| guards.map(|guard| (width, guard))) {
        let plain = width == Width::Mhz20 && guard == Guard::Long;
        for units in 0..=120 {
            let valid = units % 2 == 0 && PhyRate::ofdm(units / 2).is_ok();
            add(0, units, 1, width, guard, plain && valid);
        }
        for mcs in 0..=40 {
            for streams in 1..=8 {
                let valid = PhyRate::ht(mcs, width, guard).is_ok_and(|rate| rate.streams() == streams);
                add(1, mcs, streams, width, guard, valid);
            }
        }
        for mcs in 0..=12 {
            for streams in 0..=9 {
                let valid = PhyRate::vht(mcs, streams, width, guard).is_ok();
                add(2, mcs, streams, width, guard, valid);
            }
        }
    }
    let driver: Vec<u64> = ask(&program, questions).into_iter().map(|answer| answer[0]).collect();
    assert_eq!(driver, model);
}
