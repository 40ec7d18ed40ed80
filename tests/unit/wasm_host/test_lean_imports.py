import subprocess
import sys

_SCRIPT = """
import sys
import guest_examples, wasm_host
import pyarrow as pa
with wasm_host.load(guest_examples.path("pass_through")) as guest:
    offsets, data = pa.py_buffer(bytes([0, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(bytes([0x78, 0]))
    events = pa.Array.from_buffers(pa.binary(), 1, [None, offsets, data])
    result = guest.transform(events)
    assert len(result.row_numbers) == len(result.events) == 1, result
print("pandas" in sys.modules)
"""


def test_a_batch_in_a_new_process_does_not_import_pandas():
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
