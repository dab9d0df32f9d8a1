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
    arange,
    arithmetic,
    assertions,
    axes,
    bessel,
    binary_math,
    bitwise,
    cast,
    comparison,
    complex,
    division,
    error_function,
    expand,
    exponential,
    extremes,
    eye,
    fill,
    float_checks,
    gamma,
    index,
    index_put,
    join,
    linear,
    logical,
    masked,
    meshgrid,
    one_hot,
    power,
    repeat_interleave,
    reshape,
    roll,
    rounding,
    scatter,
    selection,
    shift,
    sinc,
    slice,
    spaced,
    split,
    symbolic,
    ternary,
    triangular,
    unary,
    window,
    windows,
}
