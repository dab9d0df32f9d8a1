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
    activation,
    adaptive_pool,
    addmm,
    attention,
    avg_pool,
    assertions,
    axes,
    batch_norm,
    binary,
    complex,
    conv,
    distance,
    dropout,
    einsum,
    embedding,
    expand,
    exponential_unit,
    fft,
    gelu,
    group_norm,
    grouped_mm,
    fill,
    index,
    index_put,
    item,
    join,
    kron,
    layer_norm,
    linear,
    masked,
    matmul,
    max_pool,
    max_unpool,
    pad,
    repeat_interleave,
    reshape,
    rms_norm,
    roll,
    same,
    scatter,
    slice,
    softmax,
    split,
    symbolic,
    unary,
    weight_norm,
    view_scatter,
    window,
}
