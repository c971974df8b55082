package commandline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// known lists the tag keys that the package supports. Any other key is a mistake.
var known = []string{
	"cmd", "arg", "optional", "required", "name", "help", "placeholder", "default", "env", "enum", "type", "short", "sep",
	"xor", "group", "hidden",
}

// tags holds the tags of a field.
type tags map[string]string

func (t tags) has(key string) bool {
	_, ok := t[key]
	return ok
}

// list returns the words of a tag, separated by commas or spaces.
func (t tags) list(key string) []string {
	return strings.FieldsFunc(t[key], func(r rune) bool { return r == ',' || r == ' ' })
}

// enum returns the words of the enum tag, one of which may be empty.
func (t tags) enum() []string {
	if t["enum"] == "" {
		return nil
	}
	words := strings.Split(t["enum"], ",")
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	return words
}

// tagsOf reads the tags of a field.
func tagsOf(f reflect.StructField) tags {
	t := tags{}
	rest := string(f.Tag)
	for rest != "" {
		key, _, ok := strings.Cut(rest, `:"`)
		if !ok {
			panic(fmt.Sprintf("commandline: field %s: the tags %q are not key:\"value\"", f.Name, f.Tag))
		}
		value, _ := reflect.StructTag(rest).Lookup(key)
		if !slices.Contains(known, key) {
			panic(fmt.Sprintf("commandline: field %s: the tag %s is not one of %s", f.Name, key, strings.Join(known, ", ")))
		}
		t[key] = value
		rest = strings.TrimLeft(behindQuoted(rest[len(key)+1:]), " ")
	}
	return t
}

// behindQuoted returns the text after the quoted string at the beginning of s.
func behindQuoted(s string) string {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return s[i+1:]
		}
	}
	return ""
}

// expand inserts the value's enum and default into its help.
func expand(help string, t tags) string {
	return strings.NewReplacer("${enum}", t["enum"], "${default}", t["default"], "$$", "$").Replace(help)
}

// dashed converts a Go name to the words of a command line: BaseDelay becomes base-delay.
func dashed(name string) string {
	var words []string
	last := 0
	for _, r := range name {
		class := 4
		switch {
		case unicode.IsLower(r):
			class = 1
		case unicode.IsUpper(r):
			class = 2
		case unicode.IsDigit(r):
			class = 3
		}
		if class == last {
			words[len(words)-1] += string(r)
		} else {
			words = append(words, string(r))
		}
		last = class
	}
	// The last capital before lower-case letters belongs to them: SimpleXMLParser becomes simple-xml-parser.
	for i := range len(words) - 1 {
		first, _ := utf8.DecodeRuneInString(words[i])
		next, _ := utf8.DecodeRuneInString(words[i+1])
		if unicode.IsUpper(first) && unicode.IsLower(next) {
			capital, size := utf8.DecodeLastRuneInString(words[i])
			words[i] = words[i][:len(words[i])-size]
			words[i+1] = string(capital) + words[i+1]
		}
	}
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" })
	return strings.ToLower(strings.Join(words, "-"))
}
