"""Runs a test that asks for `fixture` once for each fixture of the repository, and splits a run into parts."""

import support


def pytest_addoption(parser):
    parser.addoption("--part", default="1/1", metavar="K/N", help="run only the Kth of N parts of the selected tests")
    parser.addoption("--op-db", action="store_true", help="run all entries of PyTorch's operator database")


def pytest_collection_modifyitems(config, items):
    part, parts = map(int, config.getoption("part").split("/"))
    left_out = [item for i, item in enumerate(items) if i % parts != part - 1]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for i, item in enumerate(items) if i % parts == part - 1]


def pytest_generate_tests(metafunc):
    if "fixture" in metafunc.fixturenames:
        fixtures = support.all_fixtures()
        metafunc.parametrize("fixture", fixtures, ids=[fixture.name for fixture in fixtures])
