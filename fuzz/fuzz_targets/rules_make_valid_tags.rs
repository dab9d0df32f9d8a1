#![no_main]

modelexport_fuzz::libfuzzer!(rules_make_valid_tags);
