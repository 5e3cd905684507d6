"""A run as a person orders it, by flags or by pytest's options: what is allowed, and what it is made of."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from . import plan
from .amounts import bytes_of, per_second_of, seconds_of
from .check import Check
from .checks import CHECKS, chosen
from .exchange import Exchange, Request
from .provider import Report, Run
from .secret import Key, KeyRefused, read_key
from .sender import Bounds, Sender
from .spec import Spec, load

PLANNED = 25
ON_LOOPBACK = 125
"""How many generated requests a server on loopback gets without --fuzz."""
FUZZED = 1000
FUZZ_PACKAGES = ("schemathesis", "hypothesis")
NEEDS_FUZZ = "needs further packages; install them with: pip install 'loopsmock[fuzz]'"


class SettingsRefused(ValueError):
    """The run may not or cannot be made; the text says the remedy."""


@dataclass(frozen=True)
class Settings:
    """One run.

    Args:
        url: the provider's URL; it may have a path prefix.
        deployment_ids: whose metrics to ask for; none finds one, where that is allowed.
        api_key_file: file that holds the key; without it, BASETEN_API_KEY does.
        live: whether the provider is somebody else's.
        fuzz: whether to send a thousand generated requests.
        max_requests: most requests, whatever they are for; None for the default of the kind of run.
        rate: most requests a second, where live.
        strict: whether warnings fail.
        only: ids of checks to run; none means all.
        skip: ids of checks to leave out.
        seed: of everything that is random.
        timeout: longest wait for a whole answer.
        max_body: largest body.
        every: whether to check every running deployment that is found.
    """

    url: str
    deployment_ids: Sequence[str] = ()
    api_key_file: Path | None = None
    live: bool = False
    fuzz: bool = False
    max_requests: int | None = None
    rate: str = "0.5/s"
    strict: bool = False
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    seed: int = 0
    timeout: str = "10s"
    max_body: str = "64MiB"
    every: bool = False

    @property
    def host(self) -> str:
        """The host of the URL as it is looked up."""
        return host_of(self.url)

    @property
    def on_loopback(self) -> bool:
        """Whether the provider is on this machine."""
        return is_loopback(self.host)

    @property
    def generates(self) -> bool:
        """Whether generated requests may be sent."""
        return self.fuzz or (self.on_loopback and not self.live)

    def checked(self, spec: Spec) -> list[Check]:
        """The checks of this run, after it was found to be allowed.

        Raises:
            SettingsRefused: it is not; the text says the remedy.
        """
        _refuse_url(self.url)
        if not self.on_loopback and not self.live:
            raise SettingsRefused(
                f"{self.host} is not on this machine: --live says that you mean it, and sends few requests, slowly."
            )
        if not all(self.deployment_ids):
            raise SettingsRefused("a deployment id is empty: name one by --deployment-id.")
        if self.live and not self.deployment_ids:
            raise SettingsRefused("--live needs --deployment-id: nothing is looked up at somebody else's.")
        if self.live and self.every:
            raise SettingsRefused("--all is for servers on loopback; name the deployments by --deployment-id.")
        if self.fuzz and self.live and _is_vendors(self.host, spec):
            raise SettingsRefused(f"{self.host} is the vendor's: it is never fuzzed. Leave --fuzz out.")
        if self.fuzz and not all(map(find_spec, FUZZ_PACKAGES)):
            raise SettingsRefused(f"--fuzz {NEEDS_FUZZ}")
        try:
            per_second_of(self.rate), seconds_of(self.timeout), bytes_of(self.max_body)
            return chosen(self.only, self.skip)
        except ValueError as error:
            raise SettingsRefused(str(error)) from None

    @property
    def generated(self) -> int:
        """How many generated requests to send: those that are asked for beyond the planned ones, or the default."""
        if not self.generates:
            return 0
        if self.max_requests is not None:
            return max(0, self.max_requests - PLANNED)
        return FUZZED if self.fuzz else ON_LOOPBACK

    def bounds(self) -> Bounds:
        """What the run may do."""
        return Bounds(
            max_requests=self.max_requests or PLANNED,
            timeout_s=seconds_of(self.timeout),
            max_body=bytes_of(self.max_body),
            spacing_s=1 / per_second_of(self.rate) if self.live else 0.0,
            longest_s=None if self.live or self.fuzz or self.every else 60.0,
            longest_wait_s=120.0 if self.live else 10.0,
            live=self.live,
            allowed=frozenset(("POST", plan.path_of(id_)) for id_ in self.deployment_ids) if self.live else frozenset(),
        )

    def key(self, spec: Spec) -> Key:
        """The key that opens the provider.

        Raises:
            KeyRefused: there is none, or it cannot be used.
        """
        key = read_key(self.api_key_file, on_loopback=self.on_loopback)
        words = [json.dumps(spec.document), *CHECKS, *Request.__slots__, "exchanges", "violations"]
        if key.is_in(" ".join(words).encode()):
            raise KeyRefused("the API key is a word of the contract: it could not be kept out of the reports.")
        return key


def host_of(url: str) -> str:
    """The host of a URL as it is looked up: in lower case, in ASCII, without the dot of the root; "" if it has none."""
    try:
        return httpx.URL(url).raw_host.decode("ascii").lower().rstrip(".")
    except (httpx.InvalidURL, ValueError):
        return ""


def is_loopback(name: str) -> bool:
    """Whether a host, as `host_of` gives it, is this machine."""
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _is_vendors(host: str, spec: Spec) -> bool:
    """Whether a host belongs to the domain of a server that the vendor documents."""
    documented = [server["url"] for server in spec.document.get("servers", []) if not server.get("x-ours")]
    domains = {".".join(host_of(url).split(".")[-2:]) for url in documented}
    return any(f".{host}".endswith(f".{domain}") for domain in domains if domain)


def _refuse_url(url: str) -> None:
    """Refuse what is no URL of a provider; a query or a password may hold a key, so the URL is not repeated."""
    example = "write for example http://127.0.0.1:8000"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise SettingsRefused(f"the URL cannot be read; {example}.") from None
    if parts.scheme not in ("http", "https") or not host_of(url) or port == 0 or not url.isprintable() or " " in url:
        raise SettingsRefused(f"the URL must have http or https and a host; {example}.")
    if parts.username is not None or parts.query or parts.fragment:
        raise SettingsRefused(
            f"the URL must have no user, password, query or fragment; {example}, and the key in BASETEN_API_KEY."
        )


def run(
    settings: Settings,
    *,
    spec: Spec | None = None,
    key: Key | None = None,
    on_exchange: Callable[[Exchange], None] = lambda exchange: None,
    on_generated: Callable[[int], None] = lambda sent: None,
    **sender: Any,
) -> Report:
    """Make the run.

    Args:
        settings: the order.
        spec: the contract; the package's own if None.
        key: what opens the provider; read from file or environment if None.
        on_exchange: told of every exchange.
        on_generated: told how many generated requests were sent.
        sender: further arguments of `Sender`, such as `transport`.

    Raises:
        SettingsRefused: it may not or cannot be made.
        KeyRefused: there is no key, or it cannot be used.
    """
    spec = spec or load()
    checks = settings.checked(spec)
    opener = key or settings.key(spec)
    with Sender(settings.url, opener, settings.bounds(), on_exchange=on_exchange, **sender) as sending:
        made = Run(
            spec,
            sending,
            checks,
            settings.deployment_ids,
            every=settings.every,
            seed=settings.seed,
            strict=settings.strict,
            planned=min(PLANNED, settings.max_requests or PLANNED),
        )
        cases = settings.generated
        if cases and not all(map(find_spec, FUZZ_PACKAGES)):
            made.notes.append(f"no generated requests were sent: that {NEEDS_FUZZ}")
        elif cases:
            from .generate import Generator  # heavy, and its packages are not always there

            made.generate = Generator(cases, on_generated)
        return made.report()
