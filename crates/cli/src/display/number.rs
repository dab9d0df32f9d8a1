//! Numbers that people read.

pub use modelexport::numbers::{counted, exact};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
