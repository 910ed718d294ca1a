//! Clocks, and the numbers made of what they show.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::time::{ClockId, clock_gettime};

/// How long an operation took, and how much work it was, many times over.
#[derive(Debug, Default)]
pub struct Samples {
    walls: Vec<Duration>,
    cpus: Vec<Duration>,
}

impl Samples {
    /// Measures an operation a number of times. The work is measured for all of them together,
    /// since one may leave work to threads beside it.
    pub async fn block<F>(&mut self, times: u32, mut operation: F) -> Result<()>
    where
        F: AsyncFnMut() -> Result<()>,
    {
        let before = process_cpu()?;
        for _ in 0..times {
            let started = Instant::now();
            operation().await?;
            self.walls.push(started.elapsed());
        }
        self.cpus.push((process_cpu()? - before) / times);
        Ok(())
    }

    /// Takes in operations that were measured elsewhere, with the work of each.
    pub fn add(&mut self, walls: impl IntoIterator<Item = Duration>, cpu: Duration) {
        self.walls.extend(walls);
        self.cpus.push(cpu);
    }

    /// Takes in what was measured at another time.
    pub fn take_in(&mut self, other: &Self) {
        self.walls.extend(&other.walls);
        self.cpus.extend(&other.cpus);
    }

    pub fn count(&self) -> usize {
        self.walls.len()
    }

    pub fn wall(&self, percent: usize) -> Duration {
        percentile(&self.walls, percent)
    }

    /// Gives the CPU time of one operation in the middle one of all blocks.
    pub fn cpu(&self) -> Duration {
        percentile(&self.cpus, 50)
    }

    /// Gives the CPU time of one operation in the costliest blocks.
    pub fn high_cpu(&self) -> Duration {
        percentile(&self.cpus, 99)
    }

    pub fn most_cpu(&self) -> Duration {
        percentile(&self.cpus, 100)
    }
}

/// Finds the value that `percent` of all values do not exceed.
fn percentile(values: &[Duration], percent: usize) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let place = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(place).copied().unwrap_or_default()
}

/// Reads the CPU time that all threads of this process have used so far.
pub fn process_cpu() -> Result<Duration> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(u64::try_from(time.tv_sec)?, u32::try_from(time.tv_nsec)?))
}

/// Reads the CPU time that another process has used so far, in steps of ten milliseconds.
pub fn cpu_of(process: u32) -> Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).context("no such process")?;
    // The second field is the program's name and may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("CPU time is not shown")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u64>);
    let ticks: u64 = ticks.sum::<Result<u64, _>>()?;
    Ok(Duration::from_millis(ticks * 10))
}

/// Reads how much memory this process holds, in bytes.
pub fn resident_memory() -> Result<u64> {
    memory_of("self")
}

/// Reads how much memory a process holds, in bytes.
pub fn memory_of(process: &str) -> Result<u64> {
    let status =
        fs::read_to_string(format!("/proc/{process}/status")).context("memory cannot be read")?;
    let kilobytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB"))
        .context("memory is not shown")?;
    Ok(kilobytes.parse::<u64>()? * 1024)
}

/// Divides two durations.
pub fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
