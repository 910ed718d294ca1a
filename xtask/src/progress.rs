//! One line a step: what is being done, and how long it took.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(500);

/// A step under way. On a terminal its line counts the seconds.
pub struct Step {
    label: String,
    started: Instant,
    ticker: Option<(Sender<String>, JoinHandle<()>)>,
}

impl Step {
    /// Begins the line of a step.
    pub fn start(label: &str) -> Self {
        let started = Instant::now();
        let ticker = io::stderr().is_terminal().then(|| tick(label, started));
        if ticker.is_none() {
            write(&format!("{label} …"));
        }
        Self { label: label.to_owned(), started, ticker }
    }

    /// Shows how far the step has come, on a terminal only.
    pub fn note(&self, detail: String) {
        if let Some((notes, _)) = &self.ticker {
            // Nobody listens any more only when the process is about to end.
            let _ = notes.send(detail);
        }
    }

    /// Ends the line with the time the step took.
    pub fn finish(self) {
        let took = duration(self.started.elapsed());
        self.end(&took);
    }

    /// Ends the line of a step that did not work out.
    pub fn fail(self) {
        self.end("failed");
    }

    fn end(self, outcome: &str) {
        match self.ticker {
            Some((notes, thread)) => {
                drop(notes);
                let _ = thread.join();
                write(&format!("\r\x1b[2K{} … {outcome}\n", self.label));
            }
            None => write(&format!(" {outcome}\n")),
        }
    }
}

/// Runs `work` as one step.
pub fn step<T>(label: &str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let step = Step::start(label);
    let outcome = work();
    match outcome {
        Ok(_) => step.finish(),
        Err(_) => step.fail(),
    }
    outcome
}

/// Writes a duration the way people say it.
pub fn duration(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", elapsed.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

fn tick(label: &str, started: Instant) -> (Sender<String>, JoinHandle<()>) {
    let (notes, incoming) = mpsc::channel::<String>();
    let label = label.to_owned();
    let thread = thread::spawn(move || {
        let mut detail = String::new();
        loop {
            let seconds = started.elapsed().as_secs();
            write(&format!("\r\x1b[2K{label} … {seconds} s {detail}"));
            match incoming.recv_timeout(TICK) {
                Ok(note) => detail = note,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    (notes, thread)
}

fn write(text: &str) {
    // A closed terminal must not stop a build.
    let mut output = io::stderr().lock();
    let _ = output.write_all(text.as_bytes());
    let _ = output.flush();
}
