package wasmhost

import "unicode/utf8"

// Kind is the type of a configuration value.
type Kind uint8

// The kinds.
const (
	Nil Kind = iota
	Boolean
	Integer
	Float
	String
	Bytes
	List
	Map
	Other
)

const (
	maxConfigDepth = 32
	tooLarge       = -1 << 63
)

// Value is one value of the configuration.
type Value struct {
	Kind Kind
	// Integer is that of an integer or boolean; one above 2^63 - 1 is given as -2^63, which is in nobody's range.
	Integer int64
	// Text is that of a string, or bytes.
	Text string
	// Items are the entries of a list, or the values of a map.
	Items []Value
	// Keys are those of a map.
	Keys []Value
}

type unpacker struct {
	input  []byte
	at     int
	broken bool
}

// unpack reads one value that fills the input.
func unpack(input []byte) (Value, bool) {
	u := unpacker{input: input}
	value := u.value(0)
	return value, !u.broken && u.at == len(input)
}

func (u *unpacker) take(size uint64) []byte {
	if u.broken || size > uint64(len(u.input)-u.at) {
		u.broken = true
		return nil
	}
	start := u.at
	u.at += int(size)
	return u.input[start:u.at]
}

// number reads a big-endian number of this many bytes.
func (u *unpacker) number(size int) uint64 {
	var value uint64
	for _, b := range u.take(uint64(size)) {
		value = value<<8 | uint64(b)
	}
	return value
}

func (u *unpacker) value(depth int) Value {
	head := int(u.number(1))
	if u.broken || depth > maxConfigDepth {
		u.broken = true
		return Value{}
	}
	switch {
	case head < 0x80:
		return Value{Kind: Integer, Integer: int64(head)}
	case head < 0x90:
		return u.container(Map, uint64(head&15), depth)
	case head < 0xa0:
		return u.container(List, uint64(head&15), depth)
	case head < 0xc0:
		return u.text(String, uint64(head&31))
	case head >= 0xe0:
		return Value{Kind: Integer, Integer: int64(int8(head))}
	}
	return u.tagged(head, depth)
}

func (u *unpacker) tagged(head, depth int) Value {
	switch {
	case head == 0xc0:
		return Value{}
	case head == 0xc2 || head == 0xc3:
		return Value{Kind: Boolean, Integer: int64(head - 0xc2)}
	case head >= 0xc4 && head <= 0xc6:
		return u.text(Bytes, u.number(1<<(head-0xc4)))
	case head >= 0xc7 && head <= 0xc9:
		u.take(u.number(1<<(head-0xc7)) + 1)
		return Value{Kind: Other}
	case head == 0xca || head == 0xcb:
		u.take(4 << (head - 0xca))
		return Value{Kind: Float}
	case head >= 0xcc && head <= 0xcf:
		return unsigned(u.number(1 << (head - 0xcc)))
	case head >= 0xd0 && head <= 0xd3:
		bits := 8 << (head - 0xd0)
		return Value{Kind: Integer, Integer: int64(u.number(bits/8)<<(64-bits)) >> (64 - bits)}
	case head >= 0xd4 && head <= 0xd8:
		u.take(1<<(head-0xd4) + 1)
		return Value{Kind: Other}
	case head >= 0xd9 && head <= 0xdb:
		return u.text(String, u.number(1<<(head-0xd9)))
	case head == 0xdc || head == 0xdd:
		return u.container(List, u.number(2<<(head-0xdc)), depth)
	case head == 0xde || head == 0xdf:
		return u.container(Map, u.number(2<<(head-0xde)), depth)
	}
	u.broken = true
	return Value{}
}

func unsigned(value uint64) Value {
	if value > 1<<63-1 {
		return Value{Kind: Integer, Integer: tooLarge}
	}
	return Value{Kind: Integer, Integer: int64(value)}
}

func (u *unpacker) text(kind Kind, size uint64) Value {
	text := u.take(size)
	if kind == String && !utf8.Valid(text) {
		u.broken = true
	}
	return Value{Kind: kind, Text: string(text)}
}

func (u *unpacker) container(kind Kind, count uint64, depth int) Value {
	value := Value{Kind: kind}
	for i := uint64(0); i < count && !u.broken; i++ {
		if kind == Map {
			value.Keys = append(value.Keys, u.value(depth+1))
		}
		value.Items = append(value.Items, u.value(depth+1))
	}
	return value
}
