//! JSON numbers compared by their exact value, never through floats.
#![forbid(unsafe_code)]

use std::cmp::Ordering;

/// Larger exponents count as this, so that every language can hold them.
const MAX_EXPONENT: i64 = 1_000_000_000_000_000_000;

/// 0.DIGITS times ten to the power of `magnitude`; zero has no digits.
struct Parts<'a> {
    is_negative: bool,
    magnitude: i64,
    whole: &'a [u8],
    fraction: &'a [u8],
}

fn exponent(text: &[u8]) -> i64 {
    let (is_negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let digits = strip_start(digits);
    let number = if digits.len() > 18 {
        MAX_EXPONENT
    } else {
        digits.iter().fold(0, |number, digit| 10 * number + i64::from(digit - b'0'))
    };
    if is_negative {
        -number
    } else {
        number
    }
}

fn strip_start(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

fn strip_end(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    &digits[..digits.len() - zeros]
}

impl<'a> Parts<'a> {
    /// Takes apart what the scanner has found to be a number.
    fn of(number: &'a [u8]) -> Parts<'a> {
        let is_negative = number.first() == Some(&b'-');
        let number = &number[usize::from(is_negative)..];
        let mantissa_end = number.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(number.len());
        let (mantissa, power) = number.split_at(mantissa_end);
        let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
        let fraction = strip_end(mantissa.get(point + 1..).unwrap_or(&[]));
        let whole = strip_start(&mantissa[..point]);
        let mut magnitude = whole.len() as i64 + power.get(1..).map_or(0, exponent);
        let mut parts = Parts { is_negative, magnitude, whole, fraction };
        if whole.is_empty() {
            parts.fraction = strip_start(fraction);
            magnitude -= (fraction.len() - parts.fraction.len()) as i64;
        } else if fraction.is_empty() {
            parts.whole = strip_end(whole);
        }
        parts.magnitude = magnitude;
        parts
    }

    fn sign(&self) -> i32 {
        match (self.whole.is_empty() && self.fraction.is_empty(), self.is_negative) {
            (true, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }
}

/// Order of two JSON numbers.
pub fn compare(left: &[u8], right: &[u8]) -> Ordering {
    let (a, b) = (Parts::of(left), Parts::of(right));
    if a.sign() != b.sign() || a.sign() == 0 {
        return a.sign().cmp(&b.sign());
    }
    let digits = |parts: &Parts<'_>| -> (Vec<u8>, i64) { ([parts.whole, parts.fraction].concat(), parts.magnitude) };
    let ((a_digits, a_magnitude), (b_digits, b_magnitude)) = (digits(&a), digits(&b));
    let order = a_magnitude.cmp(&b_magnitude).then_with(|| a_digits.cmp(&b_digits));
    if a.is_negative {
        order.reverse()
    } else {
        order
    }
}
