//! A point in time as both sides write it: RFC 3339, to the millisecond, in UTC.
//!
//! The calendar is computed here because a date library would weigh more in the browser than all
//! that is asked of it. Nothing in this module reads a clock.

use std::fmt;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// A timestamp taken apart into calendar fields, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub hour: u32,
    pub minute: u32,
    pub second: u32,
    pub milli: u32,
}

impl Timestamp {
    /// The last and first moments that RFC 3339 can write with a year of four digits.
    pub const MAX: Self = Self(253_402_300_799_999);
    pub const MIN: Self = Self(-62_167_219_200_000);

    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Gives whole and part seconds since 1970.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Takes seconds since 1970 to the millisecond; what is out of range becomes its nearest end.
    pub fn from_seconds(seconds: f64) -> Self {
        Self::from_millis((seconds * 1000.0).round() as i64)
    }

    pub fn millis(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339, with any offset and up to nine digits of fraction.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.trim().as_bytes();
        let year = digits(bytes, 0, 4)?;
        let month = digits(bytes, 5, 2)?;
        let day = digits(bytes, 8, 2)?;
        let hour = digits(bytes, 11, 2)?;
        let minute = digits(bytes, 14, 2)?;
        let second = digits(bytes, 17, 2)?;
        let separators = [(4, b"-"), (7, b"-"), (13, b":"), (16, b":")];
        if separators.iter().any(|(place, sign)| bytes.get(*place) != sign.first())
            || !matches!(bytes.get(10), Some(b'T' | b't' | b' '))
            || !(1..=12).contains(&month)
            || day < 1
            || day > days_in_month(year, month)
            || hour > 23
            || minute > 59
            || second > 60
        {
            return None;
        }
        let (milli, rest) = fraction(bytes.get(19..)?)?;
        let offset_minutes = offset(rest)?;
        let days = days_from_civil(year, month, day);
        let seconds = hour * 3600 + (minute - offset_minutes) * 60 + second;
        let millis = days * MILLIS_PER_DAY + seconds * 1000 + milli;
        (Self::MIN.0..=Self::MAX.0).contains(&millis).then_some(Self(millis))
    }

    /// Takes the timestamp apart, in UTC.
    pub fn civil(self) -> Civil {
        let days = self.0.div_euclid(MILLIS_PER_DAY);
        let millis = self.0.rem_euclid(MILLIS_PER_DAY);
        let (year, month, day) = civil_from_days(days);
        let part =
            |divisor: i64, modulus: i64| u32::try_from(millis / divisor % modulus).unwrap_or(0);
        Civil {
            year,
            month,
            day,
            hour: part(3_600_000, 24),
            minute: part(60_000, 60),
            second: part(1000, 60),
            milli: part(1, 1000),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, hour, minute, second, milli } = self.civil();
        write!(
            formatter,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"
        )
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimestampVisitor)
    }
}

/// Accepts RFC 3339, and epoch seconds as older servers wrote them.
struct TimestampVisitor;

impl Visitor<'_> for TimestampVisitor {
    type Value = Timestamp;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an RFC 3339 time or epoch seconds")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Timestamp, E> {
        Timestamp::parse(text).ok_or_else(|| E::custom("not an RFC 3339 time"))
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Timestamp, E> {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        Ok(Timestamp::from_millis(seconds.saturating_mul(1000)))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Timestamp, E> {
        Ok(Timestamp::from_millis(seconds.saturating_mul(1000)))
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Timestamp, E> {
        if seconds.is_finite() {
            Ok(Timestamp::from_millis((seconds * 1000.0).round() as i64))
        } else {
            Err(E::custom("a time must be a finite number"))
        }
    }
}

fn digits(bytes: &[u8], start: usize, count: usize) -> Option<i64> {
    let mut value = 0;
    for byte in bytes.get(start..start + count)? {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(value)
}

/// Reads `.123…` to whole milliseconds and gives back what follows it.
fn fraction(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let Some((b'.', rest)) = bytes.split_first() else {
        return Some((0, bytes));
    };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 || length > 9 {
        return None;
    }
    let mut milli = 0;
    for place in 0..3 {
        let digit = rest.get(place).filter(|_| place < length).map_or(0, |byte| byte - b'0');
        milli = milli * 10 + i64::from(digit);
    }
    Some((milli, rest.get(length..)?))
}

fn offset(bytes: &[u8]) -> Option<i64> {
    let sign = match bytes.first()? {
        b'Z' | b'z' if bytes.len() == 1 => return Some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let hours = digits(bytes, 1, 2)?;
    let minutes = digits(bytes, 4, 2)?;
    let well_formed = bytes.len() == 6 && bytes.get(3) == Some(&b':') && hours < 24 && minutes < 60;
    well_formed.then_some(sign * (hours * 60 + minutes))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Counts years from March, so that the leap day is the last of its year and months follow a
/// straight line of 153 days for every five.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let shifted_month = (month + 9) % 12;
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, u32::try_from(month).unwrap_or(1), u32::try_from(day).unwrap_or(1))
}
