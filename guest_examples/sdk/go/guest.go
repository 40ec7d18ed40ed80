// Package wasmhost is the SDK for guests written in Go: the contract's exports, the event, JSON, configuration.
//
// A guest calls Serve from an init function. See README.md.
package wasmhost

// Answer is what transform gives back: two bits of kind, 30 bits of pointer, 32 bits of length.
type Answer uint64

// Drop filters the event out.
const Drop Answer = 0

const (
	kindSeveral = 1
	kindFailure = 2
)

var (
	configure func(*Config)
	transform func(input []byte) Answer
	current   Event
)

// Serve says what the guest does: configureGuest reads the configuration once, transformEvent answers each event.
// Bytes that are no event fail before they come there.
func Serve(configureGuest func(*Config), transformEvent func(*Event) Answer) {
	ServeBytes(configureGuest, func(input []byte) Answer {
		if problem := current.open(input); problem != "" {
			return Fail(problem)
		}
		return transformEvent(&current)
	})
}

// ServeBytes is Serve for a guest that takes the message as it is.
func ServeBytes(configureGuest func(*Config), transformBytes func(input []byte) Answer) {
	configure, transform = configureGuest, transformBytes
}

// Keep answers with the input itself.
func Keep(input []byte) Answer { return answerOf(0, input) }

// Fail makes the event fail, with a message for people.
func Fail(message string) Answer {
	return answerOf(kindFailure, newBlock(message))
}

// Several answers with several events, each as Event.Build or the guest itself made it. None drops the event.
func Several(events ...[]byte) Answer {
	size := 0
	for _, event := range events {
		size += varintBytes(uint64(len(event))) + len(event)
	}
	if size == 0 {
		return Drop
	}
	block := take(size)[:0]
	for _, event := range events {
		block = append(appendVarint(block, uint64(len(event))), event...)
	}
	return answerOf(kindSeveral, block)
}

func answerOf(kind uint64, block []byte) Answer {
	return Answer(kind<<62 | uint64(addressOf(block))<<32 | uint64(len(block)))
}

func newBlock(text string) []byte {
	block := take(len(text))
	copy(block, text)
	return block
}

//go:wasmexport wasm_host_abi_version
func exportVersion() int32 { return 1 }

//go:wasmexport alloc
func exportAlloc(size uint32) uint32 { return addressOf(take(int(size))) }

//go:wasmexport dealloc
func exportDealloc(address, _ uint32) { release(address) }

//go:wasmexport init
func exportInit(address, size uint32) int32 {
	config := readConfig(blockAt(address, size))
	if configure != nil {
		configure(config)
	}
	if config.refused() {
		Log(LevelError, *config.refusal)
		return 1
	}
	return 0
}

//go:wasmexport transform
func exportTransform(address, size uint32) uint64 {
	return uint64(transform(blockAt(address, size)))
}
