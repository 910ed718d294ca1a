//! Slows down whoever guesses.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::server::lock::lock;

/// How many tries in a row cost nothing but themselves.
const FREE: u32 = 5;

/// The longest that an address must wait after a try.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// How many tries there may be in a minute, whoever makes them.
const A_MINUTE: usize = 60;

/// How many addresses are remembered; beyond that the global bound must do.
const ADDRESSES: usize = 10_000;

#[derive(Debug, Default)]
pub struct Attempts {
    tallies: Mutex<Tallies>,
}

#[derive(Debug, Default)]
struct Tallies {
    by_address: HashMap<IpAddr, Tally>,
    lately: VecDeque<Instant>,
}

#[derive(Debug)]
struct Tally {
    tries: u32,
    next: Instant,
}

impl Attempts {
    /// Lets a try begin, which counts as failed until it is said to have succeeded, or tells how
    /// long to wait. Many tries at once are thus counted as many.
    pub fn begin(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let address = network_of(address);
        let mut tallies = lock(&self.tallies);
        let Tallies { by_address, lately } = &mut *tallies;
        if let Some(tally) = by_address.get(&address).filter(|tally| now < tally.next) {
            return Err(tally.next - now);
        }
        let minute = Duration::from_secs(60);
        while lately.front().is_some_and(|at| now.duration_since(*at) >= minute) {
            lately.pop_front();
        }
        if let Some(oldest) = lately.front().filter(|_| lately.len() >= A_MINUTE) {
            return Err(minute - now.duration_since(*oldest));
        }
        lately.push_back(now);
        if by_address.len() >= ADDRESSES {
            by_address.retain(|_, tally| now < tally.next + LONGEST_WAIT);
        }
        if by_address.len() < ADDRESSES || by_address.contains_key(&address) {
            let tally = by_address.entry(address).or_insert(Tally { tries: 0, next: now });
            if now >= tally.next + LONGEST_WAIT {
                tally.tries = 0;
            }
            tally.tries += 1;
            tally.next = now + wait_after(tally.tries);
        }
        Ok(())
    }

    /// Takes back what was counted against an address.
    pub fn succeeded(&self, address: IpAddr) {
        lock(&self.tallies).by_address.remove(&network_of(address));
    }
}

/// Doubles with each try beyond the free ones.
fn wait_after(tries: u32) -> Duration {
    match tries.checked_sub(FREE) {
        None => Duration::ZERO,
        Some(beyond) => Duration::from_secs(1 << beyond.min(16)).min(LONGEST_WAIT),
    }
}

/// Takes all addresses of a household for one: in IPv6 each has more than there are guesses.
fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}
