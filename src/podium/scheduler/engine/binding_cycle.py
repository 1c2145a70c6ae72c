"""The binding cycle: from a held node to a bound pod.

It runs beside later scheduling cycles, so it is a coroutine: the driver awaits it with an API
handle that is a real client or an in-memory cluster. It only reports how it ended; undoing a
failure is the scheduler's work, in one place for every way to fail.

Source: `bindingCycle` in `pkg/scheduler/schedule_one.go`.
"""

from collections.abc import Awaitable, Callable, Sequence
from types import CoroutineType
from typing import TypeVar

from msgspec import Struct, field

from podium.scheduler.engine.observer import Observer
from podium.scheduler.framework.asking import BindCall, CallFailed, Extenders, NobodyToAsk
from podium.scheduler.framework.cycle import Cycle
from podium.scheduler.framework.faults import WrongAnswer, describe, status_or_none
from podium.scheduler.framework.handle import ApiHandle, ConcurrentApi, ExtenderApi
from podium.scheduler.framework.points import PreBindPlugin, PreFlight
from podium.scheduler.framework.profile import Profile
from podium.scheduler.framework.status import SKIP, Code, Status, error

T = TypeVar("T")

NO_BINDER = "all bind plugins skipped the pod"
NOT_BOUND = error(NO_BINDER)
"""upstream: the one failure that is retried without a word to anybody"""


class Binding(Struct):
    """A pod on its way to a node.

    `expected` is the gate NominatedNodeNameForExpectation: without it nobody asks PreBind plugins
    whether they have work, so all of them run, one by one. `binders` are the extenders that bind
    in place of the bind plugins, in calling order. `timings` are the extension points that were
    run: name, outcome, seconds; without a `clock` they are not taken. `observer` is there if
    somebody wants to hear of the steps.
    """

    cycle: Cycle
    profile: Profile
    node_name: str
    expected: bool = True
    binders: Extenders = ()
    groups: list[list[PreBindPlugin]] = field(default_factory=list)
    cancelled: Status | None = None
    prebound: bool = False
    problems: list[str] = field(default_factory=list)
    clock: Callable[[], float] | None = None
    timings: list[tuple[str, Code, float]] = field(default_factory=list)
    observer: Observer | None = None

    def prepare(self) -> Status | None:
        """Ask each PreBind plugin whether it has work; the first step, without side effects."""
        if not self.expected:
            self.groups = [[plugin] for plugin in self.profile.pre_bind]
            return None
        groups = self._pre_bind_groups()
        if isinstance(groups, Status):
            return groups
        self.groups = groups
        return None

    def cancel(self, cause: str) -> bool:
        """Stop before Bind because a stronger pod takes the node; false if it is too late.

        A pod for which PreBind has no work is bound at once and never in a place to be stopped.
        """
        if self.prebound or (self.expected and not self.groups):
            return False
        if self.cancelled is None:
            self.cancelled = error(cause)
        return True

    async def run(self, api: ApiHandle) -> Status | None:
        """None when the pod is bound, else why not. Call `prepare` before."""
        clock = self.clock
        begun = clock() if clock is not None else 0.0
        failure = await self._pre_bind_all(api) if self.groups else self.cancelled
        if clock is not None:
            begun = self._time("PreBind", clock, begun, failure)
        if failure is not None:
            return failure
        self.prebound = True
        by_extender = False
        if self.binders:
            by_extender, failure = await self._bind_by_extender(api)
            begun = clock() if clock is not None else 0.0
        if not by_extender:
            failure = await self._bind(api)
            if clock is not None:
                begun = self._time("Bind", clock, begun, failure)
        if failure is not None:
            return failure
        if self.observer is not None:
            self.observer.pod_bound(self)
        if self.profile.post_bind:
            await self._post_bind(api)
        if clock is not None:
            self._time("PostBind", clock, begun, None)
        return None

    def _time(
        self, point: str, clock: Callable[[], float], begun: float, failure: Status | None
    ) -> float:
        """Remember how an extension point went; the time, at which the next one begins."""
        now = clock()
        code = Code.SUCCESS if failure is None else failure.code
        # upstream: a pod that nobody binds is an error, and Skip where it is counted
        self.timings.append((point, Code.SKIP if failure is NOT_BOUND else code, now - begun))
        return now

    def _pre_bind_groups(self) -> list[list[PreBindPlugin]] | Status:
        """Plugins with work to do; neighbours that allow it share a group and run together.

        A plugin that does not allow it closes the group before it, even when it has no work.
        """
        groups: list[list[PreBindPlugin]] = []
        together = False
        for plugin in self.profile.pre_bind:
            try:
                flight = plugin.pre_bind_pre_flight(self.cycle, self.node_name)
                if not isinstance(flight, PreFlight):
                    raise WrongAnswer("pre_bind_pre_flight", "a PreFlight", flight)
            except Exception as problem:
                return _fail_point("PreBindPreFlight", plugin.name, describe(problem), plain=True)
            status, parallel = flight.status, flight.parallel
            if status is SKIP:
                together = together and parallel
                continue
            code = status.code if status else Code.SUCCESS
            if code is Code.ERROR and status:
                return _fail_point("PreBindPreFlight", plugin.name, status.message, plain=True)
            if code not in (Code.SUCCESS, Code.SKIP):
                return error(
                    f'PreBindPreFlight {plugin.name} returned "{code.label}", which is unsupported.'
                    " It is supposed to return Success, Skip, or Error status"
                )
            if code is Code.SUCCESS:
                if parallel and together and groups:
                    groups[-1].append(plugin)
                else:
                    groups.append([plugin])
                together = parallel
            elif not parallel:
                together = False
        return groups

    async def _pre_bind_all(self, api: ApiHandle) -> Status | None:
        for group in self.groups:
            if self.cancelled is not None:
                return self.cancelled
            failure = await self._pre_bind(group, api)
            if failure is not None:
                return failure
        return self.cancelled

    async def _pre_bind(self, group: Sequence[PreBindPlugin], api: ApiHandle) -> Status | None:
        """Run a group's members, together where the driver can; the first failure counts."""
        if len(group) > 1 and isinstance(api, ConcurrentApi):
            return await api.first_failure([self._pre_bind_by(plugin, api) for plugin in group])
        for plugin in group:
            failure = await self._pre_bind_by(plugin, api)
            if failure is not None:
                return failure
        return None

    async def _pre_bind_by(self, plugin: PreBindPlugin, api: ApiHandle) -> Status | None:
        try:
            waiting = plugin.pre_bind(self.cycle, self.node_name, api)
            answer = status_or_none("pre_bind", await _awaitable("pre_bind", waiting))
        except Exception as problem:
            answer = error(describe(problem))
        if answer is None or answer.code is Code.SUCCESS:
            return None
        return _keep_rejection(answer, "PreBind", plugin.name)

    async def _bind_by_extender(self, api: ApiHandle) -> tuple[bool, Status | None]:
        """Whether an extender took the binding on, and if so, why it failed."""
        for extender in self.binders:
            if not isinstance(api, ExtenderApi):
                raise NobodyToAsk(f"{extender.url_prefix} has to bind, and nobody asks it to")
            told = await api.ask_to_bind(BindCall(extender, self.cycle.pod.pod, self.node_name))
            if not isinstance(told, CallFailed):
                return True, None
            if not extender.ignorable:
                return True, error(told.problem)
            self.problems.append(f"skipped extender {extender.url_prefix}: {told.problem}")
        return False, None

    async def _bind(self, api: ApiHandle) -> Status | None:
        for plugin in self.profile.bind:
            if self.observer is not None:
                self.observer.bind_started(self, plugin.name)
            try:
                waiting = plugin.bind(self.cycle, self.node_name, api)
                answer = await _awaitable("bind", waiting)
                if answer is not None:
                    answer = status_or_none("bind", answer)
            except Exception as problem:
                answer = error(describe(problem))
            if answer is None or answer.code is Code.SUCCESS:
                return None
            if answer.code is not Code.SKIP:
                return _keep_rejection(answer, "Bind", plugin.name)
        return NOT_BOUND

    async def _post_bind(self, api: ApiHandle) -> None:
        for plugin in self.profile.post_bind:
            try:
                waiting = plugin.post_bind(self.cycle, self.node_name, api)
                await _awaitable("post_bind", waiting)
            except Exception as problem:  # the pod is bound, whatever a plugin thinks of it
                text = f'running PostBind plugin "{plugin.name}": {describe(problem)}'
                self.problems.append(text)


def _awaitable(point: str, answer: Awaitable[T]) -> Awaitable[T]:
    # A coroutine is what nearly all of them give; to ask for the protocol costs ten times as much.
    if type(answer) is CoroutineType or isinstance(answer, Awaitable):
        return answer
    raise WrongAnswer(point, "a coroutine (write `async def`)", answer)


def _keep_rejection(answer: Status, point: str, plugin: str) -> Status:
    """A rejection stays as it is; anything else becomes an error with the point's text."""
    if answer.code.rejected:
        return answer.by(plugin)
    return _fail_point(point, plugin, answer.message)


def _fail_point(point: str, plugin: str, text: str, *, plain: bool = False) -> Status:
    kind = "" if plain else "plugin "
    return error(f'running {point} {kind}"{plugin}": {text}').by(plugin)
