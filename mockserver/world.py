"""The fake fleet at the instant of a request: which deployments exist, and what of them an answer may show."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from .facts import STAND_IN, Kept, deployment_facts, deployment_of_run, keep, run_facts, run_id
from .job import TICK_S, Job, Moments
from .load import status
from .render import View
from .scenario import Deployment, Scenario
from .window import Limits, Window, resolve

ANY_ID_SCENARIO = "healthy"


class UnknownId(Exception):
    """There is no deployment or run of that id; the message says which there are."""


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
            UnknownId: there is none; the message also says how to add one.
        """
        if id_ in self.deployments:
            return self.deployments[id_]
        if self._any_id is not None:
            return Deployment(id_, self._any_id)
        raise UnknownId(
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

    def facts(self, parameters: Mapping[str, str], *, stand_in: bool = False) -> dict[str, Any]:
        """What is known now of the deployment or run that path parameters name, or of all deployments.

        Args:
            parameters: path parameters by name.
            stand_in: whether any owner and run name will do.

        Raises:
            UnknownId: there is no such deployment or run.
        """
        now_s = self.clock() // 1000

        def facts(make: Callable[[Deployment, Kept, str, int], dict[str, Any]], one: Deployment) -> dict[str, Any]:
            kept = STAND_IN if stand_in else keep(one.id, self._seed)
            return make(one, kept, self.status(one, now_s), one.scenario.created_s(now_s))

        if "deployment_id" in parameters:
            return {"deployment": facts(deployment_facts, self.deployment(parameters["deployment_id"]))}
        if "run_id" in parameters:
            id_ = deployment_of_run(parameters["run_id"])
            if id_ is None or not (id_ in self.deployments or self._any_id):
                first = next(iter(self.deployments))
                raise UnknownId(
                    f"no run {_shortened(parameters['run_id'])!r}; every deployment has one, for example "
                    f"{run_id(first)} of {first}; the list of deployments names them"
                )
            return {"run": facts(run_facts, self.deployment(id_))}
        return {"deployments": [facts(deployment_facts, one) for one in self.deployments.values()]}

    def status(self, deployment: Deployment, now_s: int) -> str:
        """How the deployment is listed at an instant: one of the vendor's status names."""
        job = self._job(deployment, deployment.scenario.created_s(now_s))
        return status(Moments(job, Window(now_s, 1, 1)))


def _shortened(id_: str, most: int = 60) -> str:
    return id_ if len(id_) <= most else id_[: most - 1] + "…"
