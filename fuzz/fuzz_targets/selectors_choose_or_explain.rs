#![no_main]

modelexport_fuzz::libfuzzer!(selectors_choose_or_explain);
