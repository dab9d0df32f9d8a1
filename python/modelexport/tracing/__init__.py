"""Hierarchy metadata from one forward pass of a live model."""

from modelexport.tracing.builder import TracingHierarchyBuilder
from modelexport.tracing.metadata import HierarchyMetadata

__all__ = ["HierarchyMetadata", "TracingHierarchyBuilder"]
