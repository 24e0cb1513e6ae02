//! The kill switch.

use std::path::PathBuf;

/// Switched off while a file exists; and for good, once a signal, a key or an error said so.
#[derive(Debug)]
pub(super) struct Killing {
    file: Option<PathBuf>,
    file_exists: bool,
    latched: Option<&'static str>,
}

impl Killing {
    pub(super) const fn new(file: Option<PathBuf>) -> Self {
        Self {
            file,
            file_exists: false,
            latched: None,
        }
    }

    pub(super) fn set_file(&mut self, file: Option<PathBuf>) {
        self.file = file;
    }

    /// Looks for the file; whether something changed. If it cannot be told whether it exists, it does.
    pub(super) fn look(&mut self) -> bool {
        let was = self.is_killed();
        self.file_exists = self.file.as_ref().is_some_and(|f| f.try_exists().unwrap_or(true));
        was != self.is_killed()
    }

    /// Switches off for good; whether that is news.
    pub(super) const fn latch(&mut self, why: &'static str) -> bool {
        let news = self.latched.is_none();
        if news {
            self.latched = Some(why);
        }
        news
    }

    pub(super) const fn is_killed(&self) -> bool {
        self.file_exists || self.latched.is_some()
    }

    pub(super) const fn why(&self) -> Option<&'static str> {
        match (self.latched, self.file_exists) {
            (Some(why), _) => Some(why),
            (None, true) => Some("the kill file exists"),
            (None, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_switches_off_while_it_exists_and_a_signal_for_good() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/kill-file-of-a-test");
        let _ = std::fs::remove_file(&file);
        let mut killing = Killing::new(Some(file.clone()));
        assert!(!killing.look() && !killing.is_killed());
        std::fs::write(&file, "").expect("the folder is there");
        assert!(killing.look() && killing.is_killed());
        assert_eq!(killing.why(), Some("the kill file exists"));
        std::fs::remove_file(&file).expect("it was written");
        assert!(killing.look() && !killing.is_killed());
        assert!(killing.latch("SIGUSR1") && !killing.latch("key"));
        assert_eq!((killing.look(), killing.why()), (false, Some("SIGUSR1")));
        // A path through a file cannot be looked at.
        let mut killing = Killing::new(Some(PathBuf::from("/dev/null/stop")));
        assert!(killing.look() && killing.is_killed());
    }
}
