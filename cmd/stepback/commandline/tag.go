package commandline

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// known are the keys of tags that the package reads. A key that is not among them is a mistake.
var known = []string{
	"cmd", "arg", "optional", "required", "name", "help", "placeholder", "default", "env", "enum", "type", "short", "sep",
	"xor", "group", "hidden",
}

// tags are the tags of a field.
type tags map[string]string

func (t tags) has(key string) bool {
	_, ok := t[key]
	return ok
}

// list is a tag's words, between which stand commas or spaces.
func (t tags) list(key string) []string {
	return strings.FieldsFunc(t[key], func(r rune) bool { return r == ',' || r == ' ' })
}

// enum is a tag's words, one of which may be empty.
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

// behindQuoted is what follows the quoted string that s begins with.
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

// expand puts the words of the value's enum and its default into its help.
func expand(help string, t tags) string {
	return strings.NewReplacer("${enum}", t["enum"], "${default}", t["default"], "$$", "$").Replace(help)
}

// dashed is a Go name in the words of a command line: BaseDelay is base-delay.
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
	// The last capital before small letters is theirs: SimpleXMLParser is simple-xml-parser.
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
