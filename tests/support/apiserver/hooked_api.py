"""An API server that asks webhooks, over real sockets; clients reach it without."""

import asyncio
import json
from collections.abc import Coroutine
from random import Random
from typing import Any, TypeVar

from support.apiserver.api_calls import Answer, Api
from support.apiserver.asgi_client import Exchange
from support.apiserver.webhook_server import Json

from podium.apiserver.http.app import Application

T = TypeVar("T")
GROUP = "/apis/admissionregistration.k8s.io/v1"
MUTATING = f"{GROUP}/mutatingwebhookconfigurations"
VALIDATING = f"{GROUP}/validatingwebhookconfigurations"
EVERYTHING = {
    "apiGroups": ["*"],
    "apiVersions": ["*"],
    "operations": ["*"],
    "resources": ["configmaps"],
}


def hook(client: Json, name: str = "a.hook.example", **more: Any) -> Json:
    """A webhook that is asked about all writes of config maps, unless it says otherwise."""
    return {
        "name": name,
        "clientConfig": client,
        "rules": [EVERYTHING],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        **more,
    }


class HookedApi(Api):
    def __init__(self) -> None:
        super().__init__()
        self.application = Application(self.service, Random(1))

    def ask(self, method: str, path: str, body: object = None, **options: Any) -> Answer:
        return self.run(self.asked(method, path, body, **options))

    def run(self, asking: Coroutine[Any, Any, T]) -> T:
        """Run what asks, and leave no connection behind."""

        async def run_and_close() -> T:
            try:
                return await asking
            finally:
                await self.application.close()

        return asyncio.run(run_and_close())

    async def asked(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        content_type: str = "application/json",
        **headers: Any,
    ) -> Answer:
        content = b"" if body is None else json.dumps(body).encode()
        sent = {"content-type": content_type, **headers}
        asking = Exchange(self.application, method, path, [content], sent)
        await asking.run()
        return Answer(asking.status, asking.body, asking.all_headers)

    def mutated_by(self, *hooks: Json, name: str = "m") -> None:
        self.create(MUTATING, {"metadata": {"name": name}, "webhooks": list(hooks)})

    def validated_by(self, *hooks: Json, name: str = "v") -> None:
        self.create(VALIDATING, {"metadata": {"name": name}, "webhooks": list(hooks)})
