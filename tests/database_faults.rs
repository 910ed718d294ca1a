//! A database that a test owns: it counts the steps of every write and fails the one it is told to.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sqlx::error::{DatabaseError, ErrorKind};
use throughline::server::store::faults::{StoreFaults, StoreStep};

/// How a step fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    Busy,
    Full,
    Io,
    ConnectionGone,
    /// The task that asked for the step panics.
    Panic,
}

impl Fault {
    /// Every way in which SQLite itself fails.
    pub const OF_SQLITE: [Self; 4] = [Self::Busy, Self::Full, Self::Io, Self::ConnectionGone];

    fn raise(self) -> sqlx::Error {
        let code = match self {
            Self::Busy => "5",
            Self::Full => "13",
            // SQLITE_IOERR_WRITE, to be told by its lowest byte.
            Self::Io => "778",
            Self::ConnectionGone => return sqlx::Error::WorkerCrashed,
            Self::Panic => panic!("the test wants this task to panic"),
        };
        sqlx::Error::Database(Box::new(SqliteFault(code)))
    }
}

#[derive(Debug)]
struct SqliteFault(&'static str);

impl fmt::Display for SqliteFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "injected, with code {}", self.0)
    }
}

impl std::error::Error for SqliteFault {}

impl DatabaseError for SqliteFault {
    fn message(&self) -> &str {
        "injected"
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

type Concerns = fn(StoreStep) -> bool;

#[derive(Default)]
struct State {
    counted: Option<Vec<StoreStep>>,
    at: Option<(usize, Fault)>,
    every: Option<(Concerns, Fault)>,
    next: Option<(Concerns, Fault)>,
    hits: usize,
}

#[derive(Default)]
pub struct DatabaseFaults(Mutex<State>);

impl DatabaseFaults {
    /// Counts steps from now on.
    pub fn count(&self) {
        self.state().counted = Some(Vec::new());
    }

    /// Counts steps from now on and fails one of them, by its number.
    pub fn fail_once(&self, number: usize, fault: Fault) {
        self.state().at = Some((number, fault));
        self.count();
    }

    /// Fails all steps of a kind until it is healed.
    pub fn fail_every(&self, fault: Fault, concerns: Concerns) {
        self.state().every = Some((concerns, fault));
    }

    /// Fails the next step of a kind.
    pub fn fail_next(&self, fault: Fault, concerns: Concerns) {
        self.state().next = Some((concerns, fault));
    }

    pub fn heal(&self) {
        let hits = self.hits();
        *self.state() = State { hits, ..State::default() };
    }

    pub fn steps(&self) -> Vec<StoreStep> {
        self.state().counted.clone().unwrap_or_default()
    }

    /// Tells how often a step was made to fail.
    pub fn hits(&self) -> usize {
        self.state().hits
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StoreFaults for DatabaseFaults {
    fn before(&self, step: StoreStep) -> Result<(), sqlx::Error> {
        let mut state = self.state();
        let fault = match &mut state.counted {
            None => None,
            Some(counted) => {
                counted.push(step);
                let number = counted.len() - 1;
                state.at.filter(|(at, _)| *at == number).map(|(_, fault)| fault)
            }
        };
        let every = state.every.filter(|(concerns, _)| concerns(step)).map(|(_, fault)| fault);
        let next = state.next.take_if(|(concerns, _)| concerns(step)).map(|(_, fault)| fault);
        let Some(fault) = fault.or(every).or(next) else { return Ok(()) };
        state.hits += 1;
        drop(state);
        Err(fault.raise())
    }
}
