#![no_main]

modelexport_fuzz::libfuzzer!(onnx_encode_reads_back);
