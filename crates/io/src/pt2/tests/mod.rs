//! Archives for one purpose each: valid ones to test reading, invalid ones to test rejection.

mod bad_json;
mod bad_program;
mod container;
mod fixtures;
mod malformed;
mod parts;
mod program;
mod sample;
mod weights;
mod zip;
