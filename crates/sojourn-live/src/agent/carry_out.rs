//! What a job says, done: a run, a run on real packets, a check of the machine, or a
//! discipline call by call.

use crate::agent::AgentError;
use crate::agent::actor::Doing;
use crate::agent::calls;
use crate::agent::check;
use crate::agent::live;
use crate::agent::plan::job::Task;
use crate::agent::run::{self, write};
use std::path::Path;

/// Does what `job.json` in `directory` says. The results are other files there.
///
/// # Errors
/// One sentence, which is in `error.txt` too.
pub fn carry_out(directory: &Path) -> Result<(), AgentError> {
    let result = read(directory).and_then(|task| match task {
        Task::Run(job) => run::run(&job, directory),
        Task::Live(job) => live::run(&job, directory),
        Task::Check(job) => check::check(&job, directory),
        Task::Calls(job) => calls::run(&job, directory),
    });
    if let Err(e) = &result {
        write(directory, "error.txt", format!("{e}\n").as_bytes())?;
    }
    result
}

fn read(directory: &Path) -> Result<Task, AgentError> {
    let path = directory.join("job.json");
    let text = std::fs::read_to_string(&path).doing(|| format!("cannot read {}", path.display()))?;
    Task::from_json(&text)
}
