//! The threads that sessions work on. Requests have others, so that whoever acknowledges a prompt
//! is not put aside for the work that the prompt sets off.

use std::io;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};

use crate::server::turns::log::has_threads;

/// Clones share the threads, which end with the last of them.
#[derive(Clone)]
pub struct Workshop(Option<Arc<Threads>>);

struct Threads(Option<Runtime>);

impl Workshop {
    /// Starts the threads, unless the caller's own runtime has but one.
    pub fn open() -> io::Result<Self> {
        if !has_threads() {
            return Ok(Self(None));
        }
        let runtime = Builder::new_multi_thread().thread_name("sessions").enable_all().build()?;
        Ok(Self(Some(Arc::new(Threads(Some(runtime))))))
    }

    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        match self.0.as_deref() {
            Some(Threads(Some(runtime))) => drop(runtime.spawn(work)),
            _ => drop(tokio::spawn(work)),
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            // The last clone may go where waiting is not allowed.
            runtime.shutdown_background();
        }
    }
}
