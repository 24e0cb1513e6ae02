//! Writes a synthetic capture: `synthesize FRAMES FLOWS FILE`.

use sojourn_trace::{LinkType, Synthetic, Writer};
use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [frames, flows, path] = &arguments[..] else {
        eprintln!("synthesize: needs FRAMES, FLOWS and FILE");
        return ExitCode::from(2);
    };
    let (Ok(frames), Ok(flows @ 1..=65_535)) = (frames.parse(), flows.parse()) else {
        eprintln!("synthesize: FRAMES is {frames} and FLOWS is {flows}, but must be numbers, FLOWS from 1 to 65535");
        return ExitCode::from(2);
    };
    let written = File::create(path).and_then(|file| {
        let mut writer = Writer::new(BufWriter::new(file), LinkType::Ethernet, 96)?;
        for frame in Synthetic::new(flows).take(frames) {
            writer.write(frame.at_ns, frame.wire, &frame.bytes)?;
        }
        writer.flush()
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("synthesize: {path}: {e}");
            ExitCode::FAILURE
        }
    }
}
