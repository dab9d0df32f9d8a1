"""Export PyTorch models to ONNX and keep, on every node, which `nn.Module` instance it came from.

torch is imported by the functions that need it and not before, so that the command line and the tools for files work
without it and start at once. Nothing of the standard library is imported here either: see `__main__.py`.
"""

from modelexport._native import __version__

# Where each public name is defined; `import modelexport` alone loads none of these modules.
_HOMES: dict[str, str] = {
    "EvidenceMismatch": "modelexport.errors",
    "ExportError": "modelexport.errors",
    "ExportResult": "modelexport.result",
    "HierarchyExporter": "modelexport.hierarchy_exporter",
    "HierarchyMetadata": "modelexport.tracing",
    "InternalError": "modelexport.errors",
    "ModelExportError": "modelexport.errors",
    "SemanticMapper": "modelexport.semantic_mapper",
    "TracingHierarchyBuilder": "modelexport.tracing",
    "UnsupportedOperator": "modelexport.errors",
    "UnsupportedOperators": "modelexport.errors",
    "analyze": "modelexport.tools",
    "compare": "modelexport.tools",
    "decompose": "modelexport.decomposing",
    "dynamic_recurrence": "modelexport.capture.recurrent",
    "export": "modelexport.exporting",
    "export_to_onnx": "modelexport.standard_export",
    "extract": "modelexport.tools",
    "functions": "modelexport.tools",
    "meta_model": "modelexport.models_on_meta",
    "operators": "modelexport.tools",
    "parameters_on_meta": "modelexport.models_on_meta",
    "strategies": "modelexport.tools",
    "strip": "modelexport.tools",
    "tag": "modelexport.tools",
    "tree": "modelexport.tools",
    "validate": "modelexport.tools",
    "weights": "modelexport.tools",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
