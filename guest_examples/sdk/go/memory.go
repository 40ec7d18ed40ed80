package wasmhost

import "unsafe"

// Blocks that the host holds. Go's collector must not take them, and does not move them. There are two or three at a
// time, so that a list is faster than a map; small blocks are used again, so that a usual event makes no garbage.
var (
	held []([]byte)
	free []([]byte)
)

const (
	maxFreeBlocks     = 4
	maxFreeBlockBytes = 1 << 20
)

// take gives a block of this length for the host to read or write. If there is no memory, the Go runtime says so and traps.
func take(size int) []byte {
	var block []byte
	for i := len(free) - 1; i >= 0; i-- {
		if cap(free[i]) >= max(size, 1) {
			block = free[i]
			free = append(free[:i], free[i+1:]...)
			break
		}
	}
	if block == nil {
		block = make([]byte, max(size, 256))
	}
	held = append(held, block)
	return block[:size]
}

func release(address uint32) {
	for i := len(held) - 1; i >= 0; i-- {
		if addressOf(held[i]) != address {
			continue
		}
		block := held[i]
		last := len(held) - 1
		held[i], held[last] = held[last], nil
		held = held[:last]
		if cap(block) <= maxFreeBlockBytes {
			if len(free) == maxFreeBlocks {
				free = append(free[:0], free[1:]...)
			}
			free = append(free, block)
		}
		return
	}
	panic("dealloc of an address that alloc did not give")
}

func blockAt(address, size uint32) []byte {
	for i := len(held) - 1; i >= 0; i-- {
		if addressOf(held[i]) == address && int(size) <= cap(held[i]) {
			return held[i][:size:size]
		}
	}
	panic("called with an address that alloc did not give")
}

func addressOf(block []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(block))))
}
