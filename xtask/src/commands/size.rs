use std::fs;

use anyhow::{Context, Result, bail};

use crate::commands::dist;
use crate::first_page;
use crate::manifest::{File, Manifest};
use crate::project::{Mode, Project};

/// The most that a first visit may download, packed with Brotli.
///
/// On a slow phone connection (1.6 Mbit/s) this takes one and a half seconds; the framework alone takes two thirds of it.
const LIMIT: u64 = 300_000;

/// The files beside code and style that a browser asks for on a first visit.
const BESIDE: [&str; 4] = ["/icon.svg", "/manifest.webmanifest", "/pwa.js", "/sw.js"];

/// Builds the release, weighs what a first visit to the list downloads, and fails above the limit.
pub fn size(project: &Project) -> Result<()> {
    dist::dist(project)?;
    let manifest = Manifest::read(&project.site(Mode::Release))
        .context("the release build left no manifest")?;
    weigh(project, &manifest)
}

/// Weighs the release, which must be built.
pub fn weigh(project: &Project, manifest: &Manifest) -> Result<()> {
    let later: Vec<_> = manifest.parts.values().flatten().collect();
    let of_page = |file: &&File| file.path.starts_with("/pkg/") && !later.contains(&&file.path);
    let ending = |ending: &'static str| move |file: &&File| file.path.ends_with(ending);
    let pages: Vec<_> = manifest.files.iter().filter(of_page).collect();
    let weigh = |files: Vec<&File>| Weight::of(project, &files);
    let of_kind = |kind| weigh(pages.iter().copied().filter(ending(kind)).collect());
    let beside = manifest.files.iter().filter(|file| BESIDE.contains(&&*file.path)).collect();

    println!("{:<8}{:>12}{:>12}{:>12}", "", "raw", "gzip", "brotli");
    let mut sum = Weight::default();
    let page = first_page::weigh(project)?;
    let rows = [
        ("HTML", Weight { brotli: page, ..Weight::default() }),
        ("WASM", of_kind(".wasm")?),
        ("JS", of_kind(".js")?),
        ("CSS", of_kind(".css")?),
        ("icons", weigh(beside)?),
    ];
    for (label, weight) in rows {
        weight.print(label);
        sum.add(weight);
    }
    sum.print("sum");
    println!("{:<8}{:>36}", "limit", grouped(LIMIT));
    let later = manifest.files.iter().filter(|file| later.contains(&&file.path)).collect();
    weigh(later)?.print("later");
    if sum.brotli > LIMIT {
        bail!(
            "a first visit downloads {} bytes, {} above the limit",
            grouped(sum.brotli),
            grouped(sum.brotli - LIMIT)
        );
    }
    Ok(())
}

#[derive(Default, Clone, Copy)]
struct Weight {
    raw: u64,
    gzip: u64,
    brotli: u64,
}

impl Weight {
    fn of(project: &Project, files: &[&File]) -> Result<Self> {
        let mut sum = Self::default();
        for file in files {
            let size = |suffix: &str| {
                let name = format!("{}{suffix}", file.path.trim_start_matches('/'));
                fs::metadata(project.site(Mode::Release).join(&name))
                    .with_context(|| format!("could not weigh {name}"))
                    .map(|metadata| metadata.len())
            };
            sum.add(Self {
                raw: size("")?,
                gzip: size(if file.gzip { ".gz" } else { "" })?,
                brotli: size(if file.brotli { ".br" } else { "" })?,
            });
        }
        Ok(sum)
    }

    fn add(&mut self, other: Self) {
        self.raw += other.raw;
        self.gzip += other.gzip;
        self.brotli += other.brotli;
    }

    fn print(self, label: &str) {
        let [raw, gzip, brotli] = [self.raw, self.gzip, self.brotli].map(grouped);
        println!("{label:<8}{raw:>12}{gzip:>12}{brotli:>12}");
    }
}

/// Writes a number with its thousands apart.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
