package wasmhost

type wireType uint8

const (
	wireVarint  wireType = 0
	wireFixed64 wireType = 1
	wireBytes   wireType = 2
	wireFixed32 wireType = 5
)

const (
	maxTagBytes    = 5
	maxVarintBytes = 10
)

// fieldReader goes over the fields of one message, one level deep.
type fieldReader struct {
	message []byte
	at      int
	start   int // of the field that next found, or where the walk stopped
	number  uint64
	wire    wireType
	varint  uint64
	bytes   []byte
	broken  bool
}

// next finds the next field; false at the end, and when the message is broken.
func (r *fieldReader) next() bool {
	r.start = r.at
	if r.at == len(r.message) {
		return false
	}
	tag := r.readVarint(maxTagBytes)
	r.number, r.wire, r.varint, r.bytes = tag>>3, wireType(tag&7), 0, nil
	if r.broken || r.number == 0 {
		r.broken = true
		return false
	}
	switch r.wire {
	case wireVarint:
		r.varint = r.readVarint(maxVarintBytes)
	case wireBytes:
		r.bytes = r.readBytes(r.readVarint(maxVarintBytes))
	case wireFixed64:
		r.bytes = r.readBytes(8)
	case wireFixed32:
		r.bytes = r.readBytes(4)
	default:
		r.broken = true
	}
	return !r.broken
}

// raw is tag and value, as they stand.
func (r *fieldReader) raw() []byte { return r.message[r.start:r.at] }

func (r *fieldReader) readVarint(limit int) uint64 {
	var value uint64
	for i := 0; i < limit && r.at < len(r.message); i++ {
		b := r.message[r.at]
		r.at++
		value |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return value
		}
	}
	r.broken = true
	return 0
}

func (r *fieldReader) readBytes(size uint64) []byte {
	if r.broken || size > uint64(len(r.message)-r.at) {
		r.broken = true
		return nil
	}
	start := r.at
	r.at += int(size)
	return r.message[start:r.at:r.at]
}

func appendVarint(to []byte, value uint64) []byte {
	for value >= 0x80 {
		to = append(to, byte(value)|0x80)
		value >>= 7
	}
	return append(to, byte(value))
}

func varintBytes(value uint64) int {
	size := 1
	for ; value >= 0x80; value >>= 7 {
		size++
	}
	return size
}

// attribute reads an entry {1: key, 2: value}; what is missing is empty.
func attribute(entry []byte) (key, value []byte, ok bool) {
	r := fieldReader{message: entry}
	for r.next() {
		if r.wire != wireBytes {
			continue
		}
		switch r.number {
		case 1:
			key = r.bytes
		case 2:
			value = r.bytes
		}
	}
	return key, value, !r.broken
}
