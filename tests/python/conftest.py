"""Runs a test that asks for `fixture` once for each fixture of the repository."""

import support


def pytest_generate_tests(metafunc):
    if "fixture" in metafunc.fixturenames:
        fixtures = support.all_fixtures()
        metafunc.parametrize("fixture", fixtures, ids=[fixture.name for fixture in fixtures])
