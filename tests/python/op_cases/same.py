from op_cases import floats, fn, ints, op

for target in (
    "alias",
    "alias_copy",
    "clone",
    "contiguous",
    "detach",
    "detach_copy",
    "lift",
    "lift_fresh_copy",
    "positive",
):
    op(f"aten.{target}.default", floats(2, 3))
op("aten.clone.default", ints(4))
fn(
    "aten.contiguous.default",
    lambda x: x.transpose(0, 1).contiguous() + 1,
    floats(2, 3),
    dynamic={0: {0: "n"}},
    alternative=[floats(4, 3)],
)
