package wasmhost

// Field is a field number of the event.
type Field uint32

// The fields of the event.
const (
	Before                   Field = 1
	After                    Field = 2
	Op                       Field = 3
	Source                   Field = 4
	Ts                       Field = 5
	Schema                   Field = 6
	Table                    Field = 7
	PrimaryKey               Field = 8
	Snapshot                 Field = 9
	Transaction              Field = 10
	EnvelopeVersion          Field = 11
	BeforeIsKeyOnly          Field = 12
	UnavailableColumns       Field = 13
	BeforeUnavailableColumns Field = 14

	attributes     = 1000
	lastField      = 14
	maxHeaderBytes = 11
)

// Operation is what happened to the row.
type Operation uint32

// The operations.
const (
	Unspecified Operation = iota
	Insert
	Update
	Delete
	Read
	SchemaChange
	Truncate
)

type edit uint8

const (
	keepField edit = iota
	replaceField
	removeField
)

type fieldState struct {
	count     int
	bytes     []byte // of the last occurrence
	number    uint64
	edit      edit
	newBytes  []byte
	newNumber uint64
}

// Event is the event under way. Its fields are read where they lie; what is not replaced keeps its bytes and its
// place, unknown fields included. It and all slices from it are valid until transform returns.
type Event struct {
	input         []byte
	fields        [lastField + 1]fieldState
	knownEnd      int // behind the last field of the schema
	hasAttributes bool
	dropped       func(key []byte) bool
	settings      []setting // attributes that are set, in the order of their keys
	changed       bool
}

// place says where an attribute that is set goes: instead of an entry, before or behind one, or where there are none yet.
type place uint8

const (
	alone place = iota
	instead
	inFront
	behind
)

type setting struct {
	key   string
	value []byte
	place place
	start int // of that entry
}

// isKnown says whether a field comes with the schema's wire type; anything else is an unknown field.
func isKnown(number uint64, wire wireType) bool {
	switch Field(number) {
	case Op, Ts, EnvelopeVersion, BeforeIsKeyOnly:
		return wire == wireVarint
	}
	return wire == wireBytes && (number <= lastField || number == attributes)
}

// open walks the message and gives what is wrong with it.
func (e *Event) open(input []byte) string {
	*e = Event{input: input}
	r := fieldReader{message: input}
	for r.next() {
		if !isKnown(r.number, r.wire) {
			continue
		}
		e.knownEnd = r.at
		if r.number == attributes {
			e.hasAttributes = true
			continue
		}
		field := &e.fields[r.number]
		field.count++
		field.bytes, field.number = r.bytes, r.varint
	}
	if r.broken {
		return notAnEvent(r.start)
	}
	e.keepLastImage(Before)
	e.keepLastImage(After)
	return ""
}

// keepLastImage drops the earlier occurrences of an image: guests look into the last one only, so no other may go on.
func (e *Event) keepLastImage(field Field) {
	if e.fields[field].count > 1 {
		e.SetBytes(field, e.fields[field].bytes)
	}
}

func notAnEvent(offset int) string { return "not an Event at byte " + itoa(offset) }

// Count is how often a field occurs; more than once is legal, and the last one counts.
func (e *Event) Count(field Field) int { return e.fields[field].count }

// Bytes are those of a string, bytes or message field, and whether it is there.
func (e *Event) Bytes(field Field) ([]byte, bool) {
	return e.fields[field].bytes, e.fields[field].count > 0
}

// Number is a number or boolean field; 0 if absent.
func (e *Event) Number(field Field) uint64 { return e.fields[field].number }

// Operation is what happened to the row.
func (e *Event) Operation() Operation { return Operation(uint32(e.Number(Op))) }

// SetBytes replaces Before, After, Schema (empty stays a value) or Table (empty removes it, as in proto3).
func (e *Event) SetBytes(field Field, value []byte) {
	if field == Table && len(value) == 0 {
		e.Remove(field)
		return
	}
	e.fields[field].edit, e.fields[field].newBytes = replaceField, value
	e.changed = true
}

// SetNumber replaces Op, Ts, EnvelopeVersion or BeforeIsKeyOnly; 0 removes it, as in proto3.
func (e *Event) SetNumber(field Field, value uint64) {
	if value == 0 {
		e.Remove(field)
		return
	}
	e.fields[field].edit, e.fields[field].newNumber = replaceField, value
	e.changed = true
}

// Remove removes every occurrence of a field.
func (e *Event) Remove(field Field) {
	e.fields[field].edit = removeField
	e.changed = e.changed || e.fields[field].count > 0
}

// Attribute is the value of an attribute, and whether it is there; one that cannot be read is passed over.
func (e *Event) Attribute(key string) (value []byte, found bool) {
	if !e.hasAttributes {
		return nil, false
	}
	r := fieldReader{message: e.input}
	for r.next() {
		if r.number != attributes || r.wire != wireBytes {
			continue
		}
		if k, v, ok := attribute(r.bytes); ok && string(k) == key {
			value, found = v, true
		}
	}
	return value, found
}

// RemoveAttributes removes those whose key is chosen. If an attribute cannot be read it gives the text to fail with.
func (e *Event) RemoveAttributes(isRemoved func(key []byte) bool) string {
	if !e.hasAttributes {
		return ""
	}
	r := fieldReader{message: e.input}
	for r.next() {
		if r.number != attributes || r.wire != wireBytes {
			continue
		}
		key, _, ok := attribute(r.bytes)
		if !ok {
			return notAnEvent(r.start)
		}
		if isRemoved(key) {
			e.dropped, e.changed = isRemoved, true
		}
	}
	return ""
}

// SetAttribute sets an attribute, in place of the last one with its key or where the key belongs in the order of keys. A key
// that is set is not removed. If an attribute cannot be read it gives the text to fail with.
func (e *Event) SetAttribute(key string, value []byte) string {
	found := setting{key: key, value: value}
	r := fieldReader{message: e.input}
	for e.hasAttributes && r.next() {
		if r.number != attributes || r.wire != wireBytes {
			continue
		}
		other, _, ok := attribute(r.bytes)
		switch {
		case !ok:
			return notAnEvent(r.start)
		case string(other) == key:
			found.place, found.start = instead, r.start
		case found.place == instead || found.place == inFront:
		case string(other) > key:
			found.place, found.start = inFront, r.start
		default:
			found.place, found.start = behind, r.start
		}
	}
	at := 0
	for at < len(e.settings) && e.settings[at].key < key {
		at++
	}
	if at == len(e.settings) || e.settings[at].key != key {
		e.settings = append(e.settings, setting{})
		copy(e.settings[at+1:], e.settings[at:])
	}
	e.settings[at] = found
	e.changed = true
	return ""
}

// Answer is the event as it now is; the input itself if nothing was changed.
func (e *Event) Answer() Answer {
	if !e.changed {
		return answerOf(0, e.input)
	}
	message := e.appendTo(take(e.maxBytes())[:0])
	if len(message) == 0 {
		return Fail("the event has no fields left")
	}
	return answerOf(0, message)
}

// Build is the message with its changes.
func (e *Event) Build() []byte {
	if !e.changed {
		return e.input
	}
	return e.appendTo(make([]byte, 0, e.maxBytes()))
}
