package wasmhost

// Path leads to values of a document: contact.email, emails.*, a\.b.
type Path []Segment

// Segment is one step: a key, or every child.
type Segment struct {
	Key        string
	IsWildcard bool
}

// LeadsTo says whether the step leads to a child; elements of an array have no key.
func (s Segment) LeadsTo(key []byte, hasKey bool) bool {
	return s.IsWildcard || (hasKey && string(key) == s.Key)
}

const maxPathBytes = 100

// parsePath gives a path, or what is wrong with its text.
func parsePath(text string) (Path, string) {
	if len(text) > maxPathBytes {
		return nil, "must have at most " + itoa(maxPathBytes) + " bytes"
	}
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' {
			return nil, "has a control character"
		}
	}
	var path Path
	var key []byte
	isPlain := true
	for i := 0; i <= len(text); i++ {
		if i == len(text) || text[i] == '.' {
			if len(key) == 0 {
				return nil, "has an empty segment"
			}
			path = append(path, segmentOf(string(key), isPlain))
			key, isPlain = nil, true
			continue
		}
		if text[i] == '\\' {
			i++
			isPlain = false
			if i == len(text) || (text[i] != '.' && text[i] != '*' && text[i] != '\\') {
				return nil, `has a backslash before something else than ".", "*" or "\"`
			}
		}
		key = append(key, text[i])
	}
	return path, ""
}

func segmentOf(key string, isPlain bool) Segment {
	if key == "*" && isPlain {
		return Segment{IsWildcard: true}
	}
	return Segment{Key: key}
}

// IsSame says whether two paths have the same segments.
func (p Path) IsSame(other Path) bool {
	if len(p) != len(other) {
		return false
	}
	for i := range p {
		if p[i] != other[i] {
			return false
		}
	}
	return true
}

// Select calls visit with start and end of every value that the path leads to, in document order.
func (d Document) Select(path Path, visit func(start, end int)) {
	d.walk(d.Root(), path, visit)
}

func (d Document) walk(value int, path Path, visit func(start, end int)) int {
	if len(path) == 0 {
		end := d.Skip(value)
		visit(value, end)
		return end
	}
	child := -1
	if d.IsContainer(value) {
		child = d.FirstChild(value)
	}
	if child < 0 {
		return d.Skip(value)
	}
	isObject := d[value] == '{'
	for {
		inner := child
		var key []byte
		if isObject {
			key, inner = d.Key(child)
		}
		end := 0
		if path[0].LeadsTo(key, isObject) {
			end = d.walk(inner, path[1:], visit)
		} else {
			end = d.Skip(inner)
		}
		if child = d.NextChild(end); child < 0 {
			return d.ContainerEnd(end)
		}
	}
}
