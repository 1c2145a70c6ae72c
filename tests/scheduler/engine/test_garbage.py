"""The collector's settings while a driver works, and after."""

import gc

import pytest

from podium.scheduler.engine.garbage import SELDOM, pause_collection, seldom_collected


def test_garbage_is_looked_for_seldom_while_a_driver_works() -> None:
    before = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold() == SELDOM
        assert gc.get_freeze_count() > 0
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_settings_come_back_after_a_failure() -> None:
    before = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), seldom_collected():
        _ = 1 // 0
    assert gc.get_threshold() == before


def test_nothing_is_looked_for_while_a_cluster_is_read() -> None:
    with pause_collection():
        assert not gc.isenabled()
        with pause_collection():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
