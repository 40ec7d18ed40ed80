package wasmhost

import "math/bits"

// SHA-256 and HMAC-SHA256, because crypto/sha256 brings half a megabyte of code and self-tests that run at start-up.

const (
	sha256BlockBytes = 64
	sha256Bytes      = 32
)

type sha256State [8]uint32

var sha256Start = sha256State{
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
}

var sha256Rounds = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

func (s *sha256State) compress(block []byte) {
	var words [64]uint32
	for i := range 16 {
		b := block[4*i : 4*i+4]
		words[i] = uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	for i := 16; i < 64; i++ {
		x, y := words[i-15], words[i-2]
		x = bits.RotateLeft32(x, -7) ^ bits.RotateLeft32(x, -18) ^ x>>3
		y = bits.RotateLeft32(y, -17) ^ bits.RotateLeft32(y, -19) ^ y>>10
		words[i] = words[i-16] + x + words[i-7] + y
	}
	a, b, c, d, e, f, g, h := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for i := range 64 {
		first := h + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)) +
			(e&f ^ ^e&g) + sha256Rounds[i] + words[i]
		second := (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)) +
			(a&b ^ a&c ^ b&c)
		h, g, f, e, d, c, b, a = g, f, e, d+first, c, b, a, first+second
	}
	s[0] += a
	s[1] += b
	s[2] += c
	s[3] += d
	s[4] += e
	s[5] += f
	s[6] += g
	s[7] += h
}

// finish hashes data from a state that has already taken this many bytes.
func (s sha256State) finish(taken int, data []byte) [sha256Bytes]byte {
	length := uint64(taken+len(data)) * 8
	for ; len(data) >= sha256BlockBytes; data = data[sha256BlockBytes:] {
		s.compress(data)
	}
	var tail [2 * sha256BlockBytes]byte
	copy(tail[:], data)
	tail[len(data)] = 0x80
	padded := sha256BlockBytes
	if len(data) >= sha256BlockBytes-8 {
		padded = len(tail)
	}
	for i := range 8 {
		tail[padded-1-i] = byte(length >> (8 * i))
	}
	s.compress(tail[:sha256BlockBytes])
	if padded > sha256BlockBytes {
		s.compress(tail[sha256BlockBytes:])
	}
	var digest [sha256Bytes]byte
	for i, word := range s {
		digest[4*i], digest[4*i+1], digest[4*i+2], digest[4*i+3] = byte(word>>24), byte(word>>16), byte(word>>8), byte(word)
	}
	return digest
}

// AppendSHA256 writes the hash of data in lower-case hexadecimal.
func AppendSHA256(to, data []byte) []byte {
	digest := sha256Start.finish(0, data)
	return appendHex(to, digest[:])
}

// HMACKey is a key for HMAC-SHA256, with both of its pads hashed already.
type HMACKey struct{ inner, outer sha256State }

// NewHMACKey takes a key of any length.
func NewHMACKey(key []byte) *HMACKey {
	if len(key) > sha256BlockBytes {
		digest := sha256Start.finish(0, key)
		key = digest[:]
	}
	k := &HMACKey{sha256Start, sha256Start}
	var inner, outer [sha256BlockBytes]byte
	copy(inner[:], key)
	copy(outer[:], key)
	for i := range inner {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	k.inner.compress(inner[:])
	k.outer.compress(outer[:])
	return k
}

// Append writes the HMAC of data in lower-case hexadecimal.
func (k *HMACKey) Append(to, data []byte) []byte {
	inner := k.inner.finish(sha256BlockBytes, data)
	outer := k.outer.finish(sha256BlockBytes, inner[:])
	return appendHex(to, outer[:])
}

func appendHex(to, data []byte) []byte {
	for _, b := range data {
		to = append(to, hexDigits[b>>4], hexDigits[b&15])
	}
	return to
}
