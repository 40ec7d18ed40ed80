package wasmhost

import (
	"bytes"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

var keyScratch, textScratch []byte

// decodeInto gives the text of a JSON string, given with its quotes. It is not copied unless there is an escape in it.
func decodeInto(scratch *[]byte, token []byte) []byte {
	inner := token[1 : len(token)-1]
	at := bytes.IndexByte(inner, '\\')
	if at < 0 {
		return inner
	}
	out := append((*scratch)[:0], inner[:at]...)
	for at < len(inner) {
		if inner[at] != '\\' {
			out = append(out, inner[at])
			at++
			continue
		}
		var r rune
		r, at = decodeEscape(inner, at)
		out = utf8.AppendRune(out, r)
	}
	*scratch = out
	return out
}

func decodeEscape(text []byte, at int) (rune, int) {
	switch c := text[at+1]; c {
	case 'b':
		return '\b', at + 2
	case 'f':
		return '\f', at + 2
	case 'n':
		return '\n', at + 2
	case 'r':
		return '\r', at + 2
	case 't':
		return '\t', at + 2
	case 'u':
	default:
		return rune(c), at + 2
	}
	unit := hexValue(text, at+2)
	if unit&0xfc00 != 0xd800 {
		return rune(unit), at + 6
	}
	return rune(0x10000 + (unit&0x3ff)<<10 + hexValue(text, at+8)&0x3ff), at + 12
}

// AppendString writes text between quotes, and what must be escaped in it.
func AppendString(to, text []byte) []byte {
	return append(AppendEscaped(append(to, '"'), text), '"')
}

// AppendEscaped writes text as it stands inside a JSON string.
func AppendEscaped(to, text []byte) []byte {
	copied := 0
	for at, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(append(to, text[copied:at]...), '\\')
		copied = at + 1
		switch c {
		case '"', '\\':
			to = append(to, c)
		case '\b':
			to = append(to, 'b')
		case '\f':
			to = append(to, 'f')
		case '\n':
			to = append(to, 'n')
		case '\r':
			to = append(to, 'r')
		case '\t':
			to = append(to, 't')
		default:
			to = append(to, 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(to, text[copied:]...)
}

// BytesOfFirst is how many bytes the first characters (code points) have; all of them if there are fewer.
func BytesOfFirst(text []byte, characters int) int {
	for at, c := range text {
		if c&0xc0 != 0x80 {
			if characters == 0 {
				return at
			}
			characters--
		}
	}
	return len(text)
}

// itoa spares the guest the weight of strconv.
func itoa(value int) string {
	if value < 0 {
		return "-" + itoa(-value)
	}
	if value < 10 {
		return string(rune('0' + value))
	}
	return itoa(value/10) + string(rune('0'+value%10))
}
