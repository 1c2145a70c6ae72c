"""GPUShare: the points and what they have to do with each other.

PreFilter reads the pod's request, Filter and Score ask the table of cards for all nodes at once,
Reserve chooses the cards, PreBind writes them where the node's agent looks. Until the pod's object
tells of its cards they are held in memory, and given back if the pod is not bound.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from podium.addons.gpu.cards.card import Reason
from podium.addons.gpu.cards.card_table import CardTable
from podium.addons.gpu.cards.choosing import UntoldDecision, allocate, check_row, choose_again
from podium.addons.gpu.cards.fitting import fit, node_values, scores
from podium.addons.gpu.cards.requests import PodRequest
from podium.addons.gpu.dialects.dialect import InvalidRequest, grace_period, merge_writes
from podium.addons.gpu.plugin.arguments import (
    GPUShareArgs,
    NodeConfigMaps,
    apply_policies,
    dialect_of,
    preferred_card,
)
from podium.addons.gpu.plugin.attempt_state import (
    HOPELESS,
    STATUSES,
    GPUAttemptState,
    NumberedRequests,
    count_cards,
    count_free_cards,
    imagine_cards,
    number_of,
)
from podium.addons.gpu.plugin.card_metrics import CardMetrics, IdleCards
from podium.addons.gpu.plugin.decision_writing import (
    TakeBack,
    lock_node,
    write_on_pod,
)
from podium.addons.gpu.plugin.explanations import (
    cards_cause,
    explain_row,
    name_cards,
    propose_fewer_cards,
    quota_cause,
)
from podium.addons.gpu.plugin.followed_cards import CardReservation, FollowedCards, reservations_of
from podium.addons.gpu.plugin.quotas import RESOURCE_QUOTAS, Quotas, WakeUps
from podium.golang.json_values import JsonObject
from podium.plugin import (
    SKIP,
    ApiCallFailed,
    ApiHandle,
    Cycle,
    Dependence,
    FilterPlugin,
    Handle,
    Ints,
    PlacementLimits,
    PluginMetric,
    Pod,
    PodInfo,
    PreBindPlugin,
    PreFilterPlugin,
    PreFlight,
    PreScorePlugin,
    ProposedChange,
    RefusalCause,
    Registration,
    ReservePlugin,
    Rows,
    ScorePlugin,
    Status,
    ValueSource,
    Verdict,
    choosing,
    error,
    indices,
    unresolvable,
)

_SCALE: Final = 10
_QUOTA: Final = number_of(Reason.QUOTA_EXCEEDED, hopeless=True)


class GPUShare(
    PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin
):
    name = "GPUShare"
    refusals_stand = True
    Args = GPUShareArgs
    watched_kinds = (RESOURCE_QUOTAS,)
    in_range = True
    normalizes_by_range = True
    args: GPUShareArgs

    def __init__(self, args: GPUShareArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self._dialect = dialect_of(args)
        self._reservations = reservations_of(handle.cluster, self._dialect.name)
        self._quotas = Quotas(handle, args, self._dialect)
        self._config_maps = NodeConfigMaps(handle, self._dialect)
        self._cards: FollowedCards | None = None
        self._requests = NumberedRequests(self.request_of)
        self.idle_cards = IdleCards(handle, self.follow_cards, self.request_of)
        self._metrics = CardMetrics(self.follow_cards, self._reservations, self.idle_cards)
        locks = args.node_lock if args.node_lock is not None else handle.client_settings is not None
        self._lock = self._dialect.lock if locks else None

    # --- events ---------------------------------------------------------------------------------

    def events(self) -> Sequence[Registration]:
        wake_ups = WakeUps(
            self.handle, self._dialect, self._quotas.document, self._config_maps.source
        )
        return wake_ups.registrations()

    def sources(self) -> Sequence[ValueSource]:
        of_nodes = self._config_maps.source
        return [*self._quotas.sources(), *([of_nodes] if of_nodes is not None else [])]

    def metrics(self) -> Sequence[PluginMetric]:
        return self._metrics.all()

    def count_refusal(self, point: str, status: Status, nodes: int) -> None:
        self._metrics.count_status(point, status, nodes)

    # --- where the pod fits ---------------------------------------------------------------------

    def pre_filter(self, cycle: Cycle) -> Status | None:
        pod = cycle.pod.pod
        try:
            known = self._requests.of(cycle.pod)
        except InvalidRequest as problem:
            return unresolvable(str(problem))
        if known is None:
            return SKIP
        request, number = known
        cards = self.follow_cards()
        lapse = cards.next_lapse
        if lapse is not None:
            cycle.retry_at = lapse if cycle.retry_at is None else min(cycle.retry_at, lapse)
        state = GPUAttemptState(
            request,
            number,
            self._quotas.compute_quota_left(cycle.pod, cards.use),
            self._quotas.find_allowed_models(cycle.pod, request, cards.use),
            cards.unbound_row(cycle.pod.uid, pod),
        )
        cycle.write(self.name, state)
        return None

    def pre_filter_stays(self, cycle: Cycle) -> bool:
        """Whether a pod asks for cards is said by its containers alone."""
        return self.name in cycle.skip_filter

    def filter(self, cycle: Cycle, rows: Rows) -> Verdict | None:
        return choosing(self._find_refused(cycle, rows), STATUSES)

    def filter_row(self, cycle: Cycle, row: int) -> Status | None:
        state = self._state(cycle)
        if self._is_imagined(cycle, state) or state.allowed is not None:
            number = int(self._find_refused(cycle, np.array([row]))[0])
            return STATUSES[number - 1] if number else None
        cards = self.follow_cards()
        reason = check_row(cards.table, row, state.request, state.left)
        if reason is None:
            return None
        hopeless = check_row(cards.empty, row, state.request, state.left) is not None
        return STATUSES[number_of(reason, hopeless=hopeless) - 1]

    def filter_depends(self, cycle: Cycle) -> Dependence | None:
        state = self._state(cycle)
        return None if self._is_imagined(cycle, state) else self._dependence(cycle, state)

    def state_limits(self, cycle: Cycle) -> PlacementLimits | None:
        if self.name in cycle.skip_filter:
            return None
        state = cycle.states.get(self.name)
        found = (
            count_cards(state, self.follow_cards().table)
            if isinstance(state, GPUAttemptState)
            else {}
        )
        return PlacementLimits(amounts=found, leaves_out="how shares of GPUs lie on single cards")

    def count_free(self, rows: Ints) -> list[dict[str, int]]:
        return count_free_cards(self.follow_cards().table, rows)

    def _find_refused(self, cycle: Cycle, asked: Rows) -> Ints:
        """For each row 0 if the pod fits, or else the number of a status."""
        state, cards = self._state(cycle), self.follow_cards()
        rows = indices(asked)
        whole = isinstance(asked, slice) and len(rows) == cards.table.rows
        found: Ints = fit(cards.table, None if whole else rows, state.request, state.left).codes + 1
        if self._is_imagined(cycle, state):
            other = {*cycle.usage.strayed_rows(), state.own_row}
            if cycle.usage is cycle.cluster.usage:
                other = {state.own_row}
            at = [position for position, row in enumerate(rows.tolist()) if row in other]
            if at:
                part = self._imagine_cards(cycle, rows[at].tolist())
                found[at] = fit(part, None, state.request, state.left).codes + 1
        refused = np.flatnonzero(found)
        if len(refused):
            without_pods = fit(cards.empty, rows[refused], state.request, state.left)
            found[refused] += np.where(without_pods.fits, 0, HOPELESS)
        if state.allowed is not None and self._quotas.document is not None:
            found[~self._quotas.document.within(state.allowed, rows)] = _QUOTA
        return found

    def _is_imagined(self, cycle: Cycle, state: GPUAttemptState) -> bool:
        """Whether pods are to be counted that are not there, or not counted though they are."""
        return state.own_row >= 0 or cycle.usage is not cycle.cluster.usage

    def _imagine_cards(self, cycle: Cycle, rows: Sequence[int]) -> CardTable:
        return imagine_cards(
            self.follow_cards(), cycle.usage, rows, self.request_of, without=cycle.pod.uid
        )

    # --- which node is best -----------------------------------------------------------------------

    def pre_score(self, cycle: Cycle, rows: Rows) -> Status | None:  # noqa: ARG002
        return None if self.name in cycle.states else SKIP

    def pre_score_stays(self, cycle: Cycle) -> bool:
        return self.name in cycle.skip_score

    def score(self, cycle: Cycle, rows: Rows) -> Ints:
        state = self._state(cycle)
        values = self.follow_cards().values.read(state.request)
        found: Ints = values[rows]
        found = found.copy() if isinstance(rows, slice) else found
        if state.own_row >= 0:
            alone = node_values(self._imagine_cards(cycle, [state.own_row]), None, state.request)
            found[indices(rows) == state.own_row] = alone[0]
        return found

    def score_depends(self, cycle: Cycle) -> Dependence | None:
        state = self._state(cycle)
        if state.own_row >= 0:
            return None
        return Dependence(state.number, usage=True, version=self.follow_cards().epoch)

    def normalize(self, cycle: Cycle, rows: Rows, scores_: Ints) -> Ints:  # noqa: ARG002
        return _SCALE * scores(scores_)

    # --- the cards --------------------------------------------------------------------------------

    def reserve(self, cycle: Cycle, node_name: str) -> Status | None:
        if self.name not in cycle.states:
            return None
        state, uid = self._state(cycle), cycle.pod.uid
        self._reservations.pop(uid, None)
        decided = self._dialect.decided_node(cycle.pod.pod)
        if decided:
            self._withdraw(cycle, decided)
        cards = self.follow_cards()
        row = cycle.nodes.row(node_name)
        prefer = preferred_card(self.handle, self._dialect, self.args, cycle, row)
        given = allocate(cards.table, row, state.request, state.left, prefer=prefer)
        if isinstance(given, Reason):
            return STATUSES[number_of(given, hopeless=False) - 1]
        reservation = self._reservations[uid] = CardReservation(node_name, state.request, given)
        cards.charge(row, cycle.pod, reservation.uses)
        return None

    def unreserve(self, cycle: Cycle, node_name: str) -> None:
        reservation = self._reservations.pop(cycle.pod.uid, None)
        if reservation is None or (reservation.written is None and not reservation.lock):
            return
        self._withdraw(cycle, node_name)
        cycle.writes.append(
            TakeBack(
                self._dialect,
                cycle.pod.pod,
                node_name,
                reservation.written,
                reservation.lock,
            )
        )

    def _withdraw(self, cycle: Cycle, node_name: str) -> None:
        grace_s = grace_period(cycle.pod.pod, float(self.args.grace_period_seconds))
        until = self.handle.clock() + grace_s
        row = cycle.nodes.row(node_name)
        self._reservations.withdraw(cycle.pod.uid, node_name, row, until)

    def reserved(self, cycle: Cycle) -> JsonObject:
        reservation = self._reservations.get(cycle.pod.uid)
        if reservation is None:
            return {}
        return {self.name: {"cards": list(reservation.allocation.cards())}}

    def describe_reserved(self, cycle: Cycle) -> str:
        reservation = self._reservations.get(cycle.pod.uid)
        return "" if reservation is None else name_cards(reservation.allocation.cards())

    def pre_bind_pre_flight(self, cycle: Cycle, node_name: str) -> PreFlight:  # noqa: ARG002
        return PreFlight() if self.name in cycle.states else PreFlight(SKIP)

    async def pre_bind(self, cycle: Cycle, node_name: str, api: ApiHandle) -> Status | None:
        if self.name not in cycle.states:
            return None
        reservation = self._reservations.get(cycle.pod.uid)
        if reservation is None or reservation.node != node_name:
            return error("no cards are held for the pod")
        try:
            return await self._write(cycle.pod, reservation, api)
        except ApiCallFailed as problem:
            return error(str(problem))

    async def _write(
        self, info: PodInfo, reservation: CardReservation, api: ApiHandle
    ) -> Status | None:
        pod, node_name = self._newest(info), reservation.node
        if self._lock is not None:
            taken = await lock_node(
                api, self._lock, node_name, pod, self.handle.clock, self._pod_exists
            )
            if isinstance(taken, Status):
                self._metrics.count("bind", Reason.NODE_LOCKED)
                return taken
            reservation.lock = taken
        if self._dialect.chooses_shared_card and not self._choose_again(info.uid):
            return error(f"the cards of node {node_name} have to be chosen again")
        now = self.handle.clock()
        cards = self.follow_cards().cards_of(node_name)
        decision = self._dialect.write_decision(pod, node_name, cards, reservation.allocation, now)
        reservation.written = merge_writes(decision, self._dialect.write_binding(pod, now))
        await write_on_pod(api, pod, reservation.written, any_version=True)
        return None

    def _choose_again(self, uid: str) -> bool:
        """Choose as the agent will that is told of this pod next; whether everybody fits still."""
        cards, untold = self.follow_cards(), self._reservations.find_unwritten(uid)
        row = self.handle.cluster.nodes.row(self._reservations[uid].node)
        if row < 0:
            return False
        decisions = [UntoldDecision(other, each.request, each.uses) for other, each in untold]
        chosen = choose_again(cards.table, row, decisions)
        if chosen is None:
            return False
        for other, each in untold:
            if chosen[other] != each.allocation:
                each.choose(chosen[other])
                cards.recharge(row, other, each.uses)
        return True

    def _newest(self, info: PodInfo) -> Pod:
        metadata = info.pod.metadata
        found = self.handle.get(Pod, metadata.name, metadata.namespace)
        return found if found is not None and info.is_about(found) else info.pod

    def _pod_exists(self, namespace: str, name: str) -> bool:
        return self.handle.get(Pod, name, namespace) is not None

    # --- for people -------------------------------------------------------------------------------

    def explain_nodes(self, cycle: Cycle, rows: Rows) -> Callable[[int], str] | None:
        if self.name not in cycle.states:
            return None
        state = self._state(cycle)
        part = self._imagine_cards(cycle, indices(rows).tolist())
        return lambda position: explain_row(part, position, state.request, state.left)

    def explain_refusal(self, pod: PodInfo, status: Status) -> RefusalCause | None:
        try:
            request = self.request_of(pod.pod)
        except InvalidRequest as problem:
            text = f"The pod's GPU request is not valid: {problem}."
            return RefusalCause("gpu-request-invalid", pod.key, text)
        if request is not None and Reason.INSUFFICIENT_CARDS.phrase in status.message:
            return cards_cause(self.follow_cards().table, request)
        if Reason.QUOTA_EXCEEDED.phrase not in status.message:
            return None
        return quota_cause(pod.pod.metadata.namespace, self.follow_cards().use)

    def propose_changes(self, pod: PodInfo, status: Status) -> Iterator[ProposedChange]:
        if Reason.INSUFFICIENT_CARDS.phrase not in status.message:
            return iter(())
        return propose_fewer_cards(pod.pod, self.follow_cards().table, self.request_of)

    # --- what all of them need --------------------------------------------------------------------

    def _state(self, cycle: Cycle) -> GPUAttemptState:
        return cycle.read(self.name, GPUAttemptState)

    def follow_cards(self) -> FollowedCards:
        """The cards as they are now, for plugins beside this one too."""
        if self._cards is None:
            grace_s = float(self.args.grace_period_seconds)
            self._cards = FollowedCards(
                self.handle,
                self._dialect,
                self._reservations,
                self._config_maps,
                grace_s,
                counts_requests=self._quotas.document is not None,
            )
        self._cards.follow()
        return self._cards

    def known_request(self, info: PodInfo) -> tuple[PodRequest, int] | None:
        """A pod's request and its number; None if it asks for no card. Raises InvalidRequest."""
        return self._requests.of(info)

    def request_of(self, pod: Pod) -> PodRequest | None:
        """With the cluster's policies; None if it asks for no card. Raises InvalidRequest."""
        request = self._dialect.pod_request(pod)
        return None if request is None else apply_policies(self.args, self._dialect, pod, request)

    def _dependence(self, cycle: Cycle, state: GPUAttemptState) -> Dependence:
        epoch = self.follow_cards().epoch
        if state.left is None and state.allowed is None:
            return Dependence(state.number, usage=True, version=epoch)
        namespace = cycle.pod.pod.metadata.namespace
        document = self._quotas.document
        models = state.allowed[1] if state.allowed is not None else None
        return Dependence(
            (state.number, namespace),
            usage=True,
            version=(epoch, state.left, models, document.version if document else 0),
        )
