//! Ranges of `Double32_t` and `Float16_t` as written in comments and leaf titles: `[min,max,bits]`.
//! Follows TStreamerElement's GetRange, whose corner cases decide which bytes are in the file.

use crate::layout::Truncation;
use crate::limits::NUMBER_LENGTH;
use std::f64::consts::PI;

/// Bits of mantissa of a `Float16_t` without a specification.
const FLOAT16_BITS: u8 = 12;

/// Smallest and largest number of bits that may be asked for.
const BITS: std::ops::RangeInclusive<i64> = 2..=32;

/// How a `Double32_t` is stored, from fXmin and fFactor.
pub(crate) fn double32(min: f64, factor: f64) -> Truncation {
    truncation(min, factor, None)
}

/// How a `Float16_t` is stored, from fXmin and fFactor.
pub(crate) fn float16(min: f64, factor: f64) -> Truncation {
    truncation(min, factor, Some(FLOAT16_BITS))
}

fn truncation(min: f64, factor: f64, default_bits: Option<u8>) -> Truncation {
    if factor != 0.0 {
        return Truncation::Range { min, factor };
    }
    // Without a range fXmin carries the bits (plus 0.1, against rounding).
    let bits = if (1.0..=32.0).contains(&min) {
        Some(min as u8)
    } else {
        default_bits
    };
    bits.map_or(Truncation::AsF32, |bits| Truncation::Mantissa { bits })
}

/// fXmin and fFactor from a leaf title: `x[2][3]/f[0,10,12]`, or only `f[0,10,12]` (TLeafF16 version 1).
pub(crate) fn from_leaf_title(title: &str) -> (f64, f64) {
    from_title(title.split_once('/').map_or(title, |(_, letter)| letter))
}

/// fXmin and fFactor from a member's comment.
pub(crate) fn from_title(title: &str) -> (f64, f64) {
    let Some(parts) = bracket(title) else {
        return (0.0, 0.0);
    };
    let mut parts = parts.splitn(3, ',');
    let min = parts.next().map_or(0.0, limit);
    let max = parts.next().map_or(0.0, limit);
    let bits = parts
        .next()
        .and_then(leading_integer)
        .map_or(32, |bits| if BITS.contains(&bits) { bits } else { 32 });
    if min < max {
        let steps = if bits < 32 {
            (bits as f64).exp2()
        } else {
            f64::from(u32::MAX)
        };
        return (min, steps / (max - min));
    }
    let min = if bits < 15 { bits as f64 + 0.1 } else { min };
    // ROOT uses the result only if one of the two is positive.
    if min > 0.0 { (min, 0.0) } else { (0.0, 0.0) }
}

/// The inside of the first bracket, or of the second if the first has no comma (an array's dimension).
fn bracket(title: &str) -> Option<&str> {
    let mut rest = title;
    for _ in 0..2 {
        let (_, inside) = rest.split_once('[')?;
        let (inside, behind) = inside.split_once(']')?;
        if inside.contains(',') {
            return Some(inside);
        }
        rest = behind;
    }
    None
}

/// Multiples of pi that GetRange knows, in the order it tries them.
const PIS: [(&str, f64); 6] = [
    ("2pi", 2.0 * PI),
    ("2*pi", 2.0 * PI),
    ("twopi", 2.0 * PI),
    ("pi/2", PI / 2.0),
    ("pi/4", PI / 4.0),
    ("pi", PI),
];

fn limit(text: &str) -> f64 {
    let text = text.to_ascii_lowercase().replace(' ', "");
    match PIS.iter().find(|(name, _)| text.contains(name)) {
        Some((_, value)) if text.contains('-') => -value,
        Some((_, value)) => *value,
        None => leading_number(&text),
    }
}

/// The value of the text for scanf's `%lg`: the longest number that it begins with, else 0.
fn leading_number(text: &str) -> f64 {
    let ends = text
        .char_indices()
        .map(|(i, c)| i.saturating_add(c.len_utf8()))
        .take(NUMBER_LENGTH);
    ends.filter_map(|end| text.get(..end)?.parse().ok())
        .last()
        .unwrap_or(0.0)
}

fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let digits = text
        .trim_start_matches(['-', '+'])
        .find(|c: char| !c.is_ascii_digit());
    let sign = text
        .len()
        .saturating_sub(text.trim_start_matches(['-', '+']).len());
    text.get(..digits.map_or(text.len(), |n| n.saturating_add(sign)))?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d32(title: &str) -> Truncation {
        let (min, factor) = from_title(title);
        double32(min, factor)
    }

    #[test]
    fn every_form() {
        let full = f64::from(u32::MAX);
        assert_eq!(d32("no range"), Truncation::AsF32);
        assert_eq!(
            d32("[0,100] a range"),
            Truncation::Range {
                min: 0.0,
                factor: full / 100.0
            }
        );
        assert_eq!(
            d32("[-1,1,16]"),
            Truncation::Range {
                min: -1.0,
                factor: 32768.0
            }
        );
        assert_eq!(
            d32("[-pi,pi,8]"),
            Truncation::Range {
                min: -PI,
                factor: 256.0 / (PI - -PI)
            }
        );
        assert_eq!(
            d32("[0, twopi , 31]"),
            Truncation::Range {
                min: 0.0,
                factor: 2_147_483_648.0 / (2.0 * PI)
            }
        );
        assert_eq!(
            d32("[0,2*pi]"),
            Truncation::Range {
                min: 0.0,
                factor: full / (2.0 * PI)
            }
        );
        assert_eq!(d32("[0,0,8]"), Truncation::Mantissa { bits: 8 });
        assert_eq!(
            d32("x[3][0,10,4]"),
            Truncation::Range {
                min: 0.0,
                factor: 1.6
            }
        );
        assert_eq!(
            d32("x[3][4][0,10,4]"),
            Truncation::AsF32,
            "GetRange looks at two brackets only"
        );
        assert_eq!(
            d32("[1e2,1.5e2,2]"),
            Truncation::Range {
                min: 100.0,
                factor: 4.0 / 50.0
            }
        );
    }

    #[test]
    fn corners_that_roots_own_reading_decides() {
        assert_eq!(d32("[0,0]"), Truncation::AsF32);
        assert_eq!(
            d32("[0,0,20]"),
            Truncation::AsF32,
            "15 bits and more are not a mantissa"
        );
        assert_eq!(d32("[-1,-2]"), Truncation::AsF32);
        assert_eq!(
            d32("[0,10,77]"),
            Truncation::Range {
                min: 0.0,
                factor: f64::from(u32::MAX) / 10.0
            }
        );
        assert_eq!(d32("[n]"), Truncation::AsF32);
        assert_eq!(d32("[0,10"), Truncation::AsF32);
        let (min, factor) = from_title("[0,0]");
        assert_eq!(float16(min, factor), Truncation::Mantissa { bits: 12 });
    }
}
