//! `--read`: what the flusher would have done.

use super::line::Line;
use super::pipeline::{Burst, Pipeline, World};
use sojourn_trace::{Reader, TraceError};
use std::io::{self, Read, Write};

/// Why a capture was not read to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The capture itself.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The decisions cannot be written.
    #[error("the decisions cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// Writes lines; has no socket.
#[derive(Debug)]
pub struct Lines<W> {
    out: W,
    error: Option<io::Error>,
    reported: bool,
}

impl<W: Write> Lines<W> {
    /// Into `out`.
    pub const fn new(out: W) -> Self {
        Self {
            out,
            error: None,
            reported: false,
        }
    }

    /// Writes a line of JSON; after an error nothing more is written.
    pub fn write(&mut self, line: &impl serde::Serialize) {
        if self.error.is_none() {
            let written = serde_json::to_writer(&mut self.out, line).map_err(io::Error::from);
            self.error = written.and_then(|()| self.out.write_all(b"\n")).err();
        }
    }

    /// Passes on what is buffered; tells an error once, after which nothing more is written.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.error.is_none() {
            self.error = self.out.flush().err();
        }
        match &self.error {
            Some(error) if !self.reported => {
                self.reported = true;
                Err(io::Error::new(error.kind(), error.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// What went wrong, if something did.
    ///
    /// # Errors
    /// The first error of writing.
    pub fn finish(&mut self) -> io::Result<()> {
        self.reported = false;
        self.flush()
    }
}

impl<W: Write> World for Lines<W> {
    fn line(&mut self, line: &Line) {
        self.write(line);
    }
    fn burst(&mut self, _: Burst) {}
}

/// Feeds a capture to the pipeline and writes its decisions and a summary. The summary is written even if the capture
/// is damaged: of what stood before the damage.
///
/// # Errors
/// [`ReadError`].
pub fn read(source: impl Read + Send, pipeline: &mut Pipeline, out: impl Write) -> Result<(), ReadError> {
    let mut lines = Lines::new(out);
    let mut reader = Reader::new(source)?;
    let end = loop {
        match reader.next() {
            Ok(Some(record)) => pipeline.frame(record.link, record.at_ns, record.wire, record.bytes, &mut lines),
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    pipeline.finish(&mut lines);
    pipeline.pass_over(reader.skipped());
    lines.write(&pipeline.summary());
    lines.finish()?;
    Ok(end?)
}
