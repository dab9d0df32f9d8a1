#![no_main]

modelexport_fuzz::libfuzzer!(random_programs_are_valid);
