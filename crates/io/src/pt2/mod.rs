//! The `.pt2` archive that `torch.export.save` writes.
