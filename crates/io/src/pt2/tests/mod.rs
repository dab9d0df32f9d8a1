//! Archives made for one purpose each: good ones to see what is read, bad ones to see what is refused.

mod container;
mod fixtures;
mod program;
mod sample;
mod weights;
mod zip;
