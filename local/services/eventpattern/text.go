package eventpattern

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"stepback/jsonvalue"
)

type prefix string

func (t prefix) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.String && strings.HasPrefix(v.Text(), string(t))
}

type suffix string

func (t suffix) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.String && strings.HasSuffix(v.Text(), string(t))
}

// folded matches a text ignoring case.
type folded string

func (t folded) matches(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.String && strings.EqualFold(v.Text(), string(t))
}

// foldedPrefix matches a prefix ignoring case.
type foldedPrefix string

func (t foldedPrefix) matches(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.String {
		return false
	}
	text := v.Text()
	for _, want := range string(t) {
		got, size := utf8.DecodeRuneInString(text)
		if size == 0 || !sameLetter(got, want) {
			return false
		}
		text = text[size:]
	}
	return true
}

// foldedSuffix matches a suffix ignoring case.
type foldedSuffix string

func (t foldedSuffix) matches(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.String {
		return false
	}
	text, left := v.Text(), string(t)
	for left != "" {
		want, n := utf8.DecodeLastRuneInString(left)
		got, size := utf8.DecodeLastRuneInString(text)
		if size == 0 || !sameLetter(got, want) {
			return false
		}
		left, text = left[:len(left)-n], text[:len(text)-size]
	}
	return true
}

// sameLetter reports whether two letters are equal except for their case.
func sameLetter(a, b rune) bool {
	return a == b || unicode.ToLower(a) == unicode.ToLower(b) || unicode.ToUpper(a) == unicode.ToUpper(b)
}
