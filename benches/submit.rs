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
use uuid::Uuid;

use crate::measure::{Samples, process_cpu, ratio};
use crate::report::Report;
use crate::scene::Scene;

const SESSIONS: usize = 16;

/// The run is measured in parts of so many rounds.
const STRETCHES: usize = 5;
const ROUNDS: usize = 8;

/// How often each thing is done in a round.
const ALONE: usize = 20;
const WAVES: usize = 8;
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

    fn take_in(&mut self, other: &Self) {
        self.samples.take_in(&other.samples);
        self.busy += other.busy;
    }

    fn write_many(&mut self, bare: &mut Writer, times: usize) -> Result<()> {
        (0..times).try_for_each(|_| self.write_and_sync(bare))
    }

    /// Lets as many threads write side by side as there are sessions.
    fn write_at_once(&mut self, writers: &mut [Writer]) -> Result<()> {
        let (together, cpu) = (Barrier::new(writers.len()), process_cpu()?);
        let walls = thread::scope(|scope| {
            let threads: Vec<_> = writers
                .iter_mut()
                .map(|writer| scope.spawn(|| write_with_others(&together, writer)))
                .collect();
            let ended = threads.into_iter().map(|thread| thread.join());
            ended
                .map(|wall| wall.unwrap_or_else(|_| bail!("a writer died")))
                .collect::<Result<Vec<_>>>()
        })?;
        self.busy += walls.iter().max().copied().unwrap_or_default();
        self.samples.add(walls, (process_cpu()? - cpu) / u32::try_from(writers.len())?);
        Ok(())
    }
}

fn write_with_others(together: &Barrier, (file, line): &mut Writer) -> Result<Duration> {
    together.wait();
    let started = Instant::now();
    file.write_all(line.as_bytes())?;
    file.sync_data()?;
    Ok(started.elapsed())
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
    // The first round makes files and starts agents.
    Paces::default().round(&mut bare, &mut writers, &mut desks).await?;
    let mut stretches = Vec::new();
    for _ in 0..STRETCHES {
        let mut paces = Paces::default();
        for _ in 0..ROUNDS {
            paces.round(&mut bare, &mut writers, &mut desks).await?;
        }
        stretches.push(paces);
    }
    show(&stretches, report);
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

    fn take_in(&mut self, other: &Self) {
        self.bare.take_in(&other.bare);
        self.alone.take_in(&other.alone);
        self.alone_in_a_rush.take_in(&other.alone_in_a_rush);
        self.bare_in_a_rush.take_in(&other.bare_in_a_rush);
        self.bare_together.take_in(&other.bare_together);
        self.together.take_in(&other.together);
        self.together_in_a_rush.take_in(&other.together_in_a_rush);
    }
}

fn show(stretches: &[Paces], report: &mut Report) {
    let mut all = Paces::default();
    stretches.iter().for_each(|paces| all.take_in(paces));
    let rushed = &all.bare_in_a_rush;
    let kinds = [
        ("write + fdatasync, one at a time", "1 thread", &all.bare, &all.bare),
        ("submit, one at a time", "1 session", &all.alone, &all.bare),
        ("write + fdatasync, no pause", "1 thread", rushed, rushed),
        ("submit, no pause", "1 session", &all.alone_in_a_rush, rushed),
        ("write + fdatasync, all at once", "16 threads", &all.bare_together, rushed),
        ("submit, all at once", "16 sessions", &all.together, rushed),
        ("submit, no pause", "16 sessions", &all.together_in_a_rush, rushed),
    ];
    for (what, size, pace, bare) in kinds {
        let note = format!(
            "{:.0}/s, {:.2} of the loop; p99 {:.2} of the loop's",
            pace.per_second(),
            rate(pace, bare),
            tail(pace, bare),
        );
        report.measured(what, size, &pace.samples, &note);
    }
    let alone = middle(stretches, |paces| rate(&paces.alone, &paces.bare));
    report.ratio_at_least("rate of 1 session : loop", alone, 0.4);
    let together = middle(stretches, |paces| rate(&paces.together, &paces.bare_in_a_rush));
    report.ratio_at_least("rate of 16 sessions : loop", together, 0.7);
    report.ratio_at_most("p99 of 1 session : loop", tail(&all.alone, &all.bare), 3.0);
    // Sixteen who ask at once wait for each other's syncs, in a bare loop as well as here.
    let tail_together = tail(&all.together, &all.bare_together);
    report.ratio_at_most("p99 of 16 sessions : 16 loops", tail_together, 5.0);
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

/// Takes the middle one of the stretches: a disk that stops for a moment, now in this loop and now
/// in that, does not decide.
fn middle(stretches: &[Paces], compared: impl Fn(&Paces) -> f64) -> f64 {
    let mut ratios: Vec<f64> = stretches.iter().map(compared).collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN)
}

fn rate(pace: &Pace, bare: &Pace) -> f64 {
    pace.per_second() / bare.per_second()
}

fn tail(pace: &Pace, bare: &Pace) -> f64 {
    ratio(pace.samples.wall(99), bare.samples.wall(99))
}

/// One session and somebody who looks at it.
struct Desk {
    services: Services,
    session_id: SessionId,
    feed: Feed,
}

impl Desk {
    async fn new(services: Services) -> Result<Self> {
        let session_id = create(&services, NewSession::default()).await?.session_id;
        let feed = services.registry.subscribe(&session_id, None).await?;
        Ok(Self { services, session_id, feed })
    }

    /// Makes a turn as a browser does, whose ids begin with the time.
    fn turn(&self) -> Result<StartTurn> {
        Ok(StartTurn {
            turn_id: TurnId::parse(&Uuid::now_v7().simple().to_string())?,
            session_id: self.session_id.clone(),
            content: CONTENT.to_owned(),
            attachments: Vec::new(),
        })
    }

    /// Submits turns one after the other where requests are answered, on a thread of the runtime.
    async fn submit(&self, count: usize) -> Result<Vec<Duration>> {
        let turns: Vec<StartTurn> = (0..count).map(|_| self.turn()).collect::<Result<_>>()?;
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
        // The session answers once it has put the end on the disk, so the next submit meets no
        // work that the last one left.
        self.services.registry.transcript(&self.session_id, 1).await?;
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
