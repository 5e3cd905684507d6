"""An answer does not depend on what was asked before: not what it says, and not how it says it."""

from hypothesis import given, settings
from hypothesis import strategies as st
from loopsmock.mockserver import create_app
from loopsmock.mockserver.job import Job
from loopsmock.mockserver.near import Near
from loopsmock.mockserver.render import View, pieces, whole
from loopsmock.mockserver.window import Window

from ..support import NOW_MS, PATH

NOW_S = NOW_MS // 1000
APP = create_app(clock=lambda: NOW_MS)
PLAN = APP.state.routing.served[PATH]["POST"][1]

windows = st.builds(
    lambda back, step, count: Window(NOW_S - back, step, min(count, back // step + 1)),
    st.one_of(st.integers(0, 4_000), st.integers(0, 7 * 86_400)),
    st.sampled_from([1, 7, 15, 30, 60, 600, 3600]),
    st.integers(1, 300),
)


def view(window: Window, deployment_id: str = "healthy", divisor: int = 1) -> View:
    deployment = APP.state.world.deployments[deployment_id]
    job = JOBS.setdefault(deployment_id, Job(0, deployment, deployment.scenario.created_s(NOW_S)))
    return View(job, window, window, None, divisor)


JOBS: dict[str, Job] = {}


@settings(max_examples=60)
@given(st.lists(st.tuples(windows, st.sampled_from(["healthy", "single"]), st.sampled_from([1, 60])), max_size=6))
def test_the_same_bytes_whole_or_in_pieces_and_whatever_was_asked_before(asked: list[tuple[Window, str, int]]) -> None:
    near = Near(deployments=2)
    for window, deployment_id, divisor in asked:
        shown = view(window, deployment_id, divisor)
        alone = b"".join(pieces(PLAN, shown))
        assert bytes(whole(PLAN, shown)) == alone
        assert bytes(whole(PLAN, shown, near)) == alone


def test_a_window_that_moves_by_seconds() -> None:
    near = Near()
    for second in range(0, 1900, 7):
        shown = view(Window(NOW_S - 9_000 + second, 30, 121))
        assert bytes(whole(PLAN, shown, near)) == b"".join(pieces(PLAN, shown))


def test_a_window_over_midnight_after_one_within_a_day() -> None:
    midnight = NOW_S // 86_400 * 86_400
    for start in (midnight - 7_200, midnight - 1_800, midnight + 60, midnight - 1_800):
        shown = view(Window(start, 30, 121))
        assert bytes(whole(PLAN, shown)) == b"".join(pieces(PLAN, shown))
