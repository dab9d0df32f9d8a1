//! The sidecar `<stem>_hierarchy.json`.
