#![no_main]

modelexport_fuzz::libfuzzer!(external_data_stays_in_the_folder);
