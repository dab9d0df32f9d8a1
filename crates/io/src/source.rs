//! Sources of weight bytes: files, or memory that a caller owns.
