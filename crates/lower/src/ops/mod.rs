//! One file for each operator or family of trivial ones. A file has a table `ROWS` and the functions that its rows
//! name; adding an operator is a file here and a line in the list below.

pub(crate) mod custom;

macro_rules! families {
    ($($name:ident),* $(,)?) => {
        $(mod $name;)*

        /// The rows of every file.
        pub(crate) static FAMILIES: &[&[crate::registry::Row]] = &[$($name::ROWS),*];
    };
}

families! {
    axes,
    binary,
    complex,
    expand,
    fft,
    index,
    index_put,
    join,
    linear,
    masked,
    repeat_interleave,
    reshape,
    roll,
    scatter,
    slice,
    split,
    symbolic,
    unary,
    window,
}
