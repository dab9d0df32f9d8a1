#![no_main]

modelexport_fuzz::libfuzzer!(documents_read_back);
