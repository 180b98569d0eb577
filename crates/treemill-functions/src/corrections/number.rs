//! Numbers of JSON, read as correctionlib reads them, to the last bit: its parser (RapidJSON without full precision)
//! computes with doubles what may be up to three units in the last place away from the number that is written.
//! The steps are therefore its steps.

/// A number of JSON: written as an integer that 64 bits hold, or anything else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Negative(i64),
    Positive(u64),
    Real(f64),
}

/// Digits of the significand that count once the number is a double.
const DIGITS: u32 = 17;
/// Largest power of ten of a double.
const LARGEST: i64 = 308;
/// Up to here one more decimal keeps a double's significand exact, or nearly so.
const EXACT: u64 = (1 << 53) - 1;

/// The number at the start of the text, and how many bytes it takes. `None`: there is none, or it is larger
/// than a double can hold.
pub(crate) fn number(text: &[u8]) -> Option<(Number, usize)> {
    let mut digits = Digits { text, at: 0 };
    let is_negative = digits.take(b'-');
    let most = if is_negative { 1 << 63 } else { u64::MAX };
    let mut whole = 0_u64;
    let mut counted = 0_u32;
    // The value once 64 bits do not hold it.
    let mut real: Option<f64> = None;
    if digits.take(b'0') {
    } else {
        whole = digits.digit()?;
        while let Some(digit) = digits.digit() {
            real = match real {
                Some(real) => Some(real * 10.0 + digit as f64),
                None => {
                    let next = whole.checked_mul(10).and_then(|x| x.checked_add(digit));
                    match next.filter(|next| *next <= most) {
                        Some(next) => {
                            whole = next;
                            counted = counted.saturating_add(1);
                            None
                        }
                        None => Some(whole as f64 * 10.0 + digit as f64),
                    }
                }
            };
        }
    }
    let mut power = 0_i64;
    if digits.take(b'.') {
        let mut next = Some(digits.digit()?);
        let mut value = match real {
            Some(real) => real,
            None => {
                while let Some(digit) = next {
                    if whole > EXACT {
                        break;
                    }
                    // 2^53 times ten fits.
                    whole = whole.saturating_mul(10).saturating_add(digit);
                    power = power.saturating_sub(1);
                    if whole != 0 {
                        counted = counted.saturating_add(1);
                    }
                    next = digits.digit();
                }
                whole as f64
            }
        };
        while let Some(digit) = next {
            if counted < DIGITS {
                value = value * 10.0 + digit as f64;
                power = power.saturating_sub(1);
                if value > 0.0 {
                    counted = counted.saturating_add(1);
                }
            }
            next = digits.digit();
        }
        real = Some(value);
    }
    if digits.take(b'e') || digits.take(b'E') {
        let is_small = digits.take(b'-');
        if !is_small {
            digits.take(b'+');
        }
        let mut exponent = digits.digit()? as i64;
        while let Some(digit) = digits.digit() {
            exponent = exponent.saturating_mul(10).saturating_add(digit as i64);
        }
        let exponent = if is_small {
            exponent.saturating_neg()
        } else {
            exponent
        };
        if exponent > LARGEST.saturating_sub(power) {
            return None;
        }
        power = power.saturating_add(exponent);
        real = Some(real.unwrap_or(whole as f64));
    }
    let number = match real {
        Some(real) => {
            let value = scaled(real, power);
            if value > f64::MAX {
                return None;
            }
            Number::Real(if is_negative { -value } else { value })
        }
        None if is_negative => Number::Negative(0_i64.wrapping_sub_unsigned(whole)),
        None => Number::Positive(whole),
    };
    Some((number, digits.at))
}

fn scaled(value: f64, power: i64) -> f64 {
    if power < -LARGEST {
        return by_power(by_power(value, -LARGEST), power.saturating_add(LARGEST));
    }
    by_power(value, power)
}

fn by_power(value: f64, power: i64) -> f64 {
    match power {
        _ if power < -LARGEST => 0.0,
        0.. => value * ten_to(power),
        _ => value / ten_to(power.saturating_neg()),
    }
}

/// The double nearest to a power of ten.
fn ten_to(power: i64) -> f64 {
    // Powers up to 22 are exact products.
    const SMALL: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
    ];
    let small = usize::try_from(power).ok().and_then(|i| SMALL.get(i));
    match small {
        Some(power) => *power,
        None => format!("1e{power}").parse().unwrap_or(f64::INFINITY),
    }
}

struct Digits<'a> {
    text: &'a [u8],
    at: usize,
}

impl Digits<'_> {
    fn take(&mut self, wanted: u8) -> bool {
        let found = self.text.get(self.at) == Some(&wanted);
        self.at = self.at.saturating_add(usize::from(found));
        found
    }

    fn digit(&mut self) -> Option<u64> {
        let byte = self
            .text
            .get(self.at)
            .filter(|byte| byte.is_ascii_digit())?;
        self.at = self.at.saturating_add(1);
        Some(u64::from(byte.wrapping_sub(b'0')))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
    use super::*;

    #[test]
    fn integers_stay_integers() {
        let cases = [
            ("0", Number::Positive(0)),
            ("-0", Number::Negative(0)),
            ("18446744073709551615", Number::Positive(u64::MAX)),
            ("-9223372036854775808", Number::Negative(i64::MIN)),
            ("18446744073709551616", Number::Real(18446744073709551616.0)),
        ];
        for (text, wanted) in cases {
            assert_eq!(
                number(text.as_bytes()),
                Some((wanted, text.len())),
                "{text}"
            );
        }
    }

    #[test]
    fn doubles_are_near_what_is_written() {
        for text in [
            "1.5",
            "0.1",
            "-2.25e-3",
            "1e22",
            "123456789.123456789",
            "1.0E+2",
            "4.9e-324",
            "3e-310",
        ] {
            let Some((Number::Real(found), n)) = number(text.as_bytes()) else {
                panic!("{text}");
            };
            let exact: f64 = text.parse().unwrap();
            assert_eq!(n, text.len());
            assert!(
                (found - exact).abs() <= 3.0 * f64::EPSILON * exact.abs() + 1e-323,
                "{text}: {found}"
            );
        }
        assert_eq!(number(b"1e999"), None);
        assert_eq!(number(b"1."), None);
        assert_eq!(number(b"-"), None);
    }
}
