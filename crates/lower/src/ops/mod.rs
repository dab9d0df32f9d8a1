//! One file for each operator or family of trivial ones. A file has a table `ROWS` and the functions that its rows
//! name; adding an operator is a file here and a line in the list below.

pub(crate) mod custom;
mod support;

macro_rules! families {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// The rows of every file.
        pub(crate) static FAMILIES: &[&[crate::registry::Row]] = &[$($name::ROWS),*];
    };
}

families! {
    assertions,
    arithmetic,
    axes,
    binary_math,
    bitwise,
    cast,
    comparison,
    complex,
    division,
    expand,
    exponential,
    extremes,
    float_checks,
    index,
    index_put,
    join,
    linear,
    logical,
    masked,
    power,
    repeat_interleave,
    reshape,
    roll,
    rounding,
    scatter,
    selection,
    shift,
    slice,
    split,
    symbolic,
    ternary,
    unary,
    window,
}
