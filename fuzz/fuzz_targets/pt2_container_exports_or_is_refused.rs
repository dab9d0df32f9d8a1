#![no_main]

modelexport_fuzz::libfuzzer!(pt2_container_exports_or_is_refused);
