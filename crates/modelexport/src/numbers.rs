//! Formats numbers for people.

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

/// `0 nodes`, `1 node`, `2 nodes`.
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
    fn nouns_agree() {
        assert_eq!([0, 1, 2].map(|n| counted(n, "node")), ["0 nodes", "1 node", "2 nodes"]);
    }
}
