"""Which graph is paired with which evidence: `pairs.jsonl` of a corpus.

A right pair is evidence of the model, or of the file, that the graph was made from. A wrong pair is evidence of another
model; where both models give the same graph, the pair is marked as such. Each two models meet in some of the ways to
tag, in turn, so that all ways meet all differences.
"""

import itertools
import json
from functools import cache
from pathlib import Path

import fit_corpus
import fit_models
import same_graph

# How a graph is tagged: the file to tag, the evidence, how it is given, and the strategy (None: the best one).
AFTER_TORCH = {
    "dynamo": [
        ("dynamo.onnx", None, "own", None),
        ("dynamo.onnx", "model.pt2", "evidence", None),
        ("dynamo.onnx", "trace.json", "evidence", None),
        ("dynamo.onnx", "tagged_hierarchy.json", "from", None),
        ("dynamo_blind.onnx", "model.pt2", "evidence", "fx_graph"),
        ("dynamo_blind.onnx", "model.pt2", "evidence", "htp"),
        ("dynamo_blind.onnx", "model.pt2", "evidence", "usage_based"),
        ("dynamo_blind.onnx", "trace.json", "evidence", "htp"),
        ("dynamo_blind.onnx", "trace.json", "evidence", "usage_based"),
        ("dynamo_blind.onnx", "trace.json", "evidence", "enhanced_semantic"),
        ("dynamo_blind.onnx", "tagged.onnx", "evidence", "usage_based"),
        ("dynamo_blind.onnx", "tagged_hierarchy.json", "evidence", None),
        ("dynamo_blind.onnx", "tagged.onnx", "from", None),
    ],
    "TorchScript": [
        ("torchscript.onnx", "model.pt2", "evidence", None),
        ("torchscript.onnx", "trace.json", "evidence", "enhanced_semantic"),
        ("torchscript_blind.onnx", "model.pt2", "evidence", "fx_graph"),
        ("torchscript_blind.onnx", "trace.json", "evidence", "htp"),
        ("torchscript_blind.onnx", "model.pt2", "evidence", "usage_based"),
    ],
    "initializers renamed": [
        ("dynamo_anonymous.onnx", "model.pt2", "evidence", "fx_graph"),
        ("dynamo_anonymous.onnx", "trace.json", "evidence", "htp"),
        ("dynamo_anonymous.onnx", "model.pt2", "evidence", "usage_based"),
    ],
    "other input sizes": [
        ("dynamo_batch.onnx", "model.pt2", "evidence", None),
        ("dynamo_batch.onnx", "trace.json", "evidence", "htp"),
        ("dynamo_batch.onnx", "tagged.onnx", "from", None),
    ],
    "dynamic sizes": [
        ("dynamo_dynamic.onnx", "model.pt2", "evidence", "fx_graph"),
        ("dynamo_dynamic.onnx", "trace.json", "evidence", "htp"),
        ("dynamo_dynamic.onnx", "model.pt2", "evidence", "usage_based"),
    ],
    "own export": [
        ("native.onnx", "native_hierarchy.json", "from", None),
        ("native.onnx", "model.pt2", "evidence", None),
        ("inlined.onnx", "native.onnx", "from", None),
        ("inlined.onnx", "native_hierarchy.json", "from", None),
    ],
}


def after_tools():
    for tool in fit_corpus.TOOLS:
        yield tool, (f"tool/{tool}.onnx", "tagged.onnx", "from", None)
        yield tool, (f"tool/{tool}.onnx", "tagged_hierarchy.json", "from", None)
        yield tool, (f"native_tool/{tool}.onnx", "native.onnx", "from", None)
        yield tool, (f"native_tool/{tool}.onnx", "native_hierarchy.json", "from", None)
        yield tool, (f"tool/{tool}.onnx", "model.pt2", "evidence", None)
        yield tool, (f"tool/{tool}.onnx", "trace.json", "evidence", "htp")


# The ways in which evidence of another model meets a graph.
MIXED = [
    ("dynamo_blind.onnx", "model.pt2", "evidence", "fx_graph"),
    ("tool/onnxruntime all.onnx", "tagged.onnx", "from", None),
    ("dynamo_blind.onnx", "trace.json", "evidence", "htp"),
    ("dynamo_blind.onnx", "tagged.onnx", "from", None),
    ("dynamo.onnx", "model.pt2", "evidence", None),
    ("dynamo_blind.onnx", "tagged_hierarchy.json", "from", None),
    ("dynamo_blind.onnx", "model.pt2", "evidence", "usage_based"),
    ("native_tool/quantize_dynamic.onnx", "native.onnx", "from", None),
    ("torchscript.onnx", "trace.json", "evidence", None),
    ("dynamo_blind.onnx", "trace.json", "evidence", "enhanced_semantic"),
    ("native_tool/onnxslim.onnx", "native_hierarchy.json", "from", None),
    ("torchscript_blind.onnx", "model.pt2", "evidence", "htp"),
    ("dynamo.onnx", "tagged.onnx", "from", None),
    ("dynamo_anonymous.onnx", "model.pt2", "evidence", "fx_graph"),
    ("tool/onnxruntime all.onnx", "model.pt2", "evidence", None),
    ("dynamo_blind.onnx", "tagged.onnx", "evidence", "usage_based"),
    ("dynamo.onnx", "trace.json", "evidence", None),
    ("native.onnx", "tagged.onnx", "from", None),
    ("torchscript_blind.onnx", "trace.json", "evidence", "usage_based"),
]
WAYS_OF_NEAR_MISSES = 7

# A module that was cut out, and the whole that it comes from: the graph's side first.
PART_BY_WHOLE = [
    ("part_bare.onnx", "tagged.onnx", "from", None),
    ("part_bare.onnx", "tagged_hierarchy.json", "from", None),
    ("part_bare.onnx", "model.pt2", "evidence", None),
    ("part_bare.onnx", "trace.json", "evidence", "htp"),
    ("part_bare.onnx", "model.pt2", "evidence", "usage_based"),
    ("part_bare.onnx", "trace.json", "evidence", "enhanced_semantic"),
]
WHOLE_BY_PART = [
    ("dynamo_blind.onnx", "part.onnx", "from", None),
    ("dynamo_blind.onnx", "part_hierarchy.json", "from", None),
    ("tool/onnxruntime all.onnx", "part.onnx", "from", None),
]

# Ways of evidence whose weights have other contents: names or structure have to tell.
OTHER_WEIGHTS = [way for way in MIXED if "anonymous" not in way[0] and "native.onnx" not in way[0]]

KINDS = {"width": "other width", "depth": "other depth", "head": "other head", "part": "part for whole"}
KINDS |= {"operators": "other operators"}


def pairs(corpus: Path):
    for model in fit_models.MODELS.values():
        if model.differs is None:
            yield from right_pairs(corpus, model.name)
            for way in PART_BY_WHOLE + WHOLE_BY_PART:
                yield from pair(corpus, model.name, model.name, way, False, "part for whole")
        elif model.differs == "weights":
            for way in OTHER_WEIGHTS:
                yield from pair(corpus, model.name, model.base, way, True, "other weights")
    turn = itertools.count()
    for graph, evidence in itertools.permutations(fit_models.MODELS.values(), 2):
        kind = how_they_differ(graph, evidence)
        if kind is None:
            continue
        number = 1 if kind == "other architecture" else WAYS_OF_NEAR_MISSES
        for _ in range(number):
            way = MIXED[next(turn) % len(MIXED)]
            yield from pair(corpus, graph.name, evidence.name, way, False, kind)


def how_they_differ(one, other):
    """The kind of a wrong pair; None for models that are not paired."""
    if one.base != other.base:
        return "other architecture" if one.differs is None and other.differs is None else None
    if "weights" in (one.differs, other.differs):
        return None
    if one.differs is None or other.differs is None:
        differs = one.differs or other.differs
    elif one.differs == other.differs:
        # Two heads, two depths: each is as far from the other as from the base.
        differs = one.differs
    else:
        return None
    return KINDS.get(differs, differs)


def right_pairs(corpus, name):
    for kind, ways in AFTER_TORCH.items():
        for way in ways:
            yield from pair(corpus, name, name, way, True, kind)
    for tool, way in after_tools():
        yield from pair(corpus, name, name, way, True, tool)


def pair(corpus, graph_of, evidence_of, way, right, kind):
    """One line of the index, if both files could be made."""
    graph, evidence, mode, strategy = way
    models = corpus / "models"
    tagged, told = models / graph_of / graph, evidence and models / evidence_of / evidence
    if not tagged.exists() or (told and not told.exists()):
        return
    known_by = f"{evidence_of}/{evidence}" if evidence else "itself"
    line = {"id": f"{graph_of}/{graph} by {known_by} {mode} {strategy or ''}".strip()}
    line |= {"graph": str(tagged), "evidence": told and str(told), "mode": mode, "strategy": strategy}
    line |= {"right": right, "kind": kind}
    if not right and graph_of != evidence_of:
        line["same_graph"] = same(models / graph_of, models / evidence_of, graph)
    yield line


def same(one: Path, other: Path, graph: str) -> bool:
    """Whether two models, by their folders, give the same graph in this way; where one gives none, in torch's way."""
    way = graph if (other / graph).exists() else "dynamo_blind.onnx"
    return (other / way).exists() and digest(one / way) == digest(other / way)


@cache
def digest(file: Path) -> str:
    return same_graph.digest(file)


def write(corpus: Path):
    lines = list(pairs(corpus))
    (corpus / "pairs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    print(f"{sum(line['right'] for line in lines)} right and {sum(not line['right'] for line in lines)} wrong pairs")
