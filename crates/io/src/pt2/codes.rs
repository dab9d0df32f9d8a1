//! The numbers of the schema's enumerations.

use modelexport_graph::DType;
use modelexport_graph::aten::{Layout, MemoryFormat};

use super::error::{Problem, ProgramLocation};

/// `ScalarType`. The gap from 14 to 27 is torch's: quantised types, which are not exported.
pub(super) fn dtype(code: i64, place: impl FnOnce() -> ProgramLocation) -> Result<DType, Problem> {
    Ok(match code {
        1 => DType::U8,
        2 => DType::I8,
        3 => DType::I16,
        4 => DType::I32,
        5 => DType::I64,
        6 => DType::F16,
        7 => DType::F32,
        8 => DType::F64,
        9 => DType::C32,
        10 => DType::C64,
        11 => DType::C128,
        12 => DType::Bool,
        13 => DType::BF16,
        28 => DType::U16,
        29 => DType::F8E4M3FN,
        30 => DType::F8E5M2,
        31 => DType::F8E4M3FNUZ,
        32 => DType::F8E5M2FNUZ,
        33 => DType::F8E8M0FNU,
        34 => DType::U32,
        35 => DType::U64,
        _ => return Err(Problem::UnknownCode { place: place(), what: "element type", code }),
    })
}

pub(super) fn layout(code: i64, place: impl FnOnce() -> ProgramLocation) -> Result<Layout, Problem> {
    Ok(match code {
        0 => Layout::Unknown,
        1 => Layout::SparseCoo,
        2 => Layout::SparseCsr,
        3 => Layout::SparseCsc,
        4 => Layout::SparseBsr,
        5 => Layout::SparseBsc,
        6 => Layout::Mkldnn,
        7 => Layout::Strided,
        _ => return Err(Problem::UnknownCode { place: place(), what: "layout", code }),
    })
}

pub(super) fn memory_format(
    code: i64,
    place: impl FnOnce() -> ProgramLocation,
) -> Result<MemoryFormat, Problem> {
    Ok(match code {
        0 => MemoryFormat::Unknown,
        1 => MemoryFormat::Contiguous,
        2 => MemoryFormat::ChannelsLast,
        3 => MemoryFormat::ChannelsLast3d,
        4 => MemoryFormat::Preserve,
        _ => return Err(Problem::UnknownCode { place: place(), what: "memory format", code }),
    })
}
