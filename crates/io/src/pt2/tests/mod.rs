//! Archives made for one purpose each: good ones to see what is read, bad ones to see what is refused.

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
