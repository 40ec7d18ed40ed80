package wasmhost

// MaxDepth is how many containers of a document may be open at once.
const MaxDepth = 128

// Document is JSON text that Scan has found to be strict JSON. Its methods trust it and need no memory: they take the
// offset of a value (its first byte) and give other offsets.
type Document []byte

const (
	scanOK      = -1
	scanTooDeep = -2
)

// Scan checks a whole document; if something is wrong, the text to fail with is not empty. The name is how that text
// calls the document, for example "after".
func Scan(name string, text []byte) (Document, string) {
	switch trouble := firstTrouble(text); trouble {
	case scanOK:
		return Document(text), ""
	case scanTooDeep:
		return nil, name + " is nested deeper than " + itoa(MaxDepth) + " levels"
	default:
		return nil, name + " is not valid JSON at byte " + itoa(trouble)
	}
}

// firstTrouble gives the offset of the first thing that is not JSON, or scanOK, or scanTooDeep.
func firstTrouble(text []byte) int {
	var closers [MaxDepth]byte
	depth, at, ok := 0, 0, false
	for {
		// A value begins.
		at = skipSpace(text, at)
		if at == len(text) {
			return at
		}
		char := text[at]
		if char == '{' || char == '[' {
			if depth == MaxDepth {
				return scanTooDeep
			}
			at = skipSpace(text, at+1)
			closer := char + 2 // both pairs of brackets are two apart
			if at == len(text) || text[at] != closer {
				closers[depth] = closer
				depth++
				if char == '{' {
					if at, ok = scanKey(text, at); !ok {
						return at
					}
				}
				continue
			}
			at++
		} else {
			end := scanScalar(text, at)
			if end < 0 {
				return at
			}
			at = end
		}
		// A value has ended.
		for {
			at = skipSpace(text, at)
			if depth == 0 {
				if at == len(text) {
					return scanOK
				}
				return at
			}
			if at == len(text) {
				return at
			}
			if text[at] != closers[depth-1] {
				break
			}
			depth--
			at++
		}
		if text[at] != ',' {
			return at
		}
		at++
		if closers[depth-1] == '}' {
			if at, ok = scanKey(text, skipSpace(text, at)); !ok {
				return at
			}
		}
	}
}

// scanKey goes from a key to behind its colon, or to the trouble.
func scanKey(text []byte, at int) (int, bool) {
	if at == len(text) || text[at] != '"' {
		return at, false
	}
	end := scanString(text, at)
	if end < 0 {
		return at, false
	}
	end = skipSpace(text, end)
	if end == len(text) || text[end] != ':' {
		return end, false
	}
	return end + 1, true
}

// Root is the offset of the outermost value.
func (d Document) Root() int { return skipSpace(d, 0) }

// IsContainer says whether a value is an object or an array.
func (d Document) IsContainer(value int) bool { return d[value] == '{' || d[value] == '[' }

// Skip goes behind a value.
func (d Document) Skip(value int) int {
	if d[value] == '"' {
		return stringEnd(d, value)
	}
	at := value
	if !d.IsContainer(value) {
		// A number or a word ends where something begins that cannot be part of it.
		for at < len(d) && isWord(d[at]) {
			at++
		}
		return at
	}
	depth := 0
	for {
		switch d[at] {
		case '"':
			at = stringEnd(d, at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return at + 1
			}
		}
		at++
	}
}

// FirstChild is the first key of an object or element of an array; -1 if it has none.
func (d Document) FirstChild(container int) int {
	at := skipSpace(d, container+1)
	if d[at] == '}' || d[at] == ']' {
		return -1
	}
	return at
}

// NextChild goes from behind a value to the next key or element of its container; -1 if it was the last.
func (d Document) NextChild(valueEnd int) int {
	at := skipSpace(d, valueEnd)
	if d[at] != ',' {
		return -1
	}
	return skipSpace(d, at+1)
}

// ContainerEnd goes from behind the last value of a container to behind the container.
func (d Document) ContainerEnd(lastValueEnd int) int { return skipSpace(d, lastValueEnd) + 1 }

// Key is the decoded key that begins here, and the offset of its value. The key is valid until the next one is read.
func (d Document) Key(at int) (key []byte, value int) {
	end := stringEnd(d, at)
	return decodeInto(&keyScratch, d[at:end]), skipSpace(d, skipSpace(d, end)+1)
}

// Text is the text of a value: decoded if it is a string, its JSON otherwise. It is valid until the next one is read.
func (d Document) Text(value int) []byte {
	token := d[value:d.Skip(value)]
	if token[0] == '"' {
		return decodeInto(&textScratch, token)
	}
	return token
}
