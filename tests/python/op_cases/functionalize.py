"""In-place operators and writes through views, written out and at random."""

import random

import torch

from op_cases import bools, floats, fn, ints


def case(target, *tensors, **settings):
    """The function below it writes to its arguments' copies."""

    def add(call):
        fn(target, lambda *given: call(*(tensor.clone() for tensor in given)), *tensors, **settings)
        return call

    return add


# ---- one write, seen from elsewhere


@case("aten.relu_.default", floats(3, 4))
def base_after_view(x):
    x[:, 1:3].relu_()
    return x


@case("aten.mul_.Tensor", floats(3, 4))
def view_after_base(x):
    row, flat, turned = x[1], x.view(-1), x.t()
    x.mul_(2)
    return row, flat, turned


@case("aten.add_.Tensor", floats(3, 4))
def view_after_other_view(x):
    left, right, bottom = x[:, :2], x[:, 2:], x[1:]
    left.add_(1)
    return right * 1, bottom * 1, left


@case("aten.neg_.default", floats(2, 3, 4, 4))
def through_many_views(x):
    x.transpose(1, 2)[:, 1].permute(0, 2, 1)[..., 1:].diagonal(dim1=1, dim2=2).neg_()
    return x


@case("aten.copy_.default", floats(3, 4), floats(4), ints(3, 2))
def copies(x, row, numbers):
    x[1] = row
    x[:, ::2] = numbers
    x[2, 1] = 7
    return x


@case("aten.fill_.Scalar", floats(4, 5))
def fills(x):
    x[1:3].fill_(2)
    x[:, -1].fill_(-1)
    x[0].zero_()
    return x


@case("aten.add_.Tensor", floats(6, 4))
def pieces(x):
    first, second, third = x.split([1, 2, 3])
    second.add_(1)
    third += second[0]
    halves = x.chunk(2, dim=1)
    halves[1].mul_(3)
    for row in x.unbind(0)[::2]:
        row.neg_()
    return x, first, second, third, halves[0]


@case("aten.add_.Tensor", floats(3, 4), floats(3, 4))
def overlapping_writes(x, y):
    x[0:2].add_(1)
    x[1:3].mul_(y[1:3])
    x[:, 1:2].sub_(2)
    middle = x[1]
    x[0:2].neg_()
    return x, middle


@case("aten.relu_.default", floats(3, 4))
def a_clone_is_apart(x):
    before, same = x.clone(), x.detach()
    x.relu_()
    return before, same, x


@case("aten.mul_.Tensor", floats(3, 4))
def reshape_of_a_transposed_tensor_copies(x):
    copied, shown = x.t().reshape(12), x.reshape(12)
    x.mul_(2)
    return copied, shown


@case("aten.mul_.Tensor", floats(3, 4))
def contiguous_may_be_the_tensor_itself(x):
    same, copied = x.contiguous(), x.t().contiguous()
    same.mul_(2)
    copied.add_(1)
    return x, same, copied


@case("aten.relu_.default", floats(1, 3))
def a_row_of_an_expanded_tensor(x):
    wide = x.expand(4, 3)
    wide[2].relu_()
    return wide, x


@case("aten.add_.Tensor", floats(8))
def windows_that_do_not_overlap(x):
    x.unfold(0, 3, 3)[1].add_(10)
    return x


@case("aten.add_.Tensor", floats(3, 4))
def transposed_in_place(x):
    x.t_()
    x[1:].add_(1)
    x.unsqueeze_(0)
    x.squeeze_(0)
    return x


@case("aten.resize_.default", floats(3, 4))
def resized_in_place(x):
    x = x.clone()
    x.resize_(4, 3)
    x[1].add_(1)
    x.resize_(2, 2)
    return x + 1


@case("aten.resize_as_.default", floats(3, 4), floats(2, 6))
def resized_like_another(x, y):
    x = x.clone()
    x.resize_as_(y)
    return x * y


@case("aten.fill_diagonal_.default", floats(4, 4))
def diagonal(x):
    x.fill_diagonal_(9)
    return x


@case("aten.add_.Tensor", floats(5), bools(5))
def whole_tensor_operators(x, mask):
    x.add_(1, alpha=2)
    x.clamp_(-1, 1)
    x.masked_fill_(mask, 3)
    return x


@case("aten.index_put_.default", floats(5, 2), ints(2, low=0, high=5), floats(2))
def indices_of_a_view(x, index, values):
    x[:, 1].index_put_((index,), values)
    x[1:][torch.tensor([0, 2])] = 5
    return x


@case("aten.add_.Tensor", floats(3, dtype=torch.float16), floats(3))
def keeps_its_type(x, y):
    x.add_(y)
    return x


@case("aten.view_as_real.default", floats(3, 2))
def through_complex(x):
    z = torch.view_as_complex(x)
    torch.view_as_real(z)[0].mul_(2)
    return x, torch.view_as_real(z)


@case("aten.dropout_.default", floats(3, 4))
def dropout_without_training(x):
    row = x[0]
    torch.dropout_(x, 0.5, False)
    return x.mul_(2), row


@case("aten.copy_.default", floats(5, 3), dynamic={0: {0: "n"}}, alternative=[floats(8, 3)])
def dynamic_sizes(x):
    x[1:] = x[:-1].clone()
    x[0] = 7
    x.view(-1)[::2].neg_()
    x.t()[1].mul_(2)
    x[:2].add_(1)
    return x


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.arange(4.0))

    def forward(self, x):
        self.seen.add_(1)
        self.seen[1:3] = x[1:3]
        return self.seen * x


def with_buffer(x, counter=Counter()):
    counter.seen.copy_(torch.arange(4.0))
    return counter(x)


fn("aten.add_.Tensor", with_buffer, floats(4))


# ---- many writes at random


def views(x, choose):
    """One view of `x`, of a kind that its sizes allow."""
    rank = x.dim()
    axis = choose.randrange(rank) if rank else 0
    size = x.shape[axis] if rank else 1
    kinds = ["unsqueeze", "view", "alias"]
    if rank:
        kinds += ["slice", "slice", "step", "select", "chunk", "narrow", "unfold", "reshape"]
    if rank > 1:
        kinds += ["transpose", "permute", "flatten"]
        if x.shape[0] > 1 and x.shape[1] > 1:
            kinds += ["diagonal"]
    if 1 in x.shape:
        kinds += ["squeeze", "expand"]
    kind = choose.choice(kinds)
    if kind == "slice":
        start = choose.randrange(size)
        return (
            x.narrow(axis, start, 1 + choose.randrange(size - start))
            if choose.random() < 0.3
            else x.movedim(axis, 0)[start : start + 1 + choose.randrange(size - start)].movedim(0, axis)
        )
    if kind == "step":
        return x.movedim(axis, 0)[choose.randrange(min(2, size)) :: 2].movedim(0, axis)
    if kind == "select":
        return x.select(axis, choose.randrange(-size, size))
    if kind == "chunk":
        return choose.choice(x.chunk(min(2, size), axis))
    if kind == "narrow":
        return x.narrow(axis, 0, size)
    if kind == "unfold":
        width = 1 + choose.randrange(size)
        return x.unfold(axis, width, width)
    if kind == "transpose":
        return x.transpose(axis, choose.randrange(rank))
    if kind == "permute":
        return x.permute(choose.sample(range(rank), rank))
    if kind in ("flatten", "reshape"):
        return x.flatten(0, 1) if kind == "flatten" else x.reshape(-1)
    if kind == "diagonal":
        return x.diagonal(choose.randrange(-1, 2))
    if kind == "squeeze":
        return x.squeeze()
    if kind == "expand":
        return x.expand([3 if n == 1 else n for n in x.shape])
    if kind == "unsqueeze":
        return x.unsqueeze(choose.randrange(rank + 1))
    if kind == "view":
        return x.view(x.shape)
    return x.detach()


def shares_memory_with_itself(x):
    return any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True))


def write(x, others, choose):
    kind = choose.choice(["add", "mul", "relu", "neg", "fill", "zero", "copy", "copy", "sub"])
    if kind == "copy":
        for other in choose.sample(others, len(others)):
            if other.shape == x.shape:
                return x.copy_(other.clone())
        return x.copy_(others[0].reshape(-1)[0].clone())
    if kind == "add":
        return x.add_(1)
    if kind == "mul":
        return x.mul_(-2)
    if kind == "sub":
        return x.sub_(x.clone(), alpha=3)
    if kind == "fill":
        return x.fill_(choose.randrange(5))
    return {"relu": x.relu_, "neg": x.neg_, "zero": x.zero_}[kind]()


def random_program(seed, *given):
    choose = random.Random(seed)
    tensors = [tensor.clone() for tensor in given]
    results = []
    for _ in range(choose.randrange(6, 16)):
        x = choose.choice(tensors)
        if choose.random() < 0.55 and len(tensors) < 12:
            tensors.append(views(x, choose))
        elif not shares_memory_with_itself(x):
            write(x, tensors, choose)
        if choose.random() < 0.15:
            results.append(choose.choice(tensors).clone())
    return tuple(tensor * 1 for tensor in tensors + results)


for seed in range(40):
    fn(
        "aten.clone.default",
        lambda *given, seed=seed: random_program(seed, *given),
        floats(4, 6),
        floats(2, 3, 4),
        opsets=(18,),
    )


# ---- the same with a size that is not known: what is done depends on which axes are dynamic, never on their sizes


def dynamic_view(x, is_dynamic, choose):
    """A view of `x`, and which of its axes are dynamic."""
    rank = len(is_dynamic)
    axis = choose.randrange(rank) if rank else 0
    kinds = ["unsqueeze", "alias"] + ["slice", "slice", "select", "transpose", "flat"] * (rank > 0)
    kind = choose.choice(kinds)
    if kind == "slice":
        parts = [slice(1, None), slice(0, 2), slice(None, None, 2)]
        if is_dynamic[axis]:
            parts += [slice(-2, None), slice(None, -1)]
        part = choose.choice(parts)
        keeps = is_dynamic[axis] and part not in (slice(0, 2), slice(-2, None))
        return x[(slice(None),) * axis + (part,)], [*is_dynamic[:axis], keeps, *is_dynamic[axis + 1 :]]
    if kind == "select":
        return x.select(axis, choose.choice([0, -1])), is_dynamic[:axis] + is_dynamic[axis + 1 :]
    if kind == "transpose":
        other = choose.randrange(rank)
        turned = list(is_dynamic)
        turned[axis], turned[other] = turned[other], turned[axis]
        return x.transpose(axis, other), turned
    if kind == "flat":
        return x.reshape(-1), [any(is_dynamic)]
    if kind == "unsqueeze":
        return x.unsqueeze(axis), [*is_dynamic[:axis], False, *is_dynamic[axis:]]
    return x.detach(), is_dynamic


def dynamic_program(seed, *given):
    choose = random.Random(seed)
    tensors = [(tensor.clone(), [True] + [False] * (tensor.dim() - 1)) for tensor in given]
    for _ in range(choose.randrange(6, 14)):
        x, is_dynamic = choose.choice(tensors)
        if choose.random() < 0.55 and len(tensors) < 10:
            tensors.append(dynamic_view(x, is_dynamic, choose))
        elif choose.random() < 0.2:
            x.copy_(choose.choice(tensors)[0].reshape(-1)[0].clone())
        else:
            kind = choose.choice(
                [
                    lambda x: x.add_(1),
                    lambda x: x.mul_(-2),
                    torch.relu_,
                    lambda x: x.fill_(3),
                    lambda x: x.zero_(),
                    torch.neg_,
                ]
            )
            kind(x)
    return tuple(tensor * 1 for tensor, _ in tensors)


for seed in range(20):
    fn(
        "aten.clone.default",
        lambda *given, seed=seed: dynamic_program(seed, *given),
        floats(12, 9),
        opsets=(18,),
        dynamic={0: {0: "n"}},
        alternative=[floats(17, 9)],
    )
