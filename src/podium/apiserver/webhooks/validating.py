"""All validating webhooks, asked at once; the first that refuses, in their order, decides."""

from collections.abc import Callable, Sequence

from podium.apiserver.policies.asking import Budget
from podium.apiserver.policies.attempted import AttemptedWrite, Forms
from podium.apiserver.webhooks.reviews import (
    Caller,
    CallFailed,
    Outcome,
    Review,
    WebhookAnswers,
    WebhooksNeeded,
    failed_call,
    make_review,
    read_verdict,
)
from podium.apiserver.webhooks.stored_hooks import Webhook, is_exempt, resource_for
from podium.kubernetes.status_errors import StatusError


def validate(
    hooks: Sequence[Webhook],
    attempted: AttemptedWrite,
    forms: Forms,
    answers: WebhookAnswers,
    new_uid: Callable[[], str],
) -> Outcome | None:
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
        except CallFailed as problem:
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
        self._answers.outcomes[self._key] = Outcome(None, tuple(warnings), first)


def _warnings_of(review: Review, answer: bytes | CallFailed) -> Sequence[str]:
    """Raises StatusError where the webhook refuses."""
    try:
        if isinstance(answer, CallFailed):
            raise answer
        return read_verdict(review, answer, mutating=False).warnings
    except CallFailed as problem:
        if review.hook.ignores_failures:
            return ()
        raise failed_call(review.hook, problem) from None
