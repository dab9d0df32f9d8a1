//! Field numbers of `onnx.proto` by message. Fields that are not listed are kept as unknown fields.

pub(crate) mod model {
    pub(crate) const IR_VERSION: u32 = 1;
    pub(crate) const PRODUCER_NAME: u32 = 2;
    pub(crate) const PRODUCER_VERSION: u32 = 3;
    pub(crate) const DOMAIN: u32 = 4;
    pub(crate) const MODEL_VERSION: u32 = 5;
    pub(crate) const DOC_STRING: u32 = 6;
    pub(crate) const GRAPH: u32 = 7;
    pub(crate) const OPSET_IMPORT: u32 = 8;
    pub(crate) const METADATA_PROPS: u32 = 14;
    pub(crate) const FUNCTIONS: u32 = 25;
}

pub(crate) mod opset_import {
    pub(crate) const DOMAIN: u32 = 1;
    pub(crate) const VERSION: u32 = 2;
}

pub(crate) mod entry {
    pub(crate) const KEY: u32 = 1;
    pub(crate) const VALUE: u32 = 2;
}

pub(crate) mod graph {
    pub(crate) const NODE: u32 = 1;
    pub(crate) const NAME: u32 = 2;
    pub(crate) const INITIALIZER: u32 = 5;
    pub(crate) const DOC_STRING: u32 = 10;
    pub(crate) const INPUT: u32 = 11;
    pub(crate) const OUTPUT: u32 = 12;
    pub(crate) const VALUE_INFO: u32 = 13;
    pub(crate) const SPARSE_INITIALIZER: u32 = 15;
    pub(crate) const METADATA_PROPS: u32 = 16;
}

pub(crate) mod node {
    pub(crate) const INPUT: u32 = 1;
    pub(crate) const OUTPUT: u32 = 2;
    pub(crate) const NAME: u32 = 3;
    pub(crate) const OP_TYPE: u32 = 4;
    pub(crate) const ATTRIBUTE: u32 = 5;
    pub(crate) const DOC_STRING: u32 = 6;
    pub(crate) const DOMAIN: u32 = 7;
    pub(crate) const OVERLOAD: u32 = 8;
    pub(crate) const METADATA_PROPS: u32 = 9;
}

pub(crate) mod attribute {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const F: u32 = 2;
    pub(crate) const I: u32 = 3;
    pub(crate) const S: u32 = 4;
    pub(crate) const T: u32 = 5;
    pub(crate) const G: u32 = 6;
    pub(crate) const FLOATS: u32 = 7;
    pub(crate) const INTS: u32 = 8;
    pub(crate) const STRINGS: u32 = 9;
    pub(crate) const TENSORS: u32 = 10;
    pub(crate) const GRAPHS: u32 = 11;
    pub(crate) const DOC_STRING: u32 = 13;
    pub(crate) const TP: u32 = 14;
    pub(crate) const TYPE_PROTOS: u32 = 15;
    pub(crate) const TYPE: u32 = 20;
    pub(crate) const REF_ATTR_NAME: u32 = 21;
    pub(crate) const SPARSE_TENSOR: u32 = 22;
    pub(crate) const SPARSE_TENSORS: u32 = 23;
}

pub(crate) mod value_info {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const TYPE: u32 = 2;
    pub(crate) const DOC_STRING: u32 = 3;
    pub(crate) const METADATA_PROPS: u32 = 4;
}

pub(crate) mod type_proto {
    pub(crate) const TENSOR: u32 = 1;
    pub(crate) const SEQUENCE: u32 = 4;
    pub(crate) const MAP: u32 = 5;
    pub(crate) const DENOTATION: u32 = 6;
    pub(crate) const OPAQUE: u32 = 7;
    pub(crate) const SPARSE_TENSOR: u32 = 8;
    pub(crate) const OPTIONAL: u32 = 9;

    /// Of `Tensor` and `SparseTensor`.
    pub(crate) const ELEM_TYPE: u32 = 1;
    pub(crate) const SHAPE: u32 = 2;

    /// Of `Sequence` and `Optional`.
    pub(crate) const INNER: u32 = 1;

    pub(crate) const MAP_KEY: u32 = 1;
    pub(crate) const MAP_VALUE: u32 = 2;

    pub(crate) const OPAQUE_DOMAIN: u32 = 1;
    pub(crate) const OPAQUE_NAME: u32 = 2;
}

pub(crate) mod shape {
    pub(crate) const DIM: u32 = 1;
}

pub(crate) mod dimension {
    pub(crate) const DIM_VALUE: u32 = 1;
    pub(crate) const DIM_PARAM: u32 = 2;
    pub(crate) const DENOTATION: u32 = 3;
}

pub(crate) mod tensor {
    pub(crate) const DIMS: u32 = 1;
    pub(crate) const DATA_TYPE: u32 = 2;
    pub(crate) const FLOAT_DATA: u32 = 4;
    pub(crate) const INT32_DATA: u32 = 5;
    pub(crate) const STRING_DATA: u32 = 6;
    pub(crate) const INT64_DATA: u32 = 7;
    pub(crate) const NAME: u32 = 8;
    pub(crate) const RAW_DATA: u32 = 9;
    pub(crate) const DOUBLE_DATA: u32 = 10;
    pub(crate) const UINT64_DATA: u32 = 11;
    pub(crate) const DOC_STRING: u32 = 12;
    pub(crate) const EXTERNAL_DATA: u32 = 13;
    pub(crate) const DATA_LOCATION: u32 = 14;
    pub(crate) const METADATA_PROPS: u32 = 16;

    /// The value of `data_location` for data in another file.
    pub(crate) const EXTERNAL: u64 = 1;
}

pub(crate) mod sparse_tensor {
    pub(crate) const VALUES: u32 = 1;
    pub(crate) const INDICES: u32 = 2;
    pub(crate) const DIMS: u32 = 3;
}

pub(crate) mod function {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const INPUT: u32 = 4;
    pub(crate) const OUTPUT: u32 = 5;
    pub(crate) const ATTRIBUTE: u32 = 6;
    pub(crate) const NODE: u32 = 7;
    pub(crate) const DOC_STRING: u32 = 8;
    pub(crate) const OPSET_IMPORT: u32 = 9;
    pub(crate) const DOMAIN: u32 = 10;
    pub(crate) const ATTRIBUTE_PROTO: u32 = 11;
    pub(crate) const VALUE_INFO: u32 = 12;
    pub(crate) const OVERLOAD: u32 = 13;
    pub(crate) const METADATA_PROPS: u32 = 14;
}
