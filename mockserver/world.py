"""The fake fleet at the instant of a request: which deployments exist, and what of them an answer may show."""

from collections.abc import Callable, Mapping
from functools import lru_cache

from .job import TICK_S, Job, Moments
from .load import status
from .render import View
from .scenario import Deployment, Scenario
from .window import Limits, Window, resolve

ANY_ID_SCENARIO = "healthy"


class UnknownDeployment(Exception):
    """There is no deployment of that id."""


class World:
    """Deployments of one seed under one clock."""

    def __init__(
        self,
        scenarios: Mapping[str, Scenario],
        deployments: Mapping[str, Deployment],
        *,
        seed: int,
        clock: Callable[[], int],
        limits: Limits,
        any_id: bool = False,
        lag_s: int = 0,
    ) -> None:
        """A world in which `deployments` run.

        Args:
            scenarios: what deployments can play, by name.
            deployments: what runs, by id.
            seed: another seed, other numbers.
            clock: the time in epoch milliseconds.
            limits: how much a request may ask for.
            any_id: whether every other id is a healthy deployment.
            lag_s: seconds from a sample to its being readable.
        """
        self.deployments = deployments
        self.clock = clock
        self.limits = limits
        self._any_id = scenarios[ANY_ID_SCENARIO] if any_id else None
        self._seed = seed
        self._lag_s = lag_s
        self._job = lru_cache(maxsize=256)(lambda deployment, created_s: Job(seed, deployment, created_s))

    def deployment(self, id_: str) -> Deployment:
        """The deployment of an id.

        Raises:
            UnknownDeployment: there is none; the message says which there are and how to add one.
        """
        if id_ in self.deployments:
            return self.deployments[id_]
        if self._any_id is not None:
            return Deployment(id_, self._any_id)
        raise UnknownDeployment(
            f"no deployment {_shortened(id_)!r}; there are {', '.join(self.deployments)}; "
            "serve --deployment ID=SCENARIO adds one, --any-id accepts every id"
        )

    def view(self, deployment: Deployment, members: Mapping[str, int | None]) -> View:
        """What an answer to these request members shows now.

        Raises:
            WindowError: they ask for a range that cannot be served.
        """
        now_ms = self.clock()
        window = resolve(members, now_ms, self.limits)
        now_s = now_ms // 1000
        created_s = deployment.scenario.created_s(now_s)
        traffic = compute = window.between(created_s, now_s)
        settled_until_s = None
        lag_s = max(self._lag_s, deployment.scenario.lag_s)
        if lag_s:
            # A point shows the last native sample at or before it: what counts is whether that one is readable yet.
            settled_until_s = (now_s - lag_s) // TICK_S * TICK_S
            compute = traffic.between(created_s, min(now_s, settled_until_s + TICK_S - 1))
        divisor = members.get("time_divisor_seconds") or 1
        return View(self._job(deployment, created_s), compute, traffic, settled_until_s, divisor)

    def status(self, deployment: Deployment) -> str:
        """How the deployment is listed now: one of the vendor's status names."""
        now_s = self.clock() // 1000
        job = self._job(deployment, deployment.scenario.created_s(now_s))
        return status(Moments(job, Window(now_s, 1, 1)))


def _shortened(id_: str, most: int = 60) -> str:
    return id_ if len(id_) <= most else id_[: most - 1] + "…"
