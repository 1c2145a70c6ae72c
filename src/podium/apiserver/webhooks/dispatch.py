"""Asking webhooks: mutating ones one after the other, validating ones at once.

A mutating webhook sees what those before it have made. When one has changed the object, the
server's own admission is gone through once more, and then those webhooks are asked a second time
that want to be (`reinvocationPolicy: IfNeeded`) and were asked before the change.

Of validating webhooks the first that refuses, in their order, decides.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from podium.apiserver.policies.asking import Budget
from podium.apiserver.policies.attempted import AttemptedWrite, Forms
from podium.apiserver.webhooks.reviews import (
    NO_KIND,
    TYPE_META,
    Caller,
    Review,
    WebhookAnswers,
    WebhookCallFailed,
    WebhookOutcome,
    WebhooksNeeded,
    WebhookVerdict,
    failed_call,
    make_review,
    read_verdict,
)
from podium.apiserver.webhooks.stored_hooks import Webhook, is_exempt, resource_for
from podium.golang.json_reader import json_type
from podium.golang.json_values import JsonObject, copy_json
from podium.kubernetes import status_errors
from podium.kubernetes.patching import PatchError, json_patch
from podium.kubernetes.resources.resource import ApiResource
from podium.kubernetes.status_errors import StatusError


@dataclass(frozen=True, slots=True)
class ObjectRules:
    """How a patched object is read, and what the server itself does to it."""

    read: Callable[[JsonObject, ApiResource], JsonObject]
    """The object as one of its kind in the form of a resource; raises StatusError."""
    admit: Callable[[JsonObject], None]
    """The server's own admission and that of policies, in place."""
    is_changed: bool = False
    """Whether policies have changed the object, so that admission is to see it once more."""


def mutate(
    hooks: Sequence[Webhook],
    attempted: AttemptedWrite,
    forms: Forms,
    rules: ObjectRules,
    answers: WebhookAnswers,
    new_uid: Callable[[], str],
) -> WebhookOutcome | None:
    """What became of a write, None if no webhook has to do with it; raises WebhooksNeeded."""
    if is_exempt(attempted):
        return None
    budget = Budget()
    if all(resource_for(hook, attempted, forms, budget) is None for hook in hooks):
        return None
    key = answers.key_of("mutate", attempted)
    found = answers.outcomes.get(key)
    if found is None:
        raise MutationNeeded(_Mutation(hooks, attempted, forms, rules, new_uid), answers, key)
    return found


class MutationNeeded(WebhooksNeeded):
    def __init__(self, mutation: "_Mutation", answers: WebhookAnswers, key: bytes) -> None:
        super().__init__()
        self._mutation = mutation
        self._answers = answers
        self._key = key

    async def ask(self, caller: Caller) -> None:
        self._answers.outcomes[self._key] = await self._mutation.run(caller)


@dataclass
class _Mutation:
    hooks: Sequence[Webhook]
    attempted: AttemptedWrite
    forms: Forms
    rules: ObjectRules
    new_uid: Callable[[], str]
    _warnings: list[str] = field(default_factory=list)
    _asked: set[Webhook] = field(default_factory=set)
    """Webhooks that want to know of later changes."""
    _again: set[Webhook] = field(default_factory=set)
    """Those for whom there has been one."""
    _is_changed: bool = False

    async def run(self, caller: Caller) -> WebhookOutcome:
        try:
            await self._go_through(self.hooks, caller)
            if self._is_changed or self.rules.is_changed:
                await self._go_through_again(caller)
        except StatusError as refused:
            self._warnings += refused.warnings
            return WebhookOutcome(None, tuple(self._warnings), refused)
        obj = self.attempted.obj if self._is_changed else None
        return WebhookOutcome(obj, tuple(self._warnings))

    async def _go_through_again(self, caller: Caller) -> None:
        obj = self.attempted.obj
        if obj is None:
            return
        admitted = copy_json(obj)
        self.rules.admit(admitted)
        if admitted != obj:
            self._note_change(admitted)
        await self._go_through(self.hooks, caller, only_again=True)

    async def _go_through(
        self, hooks: Sequence[Webhook], caller: Caller, *, only_again: bool = False
    ) -> None:
        budget = Budget()
        for hook in hooks:
            seen_as = resource_for(hook, self.attempted, self.forms, budget)
            if seen_as is None or (only_again and hook not in self._again):
                continue
            try:
                verdict = await self._ask(hook, seen_as, caller)
            except WebhookCallFailed as problem:
                if not hook.ignores_failures:
                    raise failed_call(hook, problem) from None
                verdict = WebhookVerdict(())
            self._warnings += verdict.warnings
            if verdict.patch:
                self._apply(hook, seen_as, verdict)
            if hook.is_asked_again:
                self._asked.add(hook)

    async def _ask(self, hook: Webhook, seen_as: ApiResource, caller: Caller) -> WebhookVerdict:
        review = make_review(hook, self.attempted, seen_as, self.forms, self.new_uid())
        return read_verdict(review, await caller.ask(review), mutating=True)

    def _apply(self, hook: Webhook, seen_as: ApiResource, verdict: WebhookVerdict) -> None:
        if self.attempted.obj is None:
            raise status_errors.internal_error(
                f'admission webhook "{hook.name}" attempted to modify the object, which is not'
                " supported for this operation"
            )
        own = self.attempted.resource
        converts = seen_as is not own and not self.attempted.subresource
        obj = self.attempted.obj
        shown = self.forms.convert_object(obj, own, seen_as) if converts else obj
        try:
            patched = json_patch.apply(shown, verdict.patch)
        except PatchError as problem:
            raise status_errors.internal_error(problem.why or problem.message) from None
        if not isinstance(patched, dict):
            why = f"json: cannot unmarshal {json_type(patched)} into Go value of type {TYPE_META}"
            raise status_errors.internal_error(f"{NO_KIND}: {why}")
        new = self.rules.read(patched, seen_as)
        if new == shown:
            return
        self._note_change(self.forms.convert_object(new, seen_as, own) if converts else new)

    def _note_change(self, obj: JsonObject) -> None:
        self.attempted = replace(self.attempted, obj=obj)
        self._is_changed = True
        self._again |= self._asked
        self._asked = set()


def validate(
    hooks: Sequence[Webhook],
    attempted: AttemptedWrite,
    forms: Forms,
    answers: WebhookAnswers,
    new_uid: Callable[[], str],
) -> WebhookOutcome | None:
    """What webhooks say to a write, None if none has to do with it; raises WebhooksNeeded."""
    if is_exempt(attempted):
        return None
    budget = Budget()
    matched = [(hook, resource_for(hook, attempted, forms, budget)) for hook in hooks]
    if all(seen_as is None for _, seen_as in matched):
        return None
    key = answers.key_of("validate", attempted)
    found = answers.outcomes.get(key)
    if found is not None:
        return found
    questions: list[Review | StatusError] = []
    for hook, seen_as in matched:
        if seen_as is None:
            continue
        try:
            questions.append(make_review(hook, attempted, seen_as, forms, new_uid()))
        except WebhookCallFailed as problem:
            if not hook.ignores_failures:
                questions.append(failed_call(hook, problem))
        except StatusError as refused:
            questions.append(refused)
    raise ValidationNeeded(questions, answers, key)


class ValidationNeeded(WebhooksNeeded):
    def __init__(
        self, questions: Sequence[Review | StatusError], answers: WebhookAnswers, key: bytes
    ) -> None:
        super().__init__()
        self._questions = questions
        self._answers = answers
        self._key = key

    async def ask(self, caller: Caller) -> None:
        reviews = [each for each in self._questions if isinstance(each, Review)]
        said = iter(await caller.ask_all(reviews))
        warnings: list[str] = []
        refused: list[StatusError] = []
        for question in self._questions:
            if isinstance(question, StatusError):
                refused.append(question)
                continue
            try:
                warnings += _warnings_of(question, next(said))
            except StatusError as refusal:
                warnings += refusal.warnings
                refused.append(refusal)
        first = refused[0] if refused else None
        self._answers.outcomes[self._key] = WebhookOutcome(None, tuple(warnings), first)


def _warnings_of(review: Review, answer: bytes | WebhookCallFailed) -> Sequence[str]:
    """Raises StatusError where the webhook refuses."""
    try:
        if isinstance(answer, WebhookCallFailed):
            raise answer
        return read_verdict(review, answer, mutating=False).warnings
    except WebhookCallFailed as problem:
        if review.hook.ignores_failures:
            return ()
        raise failed_call(review.hook, problem) from None
