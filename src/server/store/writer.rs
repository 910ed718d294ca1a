//! The one connection that writes.

use std::sync::Arc;

use futures::TryStreamExt;
use futures::future::BoxFuture;
use sqlx::query::Query;
use sqlx::sqlite::{SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{ConnectOptions, Connection, Either, Executor, Sqlite, query};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use super::StoreError;
use super::faults::{StoreFaults, StoreStep};

/// A statement with its arguments, which it owns.
pub(super) type Statement = Query<'static, Sqlite, SqliteArguments>;

/// Clones share the connection.
#[derive(Clone)]
pub(super) struct Writer {
    options: SqliteConnectOptions,
    faults: Arc<dyn StoreFaults>,
    connection: Arc<Mutex<WriterState>>,
}

#[derive(Debug)]
pub(super) enum WriterState {
    Open(SqliteConnection),
    /// The last transaction failed; the next one opens a new connection.
    Failed,
    /// Nothing is written any more, or the store was opened for reading only.
    Closed,
}

/// What one statement did.
#[derive(Default)]
pub(super) struct WriteOutcome {
    /// How many rows it changed.
    pub changed: u64,
    pub returned: Vec<SqliteRow>,
}

/// A transaction that has the write lock. Whatever fails in it drops the connection, and SQLite
/// rolls back what it had begun: after an error only a new connection is known to be in no
/// transaction, since a full disk makes SQLite roll back by itself and a busy one does not.
pub(super) struct WriteTransaction {
    connection: SqliteConnection,
    faults: Arc<dyn StoreFaults>,
}

impl Writer {
    pub async fn open(
        options: &SqliteConnectOptions,
        faults: Arc<dyn StoreFaults>,
    ) -> Result<Self, sqlx::Error> {
        let state = WriterState::Open(options.connect().await?);
        Ok(Self { options: options.clone(), faults, connection: Arc::new(Mutex::new(state)) })
    }

    /// Makes a writer that refuses to write.
    pub fn closed(options: &SqliteConnectOptions, faults: Arc<dyn StoreFaults>) -> Self {
        let connection = Arc::new(Mutex::new(WriterState::Closed));
        Self { options: options.clone(), faults, connection }
    }

    /// Runs one transaction, all or nothing, in a task of its own: a caller that is dropped does
    /// not leave it half done.
    pub async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut WriteTransaction) -> BoxFuture<'t, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let writer = self.clone();
        let transaction = tokio::spawn(async move { writer.transact(work).await });
        transaction.await.unwrap_or(Err(StoreError::Closed))
    }

    async fn transact<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        F: for<'t> FnOnce(&'t mut WriteTransaction) -> BoxFuture<'t, Result<T, StoreError>>,
    {
        let mut state = self.connection.lock().await;
        let connection = state.take(&self.options).await?;
        let mut transaction = WriteTransaction::begin(connection, self.faults.clone()).await?;
        let done = work(&mut transaction).await?;
        *state = WriterState::Open(transaction.commit().await?);
        Ok(done)
    }

    /// Runs one statement, which is a transaction of its own: that saves the round trips to the
    /// connection's thread for BEGIN and COMMIT. For a caller that is dropped it is done or not
    /// done, and the next write opens a new connection.
    pub async fn write_one(&self, statement: Statement) -> Result<WriteOutcome, StoreError> {
        let mut state = self.connection.lock().await;
        let mut connection = state.take(&self.options).await?;
        // SQLite begins and commits by itself; whatever fails, nothing was written.
        for step in [StoreStep::Begin, StoreStep::Statement, StoreStep::Commit] {
            self.faults.before(step)?;
        }
        let mut outcome = WriteOutcome::default();
        let mut results = connection.fetch_many(statement);
        while let Some(result) = results.try_next().await? {
            match result {
                Either::Left(done) => outcome.changed += done.rows_affected(),
                Either::Right(row) => outcome.returned.push(row),
            }
        }
        drop(results);
        self.faults.before(StoreStep::Committed)?;
        *state = WriterState::Open(connection);
        Ok(outcome)
    }

    /// Returns the connection to read over, if it is free and open. Its cache is warm, while after a
    /// write every other connection has to fetch the changed pages again.
    pub fn try_read(&self) -> Option<MappedMutexGuard<'_, SqliteConnection>> {
        let state = self.connection.try_lock().ok()?;
        MutexGuard::try_map(state, |state| match state {
            WriterState::Open(connection) => Some(connection),
            _ => None,
        })
        .ok()
    }

    /// Keeps every write away for as long as the guard is held.
    pub async fn lock(&self) -> MutexGuard<'_, WriterState> {
        self.connection.lock().await
    }

    /// Closes the connection once nobody uses it.
    pub async fn close(&self) {
        let mut state = self.connection.lock().await;
        if let WriterState::Open(connection) = std::mem::replace(&mut *state, WriterState::Closed)
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the connection that writes did not close well");
        }
    }
}

impl WriterState {
    /// Takes the connection, and leaves the state as it is after a failure.
    async fn take(
        &mut self,
        options: &SqliteConnectOptions,
    ) -> Result<SqliteConnection, StoreError> {
        match std::mem::replace(self, Self::Failed) {
            Self::Open(connection) => Ok(connection),
            Self::Failed => Ok(options.connect().await?),
            Self::Closed => {
                *self = Self::Closed;
                Err(StoreError::Closed)
            }
        }
    }
}

impl WriteTransaction {
    async fn begin(
        mut connection: SqliteConnection,
        faults: Arc<dyn StoreFaults>,
    ) -> Result<Self, StoreError> {
        faults.before(StoreStep::Begin)?;
        query("BEGIN IMMEDIATE").execute(&mut connection).await?;
        Ok(Self { connection, faults })
    }

    async fn commit(mut self) -> Result<SqliteConnection, StoreError> {
        self.faults.before(StoreStep::Commit)?;
        query("COMMIT").execute(&mut self.connection).await?;
        self.faults.before(StoreStep::Committed)?;
        Ok(self.connection)
    }

    /// Executes a statement and returns how many rows it changed.
    pub async fn execute(&mut self, statement: Statement) -> Result<u64, StoreError> {
        self.faults.before(StoreStep::Statement)?;
        Ok(statement.execute(&mut self.connection).await?.rows_affected())
    }

    pub async fn fetch_optional(
        &mut self,
        statement: Statement,
    ) -> Result<Option<SqliteRow>, StoreError> {
        self.faults.before(StoreStep::Statement)?;
        Ok(statement.fetch_optional(&mut self.connection).await?)
    }

    pub async fn fetch_all(&mut self, statement: Statement) -> Result<Vec<SqliteRow>, StoreError> {
        self.faults.before(StoreStep::Statement)?;
        Ok(statement.fetch_all(&mut self.connection).await?)
    }
}
