#![no_main]

modelexport_fuzz::libfuzzer!(safetensors_cover_the_file);
