//! Numbers that people read.

/// With separators: `1,234,567`.
pub fn exact(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// In three digits: `999`, `1.23K`, `110M`.
pub fn short(number: u64) -> String {
    const UNITS: [&str; 6] = ["K", "M", "B", "T", "P", "E"];
    if number < 1000 {
        return number.to_string();
    }
    let mut value = number as f64;
    let mut text = String::new();
    for unit in UNITS {
        value /= 1000.0;
        // The limits are where rounding to three digits reaches the next place.
        let digits = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        text = format!("{value:.digits$}{unit}");
        if value < 999.5 {
            break;
        }
    }
    text
}

/// In three digits with the unit: `999B`, `1.23KB`, `4.42GB`.
pub fn bytes(number: u64) -> String {
    // A billion bytes are not called so.
    format!("{}B", short(number).replace('B', "G"))
}

/// `1 node`, `2 nodes`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", exact(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_are_grouped() {
        assert_eq!([0, 12, 999, 1000, 1_234_567].map(exact), ["0", "12", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn short_numbers_have_three_digits() {
        assert_eq!(
            [0, 999, 1000, 1234, 9_994, 9_995, 99_949, 99_950, 999_499, 999_500, 109_482_240].map(short),
            ["0", "999", "1.00K", "1.23K", "9.99K", "10.0K", "99.9K", "100K", "999K", "1.00M", "109M"]
        );
        assert_eq!(short(u64::MAX), "18.4E");
    }

    #[test]
    fn bytes_have_units_of_their_own() {
        assert_eq!([0, 999, 4_416_872_448, 12_000].map(bytes), ["0B", "999B", "4.42GB", "12.0KB"]);
    }

    #[test]
    fn nouns_agree() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "node")), ["0 nodes", "1 node", "2 nodes"]);
    }
}
