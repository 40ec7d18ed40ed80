package wasmhost

// maxBytes is the most that the changed message can have.
func (e *Event) maxBytes() int {
	size := len(e.input)
	for number := range e.fields {
		if field := &e.fields[number]; field.edit == replaceField {
			size += maxHeaderBytes + len(field.newBytes) - len(field.bytes)
		}
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
			if !e.isDropped(r.bytes) {
				to = append(to, r.raw()...)
			}
		} else {
			seen[number]++
			to = e.appendField(to, &r, seen[number] == e.fields[number].count)
		}
		if r.at == e.knownEnd {
			to = e.appendAbsent(to, written, lastField)
		}
	}
	return to
}

func (e *Event) isDropped(entry []byte) bool {
	if e.dropped == nil {
		return false
	}
	key, _, ok := attribute(entry)
	return ok && e.dropped(key)
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
