//! Colors, where they are wanted.

/// Wraps text in terminal codes, or leaves it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    is_colored: bool,
}

impl Style {
    pub fn new(is_colored: bool) -> Self {
        Style { is_colored }
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.is_colored && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub fn red(self, text: &str) -> String {
        self.wrap("1;31", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.wrap("36", text)
    }
}
