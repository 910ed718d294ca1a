use std::fs;

use anyhow::{Context, Result, bail};

use crate::manifest::Manifest;
use crate::project::{Mode, Project};
use crate::{browser_module, site};

/// The most that a first visit may download, packed with Brotli.
///
/// On a slow phone connection (1.6 Mbit/s) this takes under two seconds; the framework alone takes two thirds of it.
const LIMIT: u64 = 370_000;

/// Builds what a browser downloads, weighs it, and fails above the limit.
pub fn size(project: &Project) -> Result<()> {
    browser_module::build(project, Mode::Release)?;
    let manifest = site::write(project, Mode::Release)?;
    weigh(project, &manifest)
}

/// Weighs the release site.
pub fn weigh(project: &Project, manifest: &Manifest) -> Result<()> {
    let mut sum = Weight::default();
    println!("{:<8}{:>12}{:>12}{:>12}", "", "raw", "gzip", "brotli");
    for (label, extension) in [("WASM", ".wasm"), ("JS", ".js"), ("CSS", ".css")] {
        let weight = Weight::of(project, manifest, extension)?;
        weight.print(label);
        sum.add(weight);
    }
    sum.print("sum");
    println!("{:<8}{:>36}", "limit", grouped(LIMIT));
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
    fn of(project: &Project, manifest: &Manifest, extension: &str) -> Result<Self> {
        let mut sum = Self::default();
        let loaded = manifest
            .files
            .iter()
            .filter(|file| file.path.starts_with("/pkg/") && file.path.ends_with(extension));
        for file in loaded {
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
