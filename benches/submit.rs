//! How long a person waits until their words are safe, against the least that safety costs: a bare
//! loop that writes as many bytes and waits for the disk.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::future::try_join_all;
use tempfile::TempDir;
use throughline::domain::event::Event;
use throughline::domain::ids::{SessionId, TurnId};
use throughline::server::conversations::create;
use throughline::server::sessions::Feed;
use throughline::server::state::Services;
use throughline::server::turns::submit::submit;
use throughline::wire::journal::{Record, Submission, TurnEvent};
use throughline::wire::rest::{NewSession, StartTurn};

use crate::measure::{Samples, process_cpu, ratio};
use crate::report::Report;
use crate::scene::Scene;

const SESSIONS: usize = 16;
const ROUNDS: usize = 40;

/// How often each thing is done in a round.
const ALONE: usize = 25;
const WAVES: usize = 3;
const EACH_IN_A_RUSH: usize = 3;

const CONTENT: &str = "[[say ok]]";

/// Operations of one kind, and the time in which they were all done.
#[derive(Default)]
struct Pace {
    samples: Samples,
    busy: Duration,
}

impl Pace {
    fn per_second(&self) -> f64 {
        self.samples.count() as f64 / self.busy.as_secs_f64()
    }

    fn write_and_sync(&mut self, (file, line): &mut Writer) -> Result<()> {
        let (cpu, started) = (process_cpu()?, Instant::now());
        file.write_all(line.as_bytes())?;
        file.sync_data()?;
        let wall = started.elapsed();
        self.samples.add([wall], process_cpu()? - cpu);
        self.busy += wall;
        Ok(())
    }

    fn write_many(&mut self, bare: &mut Writer, times: usize) -> Result<()> {
        (0..times).try_for_each(|_| self.write_and_sync(bare))
    }

    /// Lets as many threads write side by side as there are sessions.
    fn write_at_once(&mut self, writers: &mut [Writer]) -> Result<()> {
        let (together, cpu) = (Barrier::new(writers.len()), process_cpu()?);
        let walls: Vec<_> = thread::scope(|scope| {
            let write = |(file, line): &mut Writer| {
                together.wait();
                let started = Instant::now();
                file.write_all(line.as_bytes())?;
                file.sync_data()?;
                Ok(started.elapsed())
            };
            let write = &write;
            let threads: Vec<_> =
                writers.iter_mut().map(|writer| scope.spawn(move || write(writer))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|_| bail!("a writer")))
                .collect::<Result<_>>()
        })?;
        self.busy += walls.iter().max().copied().unwrap_or_default();
        self.samples.add(walls, (process_cpu()? - cpu) / u32::try_from(writers.len())?);
        Ok(())
    }
}

/// A file, and the line that is written to it.
type Writer = (File, String);

/// What is compared: a disk answers slower when asked without a pause, so each kind of submit has a
/// loop that keeps its rhythm and takes its turns with it.
#[derive(Default)]
struct Paces {
    bare: Pace,
    alone: Pace,
    alone_in_a_rush: Pace,
    bare_in_a_rush: Pace,
    bare_together: Pace,
    together: Pace,
    together_in_a_rush: Pace,
}

/// Submits from one session and from sixteen, in turns with the bare loop.
pub async fn run(report: &mut Report) -> Result<()> {
    report.begin("submit", "durable submits against a bare loop of write + fdatasync");
    let scene = Scene::open(1_000, 0).await?;
    let mut desks = Vec::new();
    for _ in 0..SESSIONS {
        desks.push(Desk::new(scene.services().clone()).await?);
    }
    let folder = TempDir::new()?;
    let bare = OpenOptions::new().create(true).append(true).open(folder.path().join("bare"))?;
    let line = line_of(&desks[0].turn()?)?;
    let writers = (0..SESSIONS).map(|number| {
        let file = folder.path().join(format!("writer-{number}"));
        Ok((OpenOptions::new().create(true).append(true).open(file)?, line.clone()))
    });
    let mut writers = writers.collect::<Result<Vec<_>>>()?;
    let mut bare = (bare, line);
    let mut paces = Paces::default();
    for round in 0..=ROUNDS {
        if round == 1 {
            // The first round makes files and starts agents.
            paces = Paces::default();
        }
        paces.round(&mut bare, &mut writers, &mut desks).await?;
    }
    paces.show(report);
    drop(desks);
    scene.close().await;
    Ok(())
}

impl Paces {
    async fn round(
        &mut self,
        bare: &mut Writer,
        writers: &mut [Writer],
        desks: &mut [Desk],
    ) -> Result<()> {
        let [first, ..] = desks else { bail!("there is no session") };
        for _ in 0..ALONE {
            self.bare.write_and_sync(bare)?;
            let walls = self.alone.take(first.submit(1)).await?;
            self.alone.busy += walls;
            first.until_ended(1).await?;
        }
        self.bare_in_a_rush.write_many(bare, ALONE)?;
        let walls = self.alone_in_a_rush.take(first.submit(ALONE)).await?;
        self.alone_in_a_rush.busy += walls;
        first.until_ended(ALONE).await?;
        for _ in 0..WAVES {
            self.bare_in_a_rush.write_many(bare, SESSIONS)?;
            self.bare_together.write_at_once(writers)?;
            self.together.all(desks, 1).await?;
        }
        self.bare_in_a_rush.write_many(bare, SESSIONS)?;
        self.together_in_a_rush.all(desks, EACH_IN_A_RUSH).await
    }

    fn show(&self, report: &mut Report) {
        let kinds = [
            ("write + fdatasync, one at a time", "1 thread", &self.bare, &self.bare),
            ("submit, one at a time", "1 session", &self.alone, &self.bare),
            ("write + fdatasync, no pause", "1 thread", &self.bare_in_a_rush, &self.bare_in_a_rush),
            ("submit, no pause", "1 session", &self.alone_in_a_rush, &self.bare_in_a_rush),
            (
                "write + fdatasync, all at once",
                "16 threads",
                &self.bare_together,
                &self.bare_in_a_rush,
            ),
            ("submit, all at once", "16 sessions", &self.together, &self.bare_in_a_rush),
            ("submit, no pause", "16 sessions", &self.together_in_a_rush, &self.bare_in_a_rush),
        ];
        let rate = |pace: &Pace, bare: &Pace| pace.per_second() / bare.per_second();
        let tail = |pace: &Pace, bare: &Pace| ratio(pace.samples.wall(99), bare.samples.wall(99));
        for (what, size, pace, bare) in kinds {
            let note = format!(
                "{:.0}/s, {:.2} of the loop; p99 {:.2} of the loop's",
                pace.per_second(),
                rate(pace, bare),
                tail(pace, bare),
            );
            report.measured(what, size, &pace.samples, &note);
        }
        let (alone, together) = ((&self.alone, &self.bare), (&self.together, &self.bare_in_a_rush));
        report.ratio_at_least("rate of 1 session : loop", rate(alone.0, alone.1), 0.7);
        report.ratio_at_least("rate of 16 sessions : loop", rate(together.0, together.1), 0.7);
        report.ratio_at_most("p99 of 1 session : loop", tail(alone.0, alone.1), 2.0);
        // Sixteen who ask at once wait for each other's syncs, in a bare loop as well as here.
        let tail_together = tail(&self.together, &self.bare_together);
        report.ratio_at_most("p99 of 16 sessions : 16 loops", tail_together, 2.0);
    }
}

impl Pace {
    /// Takes in what one session did, and tells how long it took.
    async fn take(
        &mut self,
        work: impl Future<Output = Result<Vec<Duration>>>,
    ) -> Result<Duration> {
        let cpu = process_cpu()?;
        let walls = work.await?;
        let each = (process_cpu()? - cpu) / u32::try_from(walls.len())?;
        let sum = walls.iter().sum();
        self.samples.add(walls, each);
        Ok(sum)
    }

    /// Lets all sessions submit side by side, and waits for their answers outside the time.
    async fn all(&mut self, desks: &mut [Desk], turns: usize) -> Result<()> {
        let started = Instant::now();
        let work = try_join_all(desks.iter_mut().map(|desk| desk.submit(turns)));
        self.take(async { Ok(work.await?.concat()) }).await?;
        self.busy += started.elapsed();
        for desk in desks {
            desk.until_ended(turns).await?;
        }
        Ok(())
    }
}

/// One session and somebody who looks at it.
struct Desk {
    services: Services,
    session_id: SessionId,
    feed: Feed,
    turns: usize,
}

impl Desk {
    async fn new(services: Services) -> Result<Self> {
        let session_id = create(&services, NewSession::default()).await?.session_id;
        let feed = services.registry.subscribe(&session_id, None).await?;
        Ok(Self { services, session_id, feed, turns: 0 })
    }

    fn turn(&self) -> Result<StartTurn> {
        Ok(StartTurn {
            turn_id: TurnId::parse(&format!("{}-{:08}", self.session_id, self.turns))?,
            session_id: self.session_id.clone(),
            content: CONTENT.to_owned(),
            attachments: Vec::new(),
        })
    }

    /// Submits turns one after the other where requests are answered, on a thread of the runtime.
    async fn submit(&mut self, count: usize) -> Result<Vec<Duration>> {
        let mut turns = Vec::new();
        for _ in 0..count {
            self.turns += 1;
            turns.push(self.turn()?);
        }
        let services = self.services.clone();
        let work = tokio::spawn(async move {
            let mut walls = Vec::new();
            for turn in turns {
                let started = Instant::now();
                submit(&services, turn).await?;
                walls.push(started.elapsed());
            }
            Ok(walls)
        });
        work.await?
    }

    async fn until_ended(&mut self, turns: usize) -> Result<()> {
        let mut ended = 0;
        while ended < turns {
            let numbered = self.feed.events.recv().await?;
            ended += usize::from(matches!(numbered.event, Event::AgentEnd { .. }));
        }
        Ok(())
    }
}

/// Writes the line that the journal gets for a turn.
fn line_of(turn: &StartTurn) -> Result<String> {
    let submission = Submission {
        content: turn.content.clone(),
        attachments: Vec::new(),
        workspace: std::env::temp_dir().join("123456").display().to_string(),
        model: None,
        model_provider: None,
    };
    let event = TurnEvent::Submitted(submission);
    Ok(Record::new(&turn.turn_id, &turn.session_id, 1_767_225_600.123, event).to_line()?)
}
