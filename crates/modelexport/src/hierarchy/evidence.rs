//! The kinds of evidence that placed nodes in modules.

/// One kind of evidence, the stronger first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceKind {
    /// The captured program itself.
    Program,
    /// `modelexport.module` on the node.
    Modelexport,
    /// `pkg.torch.onnx.name_scopes` and `class_hierarchy` on the node.
    TorchScopes,
    /// `namespace` on the node.
    Namespace,
    /// The sidecar file's entry for the node's name.
    Sidecar,
    /// Only a tag: `modelexport.tag`, our JSON in `doc_string`, or `winml.hierarchy.tag`.
    Tag,
    /// The node lies in a subgraph of a node whose module is known.
    Holder,
}

impl EvidenceKind {
    /// All kinds.
    pub const ALL: [EvidenceKind; 7] = [
        EvidenceKind::Program,
        EvidenceKind::Modelexport,
        EvidenceKind::TorchScopes,
        EvidenceKind::Namespace,
        EvidenceKind::Sidecar,
        EvidenceKind::Tag,
        EvidenceKind::Holder,
    ];

    /// Short, for output that programs read.
    pub fn name(self) -> &'static str {
        match self {
            EvidenceKind::Program => "program",
            EvidenceKind::Modelexport => "modelexport",
            EvidenceKind::TorchScopes => "torch-scopes",
            EvidenceKind::Namespace => "namespace",
            EvidenceKind::Sidecar => "sidecar",
            EvidenceKind::Tag => "tag",
            EvidenceKind::Holder => "holder",
        }
    }

    /// In words, for people.
    pub fn description(self) -> &'static str {
        match self {
            EvidenceKind::Program => "the captured program",
            EvidenceKind::Modelexport => "modelexport's metadata",
            EvidenceKind::TorchScopes => "torch's module scopes",
            EvidenceKind::Namespace => "the namespace entry",
            EvidenceKind::Sidecar => "the sidecar file",
            EvidenceKind::Tag => "tags without module paths",
            EvidenceKind::Holder => "the node around a subgraph",
        }
    }
}

/// How many nodes each kind of evidence placed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    counts: [u64; EvidenceKind::ALL.len()],
}

impl Evidence {
    pub(crate) fn add(&mut self, kind: EvidenceKind, nodes: u64) {
        if let Some(count) = self.counts.get_mut(kind as usize) {
            *count += nodes;
        }
    }

    /// The kinds that occurred, the stronger first.
    pub fn iter(&self) -> impl Iterator<Item = (EvidenceKind, u64)> + '_ {
        EvidenceKind::ALL.into_iter().zip(self.counts).filter(|(_, count)| *count > 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_at_their_own_index() {
        for (i, kind) in EvidenceKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
        }
    }
}
