#![no_main]

modelexport_fuzz::libfuzzer!(program_json_exports_or_is_refused);
