package wasmhost

// Splice replaces values of a document, from left to right, and keeps every other byte. It is made once and used again:
// Begin starts it anew, and what Finish gave before is then no longer valid.
type Splice struct {
	document []byte
	output   []byte
	copied   int
	changed  bool
}

// Begin takes a document.
func (s *Splice) Begin(document []byte) {
	if cap(s.output) > maxFreeBlockBytes {
		s.output = nil // one large event must not hold its memory for ever
	}
	s.document, s.output, s.copied, s.changed = document, s.output[:0], 0, false
}

// Replace gives the output, up to the value, for the caller to append to; Done takes it back.
func (s *Splice) Replace(start, end int) []byte {
	if !s.changed && cap(s.output) < len(s.document) {
		s.output = make([]byte, 0, len(s.document)+len(s.document)/8+64)
	}
	s.changed = true
	s.output = append(s.output, s.document[s.copied:start]...)
	s.copied = end
	return s.output
}

// Done takes the output with the new text of the value.
func (s *Splice) Done(output []byte) { s.output = output }

// Finish gives the new document, and whether anything was replaced.
func (s *Splice) Finish() ([]byte, bool) {
	if !s.changed {
		return s.document, false
	}
	s.output = append(s.output, s.document[s.copied:]...)
	return s.output, true
}
