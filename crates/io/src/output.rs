//! Safe output: temporary beside the target, fsync, rename. The one place that writes files.
