//! What was measured and what was promised, as tables for people or as one JSON document.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::measure::Samples;

#[derive(Debug, Serialize)]
pub struct Measured {
    benchmark: &'static str,
    what: String,
    size: String,
    count: usize,
    p50_seconds: f64,
    p99_seconds: f64,
    cpu_seconds: f64,
    cpu_p99_seconds: f64,
    note: String,
}

#[derive(Debug, Serialize)]
pub struct Promise {
    benchmark: &'static str,
    what: String,
    measured: String,
    required: String,
    kept: bool,
}

#[derive(Debug, Serialize)]
pub struct Report {
    measured: Vec<Measured>,
    promises: Vec<Promise>,
    notes: Vec<String>,
    #[serde(skip)]
    benchmark: &'static str,
    #[serde(skip)]
    json: bool,
}

impl Report {
    pub fn new(json: bool) -> Self {
        let (measured, promises, notes) = Default::default();
        Self { measured, promises, notes, benchmark: "", json }
    }

    /// Begins the table of one benchmark.
    pub fn begin(&mut self, benchmark: &'static str, about: &str) {
        self.benchmark = benchmark;
        if !self.json {
            println!("\n{benchmark}: {about}");
            println!(
                "  {:<34}{:>20}{:>7}{:>11}{:>11}{:>11}{:>11}",
                "", "size", "count", "p50", "p99", "CPU p50", "CPU p99"
            );
        }
    }

    /// Shows one line of measurements.
    pub fn measured(&mut self, what: &str, size: &str, samples: &Samples, note: &str) {
        let (p50, p99) = (samples.wall(50), samples.wall(99));
        let (cpu, cpu_p99) = (samples.cpu(), samples.high_cpu());
        let count = samples.count();
        if !self.json {
            println!(
                "  {what:<34}{size:>20}{count:>7}{:>11}{:>11}{:>11}{:>11}  {note}",
                time(p50),
                time(p99),
                time(cpu),
                time(cpu_p99)
            );
        }
        self.measured.push(Measured {
            benchmark: self.benchmark,
            what: what.to_owned(),
            size: size.to_owned(),
            count,
            p50_seconds: p50.as_secs_f64(),
            p99_seconds: p99.as_secs_f64(),
            cpu_seconds: cpu.as_secs_f64(),
            cpu_p99_seconds: cpu_p99.as_secs_f64(),
            note: note.to_owned(),
        });
    }

    /// Adds a line of words to the table.
    pub fn note(&mut self, note: &str) {
        if !self.json {
            println!("  {note}");
        }
        self.notes.push(note.to_owned());
    }

    /// Holds a duration to the most that it may be.
    pub fn at_most(&mut self, what: &str, measured: Duration, most: Duration) {
        let required = format!("at most {}", time(most));
        self.promise(what, time(measured), required, measured <= most);
    }

    /// Holds a ratio to the most that it may be.
    pub fn ratio_at_most(&mut self, what: &str, measured: f64, most: f64) {
        let required = format!("at most {most:.2}");
        self.promise(what, format!("{measured:.2}"), required, measured <= most);
    }

    /// Holds a ratio to the least that it may be.
    pub fn ratio_at_least(&mut self, what: &str, measured: f64, least: f64) {
        let required = format!("at least {least:.2}");
        self.promise(what, format!("{measured:.2}"), required, measured >= least);
    }

    fn promise(&mut self, what: &str, measured: String, required: String, kept: bool) {
        let benchmark = self.benchmark;
        let promise = Promise { benchmark, what: what.to_owned(), measured, required, kept };
        if !self.json {
            promise.print();
        }
        self.promises.push(promise);
    }

    /// Prints all promises once more, or everything as JSON.
    pub fn finish(&self) -> Result<()> {
        if self.json {
            println!("{}", serde_json::to_string_pretty(self)?);
            return Ok(());
        }
        println!("\nsummary");
        for promise in &self.promises {
            promise.print();
        }
        let missed = self.promises.iter().filter(|promise| !promise.kept).count();
        println!("{} promises measured, {missed} missed", self.promises.len());
        Ok(())
    }
}

impl Promise {
    fn print(&self) {
        let Self { benchmark, what, measured, required, kept } = self;
        let verdict = if *kept { "PASS" } else { "MISS" };
        println!("  {verdict}  {benchmark:<10}{what:<58}{measured:>11}  ({required})");
    }
}

/// Writes a duration with the unit that suits it.
fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        0.001.. => format!("{:.2} ms", seconds * 1e3),
        _ => format!("{:.1} µs", seconds * 1e6),
    }
}

/// Writes a number with its thousands apart.
pub fn grouped(number: usize) -> String {
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
