"""Modules that are as dear to compile as the limits allow: what remains of the time that a hostile module can cost.

`python -m tests.hostile.compile_bombs` prints the worst found for each kind, as a whole module at the limits.
"""

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass

import wasmtime

from wasm_host import Limits
from wasm_host.engine import engine_for
from wasm_host.wasm_code import CodeShape, measure_code

_I32 = b"\x7f"
_F64 = b"\x7c"
_ZERO = b"\x41\x00"
_END = b"\x0b"
# Signatures: 0 gives an i32, 1 takes and gives one, 2 passes on as many as asked for.
Body = Callable[[int], bytes]


def number(value: int) -> bytes:
    """Write an unsigned LEB128 number."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _vector(items: list[bytes]) -> bytes:
    return number(len(items)) + b"".join(items)


def _section(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + number(len(content)) + content


def module(body: bytes, copies: int, passed: int = 1) -> bytes:
    """A module of equal functions with a memory, a table and a global."""
    values = number(passed) + _I32 * passed
    types = _vector([b"\x60\x00\x01\x7f", b"\x60\x01\x7f\x01\x7f", b"\x60" + values + values])
    return b"".join(
        [
            b"\0asm\x01\0\0\0",
            _section(1, types),
            _section(3, _vector([b"\x00"] * copies)),
            _section(4, b"\x01\x70\x00\x0a"),
            _section(5, b"\x01\x00\x01"),
            _section(6, b"\x01\x7f\x01\x41\x00\x0b"),
            _section(10, _vector([number(len(body)) + body] * copies)),
        ]
    )


def _function(code: bytes, local_count: int = 4, kind: bytes = _I32) -> bytes:
    return b"\x01" + number(local_count) + kind + code + _ZERO + _END


def _repeated(unit: bytes) -> Body:
    return lambda count: _function(unit * count)


def _truncations(count: int) -> bytes:
    return _function(b"\x20\x00" + b"\xb0\xb9" * count + b"\x1a", 1, _F64)


def _live_loops(local_count: int) -> Body:
    def body(count: int) -> bytes:
        loops = (
            b"\x03\x40\x20%b\x21%b\x20%b\x0d\x00\x0b"
            % tuple(number(index % local_count) for index in (loop, loop * 13 + 5, loop * 7 + 3))
            for loop in range(count)
        )
        return _function(b"".join(loops), local_count)

    return body


def _nested_loops(local_count: int) -> Body:
    def body(count: int) -> bytes:
        heads = (
            b"\x03\x40\x20%b\x21%b" % (number(i % local_count), number((i * 13 + 5) % local_count))
            for i in range(count)
        )
        tails = (
            b"\x20%b\x0d%b\x0b" % (number(i * 7 % local_count), number((count - i - 1) // 2)) for i in range(count)
        )
        return _function(b"".join([*heads, *tails]), local_count)

    return body


def _merges(local_count: int) -> Body:
    """Ways out of one block, each with other values in the locals."""

    def body(count: int) -> bytes:
        ways = (b"\x23\x00\x21%b\x20\x00\x0d\x00" % number(way % local_count) for way in range(count))
        uses = (b"\x20%b\x24\x00" % number(local) for local in range(local_count))
        return _function(b"".join([b"\x02\x40", *ways, _END, *uses]), local_count)

    return body


def _table_merges(local_count: int, targets: int) -> Body:
    """The same with tables of targets."""

    def body(count: int) -> bytes:
        table = b"\x0e" + number(targets) + bytes(target % 3 for target in range(targets + 1))
        ways = (b"\x02\x40\x23\x00\x21%b\x20\x00%b\x0b" % (number(way % local_count), table) for way in range(count))
        uses = (b"\x20%b\x24\x00" % number(local) for local in range(local_count))
        return _function(b"".join([b"\x02\x40\x03\x40", *ways, _END, _END, *uses]), local_count)

    return body


def _passing_loops(passed: int) -> Body:
    return lambda count: _function(b"\x23\x00" * passed + b"\x03\x02\x0b" * count + b"\x1a" * passed)


@dataclass(frozen=True, slots=True)
class Bomb:
    """One way to be dear.

    Attributes:
        body: Makes a function with so many of the dear thing.
        passed: Values that the module's third signature passes on.
    """

    body: Body
    passed: int = 1

    def largest(self, limits: Limits) -> tuple[bytes, CodeShape]:
        """The largest function within the limits."""
        low, high = 1, limits.max_function_bytes
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._fits(middle, limits) else (low, middle - 1)
        body = self.body(low)
        return body, measure_code(module(body, 1, self.passed))

    def _fits(self, count: int, limits: Limits) -> bool:
        body = self.body(count)
        shape = measure_code(module(body, 1, self.passed))
        is_short = shape.largest_function_bytes <= limits.max_function_bytes
        return is_short and shape.largest_function_complexity <= limits.max_function_complexity


BOMBS = {
    "calls": Bomb(_repeated(b"\x10\x00\x1a")),
    "truncations": Bomb(_truncations),
    "indirect calls": Bomb(_repeated(_ZERO + _ZERO + b"\x11\x01\x00\x1a")),
    "table reads": Bomb(_repeated(_ZERO + b"\x25\x00\x1a")),
    "loops": Bomb(_repeated(b"\x03\x40\x0b")),
    "ifs": Bomb(_repeated(b"\x20\x00\x04\x40\x0b")),
    "loops, 30 locals": Bomb(_live_loops(30)),
    "loops, 500 locals": Bomb(_live_loops(500)),
    "nested loops, 30 locals": Bomb(_nested_loops(30)),
    "nested loops, 128 locals": Bomb(_nested_loops(128)),
    "ways out, 10 locals": Bomb(_merges(10)),
    "ways out, 200 locals": Bomb(_merges(200)),
    "tables of 2, 30 locals": Bomb(_table_merges(30, 2)),
    "tables of 15, 200 locals": Bomb(_table_merges(200, 15)),
    "loops that pass 2 values": Bomb(_passing_loops(2), 2),
    "loops that pass 200 values": Bomb(_passing_loops(200), 200),
}


def compile_seconds(bomb: Bomb, limits: Limits, copies: int = 2) -> tuple[float, int]:
    """Processor seconds for one function of the largest size, and how many of them a module may have."""
    body, shape = bomb.largest(limits)
    wasm = module(body, copies, bomb.passed)
    engine = engine_for(limits.max_stack_bytes).engine
    started = time.process_time()
    wasmtime.Module(engine, wasm)
    seconds = (time.process_time() - started) / copies
    in_module = min(limits.max_module_complexity // shape.complexity, limits.max_code_bytes // (len(body) + 3))
    return seconds, max(1, in_module)


def main() -> None:
    """Print the table."""
    for name, bomb in BOMBS.items():
        seconds, copies = compile_seconds(bomb, Limits())
        print(f"{name:28} {seconds * 1000:7.1f} ms a function, {copies:4} of them: {seconds * copies:5.1f} s a module")
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"peak memory {peak_mib} MiB")


if __name__ == "__main__":
    main()
