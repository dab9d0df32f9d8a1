//! How paths and classes of modules are printed.

use std::borrow::Cow;

use modelexport_io::onnx::names::for_screen;

/// The path of a module; `(root)` for the root.
pub fn path_text(path: &str) -> Cow<'_, str> {
    if path.is_empty() { Cow::Borrowed("(root)") } else { for_screen(path) }
}

/// The name of a class without its package, escaped.
pub fn class_text(class: &str) -> Cow<'_, str> {
    for_screen(class_name(class))
}

/// The name of a class without its package: `BertLayer`.
pub fn class_name(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or_default()
}
