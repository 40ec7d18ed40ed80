import gc

import pyarrow as pa

import guest_examples
import wasm_host
from abi import Event
from wasm_host.limits import KIB, MIB
from wasm_host.output_memory import OutputMemory


def test_block_in_use_is_never_handed_out_again():
    memory = OutputMemory()
    first = memory.take(MIB)
    assert memory.take(MIB) is not first


def test_block_that_nobody_holds_is_used_again():
    memory = OutputMemory()
    address = memory.take(MIB).ctypes.data
    assert memory.take(MIB).ctypes.data == address


def test_arrow_array_on_a_slice_of_it_keeps_a_block_in_use():
    memory = OutputMemory()
    block = memory.take(MIB)
    address = block.ctypes.data
    array = pa.Array.from_buffers(pa.uint8(), 10, [None, pa.py_buffer(block[:10])])
    del block
    gc.collect()
    assert memory.take(MIB).ctypes.data != address
    array = array.slice(2, 3)
    assert memory.take(MIB).ctypes.data != address
    del array
    gc.collect()
    assert memory.take(MIB).ctypes.data == address


def test_only_a_few_blocks_of_fitting_sizes_are_kept():
    memory = OutputMemory()
    held = [memory.take(MIB) for _ in range(10)]
    assert len(memory._blocks) == 3
    del held
    assert len(memory.take(300 * KIB)) >= 300 * KIB
    assert all(len(memory.take(300 * KIB)) <= 4 * 300 * KIB for _ in range(5))
    assert len(memory.take(17 * MIB)) == 17 * MIB
    assert all(len(block) <= 16 * MIB for block in memory._blocks)


def test_outputs_that_are_kept_do_not_change_when_more_batches_run():
    def batch(letter: bytes) -> list[bytes]:
        return [Event(table="t", after=letter * 4096).SerializeToString()] * 200

    with wasm_host.load(guest_examples.path("pass_through")) as guest:
        kept = [(letter, guest.transform(batch(letter)).events) for letter in (b"a", b"b", b"c", b"d", b"e", b"f")]
        assert [array.to_pylist() == batch(letter) for letter, array in kept] == [True] * 6
