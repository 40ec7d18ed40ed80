package main

import (
	"bytes"
	"unicode/utf8"

	"wasmhost"
)

const (
	maxCharacters = 1_000_000
	minKeyBytes   = 16
)

const (
	redact = iota
	null
	truncate
	hash
	hmac
	keepLast
	keep
)

// action is what happens to one value.
type action struct {
	act        int
	marker     []byte
	characters int
}

func readAction(entry, config *wasmhost.Config) *action {
	a := &action{
		act:    entry.Choice("action", "redact", "null", "truncate", "hash", "hmac", "keep_last", "keep"),
		marker: []byte("***"),
	}
	counts := a.act == truncate || a.act == keepLast
	if entry.Has("marker") && a.act != redact {
		entry.Refuse(entry.Place("marker"), "is only for redact")
	}
	if entry.Has("n") && !counts {
		entry.Refuse(entry.Place("n"), "is only for truncate and keep_last")
	}
	if entry.Has("marker") {
		a.marker = []byte(entry.String("marker"))
	}
	if counts {
		a.characters = entry.Int("n", 0, maxCharacters)
	}
	if a.act == hmac {
		readKey(config)
	}
	return a
}

func readKey(config *wasmhost.Config) {
	value := config.Required("hmac_key")
	if value.Kind != wasmhost.String && value.Kind != wasmhost.Bytes {
		config.Refuse("hmac_key", "must be a string or bytes")
	} else if len(value.Text) < minKeyBytes {
		config.Refuse("hmac_key", "must have at least 16 bytes")
	}
	hmacKey = wasmhost.NewHMACKey([]byte(value.Text))
}

// apply writes the new text of a value, or leaves it as it is.
func (a *action) apply(m *masker, value, end int) {
	// A null hides nothing and stays null.
	if a.act == keep || m.document[value] == 'n' {
		return
	}
	var text []byte
	if a.act != redact && a.act != null {
		text = m.document.Text(value)
	}
	if a.act == truncate {
		kept := wasmhost.BytesOfFirst(text, a.characters)
		if kept == len(text) {
			return
		}
		text = text[:kept]
	}
	out := m.splice.Replace(value, end)
	switch a.act {
	case redact:
		out = wasmhost.AppendString(out, a.marker)
	case null:
		out = append(out, "null"...)
	case truncate:
		out = wasmhost.AppendString(out, text)
	case hash:
		out = append(wasmhost.AppendSHA256(append(out, '"'), text), '"')
	case hmac:
		out = append(hmacKey.Append(append(out, '"'), text), '"')
	case keepLast:
		out = append(a.appendLast(append(out, '"'), text), '"')
	}
	m.splice.Done(out)
}

// appendLast hides a text as a whole if it is not longer than what may be seen.
func (a *action) appendLast(to, text []byte) []byte {
	hidden := utf8.RuneCount(text)
	if hidden > a.characters {
		hidden -= a.characters
	}
	to = append(to, bytes.Repeat([]byte("*"), hidden)...)
	return wasmhost.AppendEscaped(to, text[wasmhost.BytesOfFirst(text, hidden):])
}
