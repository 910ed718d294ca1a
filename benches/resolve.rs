//! How much it costs to find the living row of an old address.

use std::time::Duration;

use anyhow::{Result, ensure};
use throughline::domain::resolver::{EntryPoint, Intent};
use throughline::server::resolution::resolve;

use crate::measure::{Samples, ratio};
use crate::report::{Report, grouped};
use crate::scene::Scene;

const SMALL: usize = 1_000;
const LARGE: usize = 100_000;

const ROUNDS: usize = 20;
const EACH: u32 = 200;

/// Resolves the first of twelve parts among few and among many sessions, in turns.
pub async fn run(report: &mut Report) -> Result<()> {
    report.begin("resolve", "the first id of a chain of 12, in stores of two sizes");
    let (small, large) = (Scene::open(SMALL, 0).await?, Scene::open(LARGE, 0).await?);
    let (mut among_few, mut among_many) = (Samples::default(), Samples::default());
    for round in 0..=ROUNDS {
        if round == 1 {
            // The first round only warms up.
            (among_few, among_many) = Default::default();
        }
        resolve_first(&small, &mut among_few).await?;
        resolve_first(&large, &mut among_many).await?;
    }
    report.measured("resolve", &grouped(SMALL), &among_few, "");
    report.measured("resolve", &grouped(LARGE), &among_many, "");
    report.at_most("CPU among 100,000", among_many.cpu(), Duration::from_millis(1));
    let growth = ratio(among_many.cpu(), among_few.cpu());
    report.ratio_at_most("CPU among 100,000 : among 1,000", growth, 1.5);
    small.close().await;
    large.close().await;
    Ok(())
}

async fn resolve_first(scene: &Scene, samples: &mut Samples) -> Result<()> {
    let (first, tip) = (scene.filled.first.as_str(), &scene.filled.tip);
    samples
        .block(EACH, async || {
            let resolution =
                resolve(scene.services(), first, EntryPoint::Route, Intent::Navigate).await?;
            ensure!(resolution.session_id.as_ref() == Some(tip), "{resolution:?}");
            Ok(())
        })
        .await
}
