"""What `import modelexport` offers; the modules behind it are loaded when a name is first asked for."""

from modelexport.capture.recurrent import dynamic_recurrence as dynamic_recurrence
from modelexport.decomposing import decompose as decompose
from modelexport.errors import (
    EvidenceMismatch as EvidenceMismatch,
    ExportError as ExportError,
    InternalError as InternalError,
    ModelExportError as ModelExportError,
    UnsupportedOperator as UnsupportedOperator,
    UnsupportedOperators as UnsupportedOperators,
)
from modelexport.exporting import export as export
from modelexport.hierarchy_exporter import HierarchyExporter as HierarchyExporter
from modelexport.models_on_meta import (
    meta_model as meta_model,
    parameters_on_meta as parameters_on_meta,
)
from modelexport.result import ExportResult as ExportResult
from modelexport.semantic_mapper import SemanticMapper as SemanticMapper
from modelexport.standard_export import export_to_onnx as export_to_onnx
from modelexport.tools import (
    analyze as analyze,
    compare as compare,
    extract as extract,
    functions as functions,
    operators as operators,
    strategies as strategies,
    strip as strip,
    tag as tag,
    tree as tree,
    validate as validate,
    weights as weights,
)
from modelexport.tracing import (
    HierarchyMetadata as HierarchyMetadata,
    TracingHierarchyBuilder as TracingHierarchyBuilder,
)

__version__: str
