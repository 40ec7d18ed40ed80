package wasmhost

import "unicode/utf8"

// The scan functions check and give -1 for trouble; stringEnd trusts.

func skipSpace(text []byte, at int) int {
	for at < len(text) {
		if c := text[at]; c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
			break
		}
		at++
	}
	return at
}

func isDigit(text []byte, at int) bool { return at < len(text) && text[at]-'0' < 10 }

func isWord(c byte) bool {
	return c-'0' < 10 || c|0x20-'a' < 26 || c == '+' || c == '-' || c == '.'
}

func scanScalar(text []byte, at int) int {
	switch text[at] {
	case '"':
		return scanString(text, at)
	case 't':
		return scanWord(text, at, "true")
	case 'f':
		return scanWord(text, at, "false")
	case 'n':
		return scanWord(text, at, "null")
	}
	return scanNumber(text, at)
}

func scanWord(text []byte, at int, word string) int {
	if len(text)-at < len(word) || string(text[at:at+len(word)]) != word {
		return -1
	}
	return at + len(word)
}

func skipDigits(text []byte, at int) int {
	for isDigit(text, at) {
		at++
	}
	return at
}

func scanNumber(text []byte, at int) int {
	if text[at] == '-' {
		at++
	}
	if !isDigit(text, at) {
		return -1
	}
	if text[at] == '0' {
		at++
	} else {
		at = skipDigits(text, at)
	}
	if at < len(text) && text[at] == '.' {
		if at++; !isDigit(text, at) {
			return -1
		}
		at = skipDigits(text, at)
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		at++
		if at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if !isDigit(text, at) {
			return -1
		}
		at = skipDigits(text, at)
	}
	return at
}

// scanString goes behind a string; trouble anywhere in it is trouble at its opening quote.
func scanString(text []byte, at int) int {
	at++
	for at < len(text) {
		c := text[at]
		switch {
		case c == '"':
			return at + 1
		case c == '\\':
			if at = scanEscape(text, at); at < 0 {
				return -1
			}
		case c < ' ':
			return -1
		case c < utf8.RuneSelf:
			at++
		default:
			r, size := utf8.DecodeRune(text[at:])
			if r == utf8.RuneError && size < 3 {
				return -1
			}
			at += size
		}
	}
	return -1
}

// scanEscape goes behind an escape; half of a surrogate pair is trouble, because it has no UTF-8 form.
func scanEscape(text []byte, at int) int {
	if at+1 >= len(text) {
		return -1
	}
	switch text[at+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 2
	case 'u':
	default:
		return -1
	}
	unit := hexValue(text, at+2)
	if unit < 0 || unit&0xfc00 == 0xdc00 {
		return -1
	}
	if unit&0xfc00 != 0xd800 {
		return at + 6
	}
	if at+12 > len(text) || text[at+6] != '\\' || text[at+7] != 'u' {
		return -1
	}
	if second := hexValue(text, at+8); second < 0 || second&0xfc00 != 0xdc00 {
		return -1
	}
	return at + 12
}

// hexValue reads four hexadecimal digits; -1 if they are not there.
func hexValue(text []byte, at int) int {
	if at+4 > len(text) {
		return -1
	}
	value := 0
	for _, c := range text[at : at+4] {
		switch {
		case c-'0' < 10:
			value = value<<4 | int(c-'0')
		case c|0x20-'a' < 6:
			value = value<<4 | int(c|0x20-'a'+10)
		default:
			return -1
		}
	}
	return value
}

// stringEnd goes behind a string of a document that has been scanned.
func stringEnd(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}
