//! Tells what changed in the project's files, and when a person wants to stop.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use anyhow::{Context, Result};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::project::Project;

/// Editors write a file in several steps; a pause this long means they are done.
const QUIET: Duration = Duration::from_millis(200);

const WATCHED: [&str; 3] = ["src", "style", "public"];

/// What interrupts a server's quiet life.
enum Happening {
    Changed(PathBuf),
    Interrupted,
}

/// Which parts of the project changed.
#[derive(Default, Clone, Copy, Debug)]
pub struct Changes {
    pub source: bool,
    pub style: bool,
    pub public: bool,
}

/// What a wait ended with.
pub enum Waited {
    Changed(Changes),
    Interrupted,
    NothingYet,
}

/// Listens for Ctrl-C and, where asked, for changed files.
pub struct Watch {
    happenings: Receiver<Happening>,
    root: PathBuf,
    _watcher: Option<RecommendedWatcher>,
}

impl Watch {
    /// Listens for Ctrl-C only.
    pub fn interrupts(project: &Project) -> Result<Self> {
        Self::start(project, |_| Ok(None))
    }

    /// Listens for Ctrl-C and for changes in what is built.
    pub fn files(project: &Project) -> Result<Self> {
        Self::start(project, |sender| watch_files(&project.root, sender).map(Some))
    }

    fn start(
        project: &Project,
        watcher: impl FnOnce(Sender<Happening>) -> Result<Option<RecommendedWatcher>>,
    ) -> Result<Self> {
        let (sender, happenings) = mpsc::channel();
        let interrupts = sender.clone();
        ctrlc::set_handler(move || {
            let _ = interrupts.send(Happening::Interrupted);
        })
        .context("could not listen for Ctrl-C")?;
        Ok(Self { happenings, root: project.root.clone(), _watcher: watcher(sender)? })
    }

    /// Waits a while for something to happen; changes that come in a burst are told as one.
    pub fn wait(&self, at_most: Duration) -> Waited {
        let mut changes = Changes::default();
        let mut patience = at_most;
        loop {
            match self.happenings.recv_timeout(patience) {
                Ok(Happening::Changed(path)) => {
                    changes.add(path.strip_prefix(&self.root).unwrap_or(&path));
                    patience = QUIET;
                }
                Ok(Happening::Interrupted) => return Waited::Interrupted,
                Err(RecvTimeoutError::Timeout) if changes.any() => return Waited::Changed(changes),
                Err(RecvTimeoutError::Timeout) => return Waited::NothingYet,
                Err(RecvTimeoutError::Disconnected) => return Waited::Interrupted,
            }
        }
    }
}

impl Changes {
    /// Joins two sets of changes.
    pub fn and(self, other: Self) -> Self {
        Self {
            source: self.source || other.source,
            style: self.style || other.style,
            public: self.public || other.public,
        }
    }

    fn add(&mut self, path: &Path) {
        self.source |= path.starts_with("src");
        self.style |= path.starts_with("style");
        self.public |= path.starts_with("public");
    }

    fn any(self) -> bool {
        self.source || self.style || self.public
    }
}

fn watch_files(root: &Path, sender: Sender<Happening>) -> Result<RecommendedWatcher> {
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        let Ok(event) = event else { return };
        // Reading a file is no change: the build itself reads them all.
        if event.kind.is_access() {
            return;
        }
        for path in event.paths.into_iter().filter(|path| !is_scratch(path)) {
            let _ = sender.send(Happening::Changed(path));
        }
    })?;
    for directory in WATCHED.map(|name| root.join(name)) {
        if directory.is_dir() {
            watcher
                .watch(&directory, RecursiveMode::Recursive)
                .with_context(|| format!("could not watch {}", directory.display()))?;
        }
    }
    Ok(watcher)
}

/// Recognises the files that editors put down beside those they write.
fn is_scratch(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name.ends_with('~') || name.ends_with(".swp") || name == "4913"
}
