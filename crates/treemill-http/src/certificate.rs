//! When a certificate ends, from its DER (RFC 5280). Pure; who signed it and for whom is rustls's to judge.

use std::time::{Duration, SystemTime};

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The end of a certificate's validity; `None` if it is none, or one of another form.
#[must_use]
pub fn ends(der: &[u8]) -> Option<SystemTime> {
    let (certificate, _) = take(der, SEQUENCE)?;
    let (signed, _) = take(certificate, SEQUENCE)?;
    let rest = take(signed, VERSION).map_or(signed, |(_, rest)| rest);
    let (_, rest) = take(rest, INTEGER)?; // the serial number
    let (_, rest) = take(rest, SEQUENCE)?; // the algorithm
    let (_, rest) = take(rest, SEQUENCE)?; // the issuer
    let (validity, _) = take(rest, SEQUENCE)?;
    let time = |bytes| {
        let utc = take(bytes, UTC_TIME).map(|found| (found, true));
        utc.or_else(|| take(bytes, GENERALIZED_TIME).map(|found| (found, false)))
    };
    let ((_, rest), _) = time(validity)?;
    let ((text, _), is_short) = time(rest)?;
    moment(std::str::from_utf8(text).ok()?, is_short)
}

/// The content of an element with this tag, and what follows it.
fn take(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    let (&short, rest) = rest.split_first().filter(|_| first == tag)?;
    let (length, rest) = match short {
        0..0x80 => (usize::from(short), rest),
        _ => {
            let (long, rest) = rest.split_at_checked(usize::from(short & 0x7f))?;
            let is_sound = (1..=4).contains(&long.len());
            let add = |sum: usize, byte: &u8| (sum << 8) | usize::from(*byte);
            (is_sound.then(|| long.iter().fold(0, add))?, rest)
        }
    };
    rest.split_at_checked(length)
}

/// `YYMMDDHHMMSSZ`, of the years from 1950 to 2049, or `YYYYMMDDHHMMSSZ`.
fn moment(text: &str, is_short: bool) -> Option<SystemTime> {
    let digits = text
        .strip_suffix('Z')
        .filter(|d| d.bytes().all(|b| b.is_ascii_digit()))?;
    let (year, rest) = digits.split_at_checked(if is_short { 2 } else { 4 })?;
    let year: u64 = year.parse().ok()?;
    let year = match is_short {
        true => year.checked_add(if year < 50 { 2000 } else { 1900 })?,
        false => year,
    };
    let two = |at: usize| rest.get(at..at.checked_add(2)?)?.parse::<u64>().ok();
    let (month, day) = (two(0)?, two(2)?);
    let of_day = two(4)?
        .checked_mul(3600)?
        .checked_add(two(6)?.checked_mul(60)?)?;
    let seconds = days(year, month, day)?
        .checked_mul(86_400)?
        .checked_add(of_day)?;
    let since = Duration::from_secs(seconds.checked_add(two(8)?)?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Days of the Gregorian calendar from 1 January 1970 on.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let is_sound = year >= 1970 && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_sound.then_some(())?;
    // Years begin in March here, so that the day of leap years is the last one.
    let is_early = month <= 2;
    let year = year.checked_sub(u64::from(is_early))?;
    let month = month
        .checked_add(if is_early { 9 } else { 0 })?
        .checked_sub(if is_early { 0 } else { 3 })?;
    let of_year = month
        .checked_mul(153)?
        .checked_add(2)?
        .checked_div(5)?
        .checked_add(day)?;
    let leaps = (year / 4)
        .checked_sub(year / 100)?
        .checked_add(year / 400)?;
    let all = year
        .checked_mul(365)?
        .checked_add(leaps)?
        .checked_add(of_year)?;
    all.checked_sub(719_469)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (text, is_short, expected) in [
            ("700101000000Z", true, 0),
            ("000229235959Z", true, 951_868_799),
            ("491231235959Z", true, 2_524_607_999),
            ("20261128150400Z", false, 1_795_878_240),
        ] {
            let found = moment(text, is_short).unwrap();
            let since = found.duration_since(SystemTime::UNIX_EPOCH).unwrap();
            assert_eq!(since.as_secs(), expected, "{text}");
        }
        for text in [
            "",
            "Z",
            "261328150400Z",
            "26112815Z",
            "2611281504000",
            "26é128150400Z",
        ] {
            assert_eq!(moment(text, true), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = ends(&bytes);
        }

        #[test]
        fn days_follow_one_another(year in 1970_u64..2200, month in 1_u64..=12) {
            let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = lengths[usize::try_from(month - 1).unwrap()] + u64::from(is_leap && month == 2);
            let next = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
            let (first, after) = (days(year, month, 1).unwrap(), days(next.0, next.1, 1).unwrap());
            prop_assert_eq!(after - first, length);
        }
    }
}
