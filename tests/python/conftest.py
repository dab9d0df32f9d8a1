"""Runs a test that asks for `fixture` once for each fixture of the repository."""

import support

# These need `modelexport export`.
collect_ignore = ["test_export_fixtures.py", "test_zoo_small.py"]


def pytest_generate_tests(metafunc):
    if "fixture" in metafunc.fixturenames:
        fixtures = support.all_fixtures()
        metafunc.parametrize("fixture", fixtures, ids=[fixture.name for fixture in fixtures])
