#![no_main]

modelexport_fuzz::libfuzzer!(symbolic_text_reads_back);
