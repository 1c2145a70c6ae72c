"""What every namespace has."""

from typing import Any

from support.simulated.controller_objects import build, creations, moment, patches, shown

from podium.kubernetes.controllers.namespace_contents import (
    ROOT_CA,
    RootCAPublisher,
    ServiceAccounts,
)
from podium.kubernetes.controllers.workloads import ConfigMap
from podium.kubernetes.kinds.meta import KubeObject
from podium.simulated.informers import Informers


def informers(**metadata: Any) -> Informers:
    made = Informers()
    made.namespaces.put(build(KubeObject, "ns", "", metadata=metadata))
    return made


def test_a_namespace_gets_its_service_account_back() -> None:
    known = informers()
    accounts = ServiceAccounts(known)
    woken: list[str] = []
    accounts.watch(woken.append)
    assert shown(accounts.plan("ns", moment())) == ["+serviceaccounts default"]
    account = build(KubeObject, "default")
    known.service_accounts.put(account)
    woken.clear()
    assert shown(accounts.plan("ns", moment())) == []
    known.service_accounts.drop(account)
    assert woken == ["ns"]


def test_the_authority_is_published_and_put_right() -> None:
    known = informers()
    publisher = RootCAPublisher(known, "PEM")
    (body,) = creations(publisher.plan("ns", moment()))
    assert (body["metadata"]["name"], body["data"]) == (ROOT_CA, {"ca.crt": "PEM"})
    spoilt = build(ConfigMap, ROOT_CA, data={"ca.crt": "other", "more": "x"})
    known.config_maps.put(spoilt)
    (patch,) = patches(publisher.plan("ns", moment()))
    assert patch.body["data"] == {"ca.crt": "PEM", "more": None}
    right = {"annotations": body["metadata"]["annotations"], "resourceVersion": "2"}
    known.config_maps.put(build(ConfigMap, ROOT_CA, metadata=right, data={"ca.crt": "PEM"}))
    assert shown(publisher.plan("ns", moment())) == []


def test_nothing_is_made_in_a_namespace_on_its_way_out_or_without_an_authority() -> None:
    going = informers(deletionTimestamp="2027-01-15T08:00:00Z")
    assert shown(ServiceAccounts(going).plan("ns", moment())) == []
    assert shown(RootCAPublisher(going, "PEM").plan("ns", moment())) == []
    assert shown(RootCAPublisher(informers(), "").plan("ns", moment())) == []
