package commandline

import (
	"encoding"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// mapSep separates the entries of a map.
const mapSep = ';'

// decoder reads a value from the line into the target.
type decoder func(v *Value, s *scanner, target reflect.Value) error

// decoderOf returns the decoder for values of a type; nil if the type is not supported.
func decoderOf(t reflect.Type, kind string) decoder {
	if t.Kind() == reflect.Slice {
		element := decoderOf(t.Elem(), kind)
		if element == nil {
			return nil
		}
		return func(v *Value, s *scanner, target reflect.Value) error { return decodeSlice(v, s, target, element) }
	}
	switch kind {
	case "path":
		return decodePath
	case "existingfile", "existingdir":
		return decodeExisting
	}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return parsed("duration", setDuration)
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return parsed("value", setText)
	}
	switch t.Kind() { //nolint:exhaustive // the others are not read
	case reflect.String:
		return parsed("string", setString)
	case reflect.Bool:
		return decodeBool
	case reflect.Int, reflect.Int64:
		return parsed("int", setInt)
	case reflect.Uint64:
		return parsed("uint", setUint)
	case reflect.Float64:
		return parsed("float", setFloat)
	case reflect.Map:
		if t.Key().Kind() == reflect.String && t.Elem().Kind() == reflect.String {
			return decodeMap
		}
	case reflect.Pointer:
		if element := decoderOf(t.Elem(), ""); element != nil {
			return func(v *Value, s *scanner, target reflect.Value) error {
				to := reflect.New(t.Elem())
				if err := element(v, s, to.Elem()); err != nil {
					return err
				}
				target.Set(to)
				return nil
			}
		}
	}
	return nil
}

func decodeBool(_ *Value, s *scanner, target reflect.Value) error {
	if s.peek().kind != flagValue {
		target.SetBool(true)
		return nil
	}
	switch text := strings.ToLower(s.pop().text); text {
	case "true", "1", "yes":
		target.SetBool(true)
	case "false", "0", "no":
		target.SetBool(false)
	default:
		return fmt.Errorf("bool value must be true, 1, yes, false, 0 or no but got %q", text)
	}
	return nil
}

// parsed returns a decoder that reads one value from the line and sets the target to it; of names the value in
// errors.
func parsed(of string, set func(target reflect.Value, text string) error) decoder {
	return func(_ *Value, s *scanner, target reflect.Value) error {
		text, err := s.popValue(of)
		if err != nil {
			return err
		}
		return set(target, text)
	}
}

func setString(target reflect.Value, text string) error {
	target.SetString(text)
	return nil
}

func setInt(target reflect.Value, text string) error {
	n, err := strconv.ParseInt(text, 0, target.Type().Bits())
	if err != nil {
		return fmt.Errorf("expected a valid %d bit int but got %q", target.Type().Bits(), text)
	}
	target.SetInt(n)
	return nil
}

func setUint(target reflect.Value, text string) error {
	n, err := strconv.ParseUint(text, 0, target.Type().Bits())
	if err != nil {
		return fmt.Errorf("expected a valid %d bit uint but got %q", target.Type().Bits(), text)
	}
	target.SetUint(n)
	return nil
}

func setFloat(target reflect.Value, text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("expected a float but got %q (string)", text)
	}
	target.SetFloat(n)
	return nil
}

func setDuration(target reflect.Value, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("expected duration but got %q: %w", text, err)
	}
	target.SetInt(int64(d))
	return nil
}

func setText(target reflect.Value, text string) error {
	to := target.Addr().Interface().(encoding.TextUnmarshaler) //nolint:forcetypeassert // decoderOf has seen to it
	return to.UnmarshalText([]byte(text))
}

func decodePath(v *Value, s *scanner, target reflect.Value) error {
	path, err := s.popValue("file")
	if err != nil || path == "" && v.hasDefault {
		return err
	}
	if path != "-" {
		path = expandPath(path)
	}
	target.SetString(path)
	return nil
}

func decodeExisting(v *Value, s *scanner, target reflect.Value) error {
	path, err := s.popValue("file")
	if err != nil {
		return err
	}
	directory := v.kind == "existingdir"
	if path != "-" || directory {
		path = expandPath(path)
		found, err := os.Stat(path)
		switch {
		case err != nil:
			return err
		case directory && !found.IsDir():
			return fmt.Errorf("%q exists but is not a directory", path)
		case !directory && found.IsDir():
			return fmt.Errorf("%q exists but is a directory", path)
		}
	}
	target.SetString(path)
	return nil
}

// expandPath makes a path absolute; ~/ is the home directory.
func expandPath(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	if behind, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return path
		}
		return filepath.Join(home, behind)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return absolute
}

func decodeSlice(v *Value, s *scanner, target reflect.Value, element decoder) error {
	elements, err := v.elements(s, v.sep, "<arg>")
	if err != nil {
		return err
	}
	for elements.peek().kind != endOfLine {
		e := reflect.New(target.Type().Elem()).Elem()
		if err := element(v, elements, e); err != nil {
			return err
		}
		target.Set(reflect.Append(target, e))
	}
	return nil
}

func decodeMap(v *Value, s *scanner, target reflect.Value) error {
	if target.IsNil() {
		target.Set(reflect.MakeMap(target.Type()))
	}
	elements, err := v.elements(s, mapSep, "<key>=<value>")
	if err != nil {
		return err
	}
	for elements.peek().kind != endOfLine {
		entry, err := elements.popValue("map")
		if err != nil {
			return err
		}
		key, value, ok := strings.Cut(entry, "=")
		if !ok {
			return fmt.Errorf("expected \"<key>=<value>\" but got %q", entry)
		}
		target.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(value))
	}
	return nil
}

// elements returns the values of a flag that are in one word, or all words up to the next flag for an argument.
func (v *Value) elements(s *scanner, sep rune, each string) (*scanner, error) {
	if v.flag == nil {
		all := &scanner{}
		for s.peek().isValue() {
			all.tokens = append(all.tokens, s.pop())
		}
		return all, nil
	}
	t := s.pop()
	if t.kind == endOfLine {
		if sep != noSep {
			each += string(sep) + "..."
		}
		return nil, fmt.Errorf("missing value, expecting \"%s\"", each)
	}
	return scan(split(t.text, sep), t.kind), nil
}

// split splits a word at separators that are not preceded by a backslash.
func split(text string, sep rune) []string {
	if sep == noSep {
		return []string{text}
	}
	var parts []string
	var part strings.Builder
	escaped := false
	for i, r := range text {
		switch {
		case escaped:
			if r != sep {
				part.WriteByte('\\')
			}
			part.WriteRune(r)
			escaped = false
		case r == '\\' && i < len(text)-1:
			escaped = true
		case r == sep:
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteRune(r)
		}
	}
	if part.Len() > 0 {
		parts = append(parts, part.String())
	}
	return parts
}
