import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from spark_udf.routing import is_every_row_once, restore_order, split_by_tenant

names = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c", ""])), max_size=40)


@given(names)
def test_each_row_goes_to_its_tenant_and_comes_back_in_order(tenants: list[str | None]) -> None:
    events = pa.array([b"%d" % number for number in range(len(tenants))], pa.binary())
    pieces = split_by_tenant(pa.array(tenants, pa.string()), events)
    assert len({piece.tenant for piece in pieces}) == len(pieces) == len(set(tenants))
    rows = []
    for piece in pieces:
        positions = np.arange(len(events)) if piece.rows is None else piece.rows
        rows.append(positions)
        assert all(tenants[position] == piece.tenant for position in positions)
        assert piece.events.to_pylist() == [b"%d" % position for position in positions]
    source, permutation = restore_order(rows)
    assert source.tolist() == list(range(len(tenants)))
    joined = np.concatenate(rows) if rows else np.empty(0, np.int64)
    assert (joined if permutation is None else joined[permutation]).tolist() == source.tolist()


def test_outputs_of_one_row_keep_their_order() -> None:
    source, permutation = restore_order([np.array([1, 1, 4]), np.array([0, 2, 2])])
    assert source.tolist() == [0, 1, 1, 2, 2, 4]
    assert permutation is not None
    assert permutation.tolist() == [3, 0, 1, 4, 5, 2]


def test_every_row_once_is_told_from_gaps_and_repeats() -> None:
    assert is_every_row_once(np.array([0, 1, 2]), 3)
    assert not is_every_row_once(np.array([0, 2, 2]), 3)
    assert not is_every_row_once(np.array([0, 1]), 3)
    assert is_every_row_once(np.array([], np.int64), 0)
