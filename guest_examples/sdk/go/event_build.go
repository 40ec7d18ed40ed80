package wasmhost

// maxBytes is the most that the changed message can have.
func (e *Event) maxBytes() int {
	size := len(e.input)
	for number := range e.fields {
		if field := &e.fields[number]; field.edit == replaceField {
			size += maxHeaderBytes + len(field.newBytes) - len(field.bytes)
		}
	}
	for i := range e.settings {
		size += 3*maxHeaderBytes + len(e.settings[i].key) + len(e.settings[i].value)
	}
	return size
}

// appendTo writes the message with its changes. A field that was absent goes before the first field of the schema with a
// higher number, or else behind the last one, or else to the start.
func (e *Event) appendTo(to []byte) []byte {
	var seen [lastField + 1]int
	written := 0 // absent fields up to this number are in the output
	if e.knownEnd == 0 {
		to = e.appendAbsent(to, 0, lastField)
		to = e.appendSettings(to, alone, 0)
	}
	r := fieldReader{message: e.input}
	for r.next() {
		if !isKnown(r.number, r.wire) {
			to = append(to, r.raw()...)
			continue
		}
		number := int(r.number)
		if number > written {
			to = e.appendAbsent(to, written, min(number-1, lastField))
			written = number
		}
		if number == attributes {
			to = e.appendSettings(to, inFront, r.start)
			to = e.appendSettings(to, instead, r.start)
			if !e.isGone(r.bytes) {
				to = append(to, r.raw()...)
			}
			to = e.appendSettings(to, behind, r.start)
		} else {
			seen[number]++
			to = e.appendField(to, &r, seen[number] == e.fields[number].count)
		}
		if r.at == e.knownEnd {
			to = e.appendAbsent(to, written, lastField)
			to = e.appendSettings(to, alone, 0)
		}
	}
	return to
}

// isGone says whether an attribute does not stay: its key is set, or removed.
func (e *Event) isGone(entry []byte) bool {
	if e.dropped == nil && len(e.settings) == 0 {
		return false
	}
	key, _, ok := attribute(entry)
	for i := range e.settings {
		if ok && e.settings[i].key == string(key) {
			return true
		}
	}
	return ok && e.dropped != nil && e.dropped(key)
}

// appendSettings writes the attributes that go to a place; key and value are written even when they are empty, as
// protobuf does.
func (e *Event) appendSettings(to []byte, place place, start int) []byte {
	for i := range e.settings {
		s := &e.settings[i]
		if s.place != place || s.start != start {
			continue
		}
		keySize, valueSize := uint64(len(s.key)), uint64(len(s.value))
		to = appendVarint(to, attributes<<3|uint64(wireBytes))
		to = appendVarint(to, 2+uint64(varintBytes(keySize)+varintBytes(valueSize))+keySize+valueSize)
		to = append(appendVarint(append(to, 1<<3|byte(wireBytes)), keySize), s.key...)
		to = append(appendVarint(append(to, 2<<3|byte(wireBytes)), valueSize), s.value...)
	}
	return to
}

// appendField writes what becomes of one occurrence: a new value stands where the last one stood, the others go.
func (e *Event) appendField(to []byte, r *fieldReader, isLast bool) []byte {
	switch e.fields[r.number].edit {
	case keepField:
		return append(to, r.raw()...)
	case replaceField:
		if isLast {
			return e.appendNew(to, int(r.number))
		}
	}
	return to
}

func (e *Event) appendAbsent(to []byte, from, upTo int) []byte {
	for number := from + 1; number <= upTo; number++ {
		if field := &e.fields[number]; field.edit == replaceField && field.count == 0 {
			to = e.appendNew(to, number)
		}
	}
	return to
}

func (e *Event) appendNew(to []byte, number int) []byte {
	field := &e.fields[number]
	if !isKnown(uint64(number), wireBytes) {
		return appendVarint(append(to, byte(number<<3)|byte(wireVarint)), field.newNumber)
	}
	to = appendVarint(append(to, byte(number<<3)|byte(wireBytes)), uint64(len(field.newBytes)))
	return append(to, field.newBytes...)
}
