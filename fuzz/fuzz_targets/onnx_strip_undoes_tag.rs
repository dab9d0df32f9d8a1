#![no_main]

modelexport_fuzz::libfuzzer!(onnx_strip_undoes_tag);
