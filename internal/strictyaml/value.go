package strictyaml

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"stepback/internal/lazyregexp"
)

// Value is one value of the document, or an absent one. All methods may be called on an absent value: they return the
// zero value or the default and report no problem.
type Value struct {
	r    *Reader
	node *yaml.Node
	path string
}

// Present reports whether the value is in the document.
func (v Value) Present() bool { return v.node != nil }

// Line returns the value's line, counted from 1; 0 if it is absent.
func (v Value) Line() int {
	if v.node == nil {
		return 0
	}
	return v.node.Line
}

// Problem records a problem with the value.
func (v Value) Problem(format string, args ...any) {
	if v.node != nil {
		v.r.add(v.node, v.path, format, args...)
	}
}

func (v Value) scalar(want string) (string, bool) {
	if v.node == nil {
		return "", false
	}
	if v.node.Kind != yaml.ScalarNode || v.node.Tag == "!!null" {
		v.Problem("%s is expected here, not %s", want, kindOf(v.node))
		return "", false
	}
	return v.node.Value, true
}

func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "an object"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "nothing"
	default:
		return strconv.Quote(n.Value)
	}
}

// Is reports whether the value is exactly this text.
func (v Value) Is(text string) bool { return v.IsScalar() && v.node.Value == text }

// IsScalar reports whether the value is a text or a number.
func (v Value) IsScalar() bool {
	return v.node != nil && v.node.Kind == yaml.ScalarNode && v.node.Tag != "!!null"
}

// IsList reports whether the value is a list.
func (v Value) IsList() bool { return v.node != nil && v.node.Kind == yaml.SequenceNode }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.node != nil && v.node.Kind == yaml.MappingNode }

// Text returns the value as a text of 1 to limit characters.
func (v Value) Text(limit int) string {
	s, ok := v.scalar("a text")
	if !ok {
		return ""
	}
	if s == "" || len(s) > limit {
		v.Problem("a text of 1 to %d characters is expected here, not one of %d", limit, len(s))
		return ""
	}
	return s
}

// identifier matches names of scenarios, services, workloads and errors.
var identifier = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$`)

// Name returns a name: 1 to 80 letters, digits, dots, hyphens and underscores, a letter or digit first.
func (v Value) Name() string {
	s, ok := v.scalar("a name")
	if ok && !identifier.MatchString(s) {
		v.Problem("%s is not a name; names are 1 to 80 letters, digits, '.', '-' and '_'", quoted(s))
		return ""
	}
	return s
}

// Bool returns true or false.
func (v Value) Bool() bool {
	s, ok := v.scalar("true or false")
	if !ok {
		return false
	}
	if s != "true" && s != "false" {
		v.Problem("%s is not true or false", quoted(s))
	}
	return s == "true"
}

// OneOf returns one of the choices; the first one if the value is absent or invalid.
func (v Value) OneOf(choices ...string) string {
	s, ok := v.scalar("one of " + strings.Join(choices, ", "))
	if !ok {
		return choices[0]
	}
	if !slices.Contains(choices, s) {
		v.Problem("%s is not allowed here; write %s", quoted(s), list(choices, "or"))
		return choices[0]
	}
	return s
}

// Number returns a finite number from lo to hi.
func (v Value) Number(lo, hi float64) float64 { return v.NumberOr(0, lo, hi) }

// NumberOr is like Number with a default for an absent value.
func (v Value) NumberOr(otherwise, lo, hi float64) float64 {
	s, ok := v.scalar("a number")
	if !ok {
		return otherwise
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		v.Problem("%s is not a number; write one from %v to %v", quoted(s), lo, hi)
		return otherwise
	}
	if f < lo || f > hi {
		v.Problem("%v is out of range; write a number from %v to %v", f, lo, hi)
		return otherwise
	}
	return f
}

// Whole returns a whole number from lo to hi.
func (v Value) Whole(lo, hi int) int { return v.WholeOr(lo, lo, hi) }

// WholeOr is like Whole with a default for an absent value.
func (v Value) WholeOr(otherwise, lo, hi int) int {
	s, ok := v.scalar("a whole number")
	if !ok {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		v.Problem("%s is not a whole number; write one from %d to %d", quoted(s), lo, hi)
		return otherwise
	}
	if n < lo || n > hi {
		v.Problem("%d is out of range; write a whole number from %d to %d", n, lo, hi)
		return otherwise
	}
	return n
}

// Duration returns a time from lo to hi: a number of seconds, or a text such as "250ms" or "1h30m".
func (v Value) Duration(lo, hi time.Duration) time.Duration { return v.DurationOr(lo, lo, hi) }

// DurationOr is like Duration with a default for an absent value.
func (v Value) DurationOr(otherwise, lo, hi time.Duration) time.Duration {
	s, ok := v.scalar("a time in seconds")
	if !ok {
		return otherwise
	}
	d, err := ParseSeconds(s)
	if err != nil {
		v.Problem("%s is not a time; write seconds, or a text such as 250ms or 1h30m", quoted(s))
		return otherwise
	}
	if d < lo || d > hi {
		v.Problem("%s is out of range; write a time from %s to %s", s, lo, hi)
		return otherwise
	}
	return d
}

// maxSeconds keeps times well within the range of time.Duration.
const maxSeconds = 1e9

// ParseSeconds parses a number of seconds or a Go duration; its absolute value must be at most a billion seconds.
func ParseSeconds(s string) (time.Duration, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		d, err := time.ParseDuration(s)
		if err == nil && math.Abs(d.Seconds()) > maxSeconds {
			err = strconv.ErrRange
		}
		return d, err
	}
	if !(math.Abs(f) <= maxSeconds) {
		return 0, strconv.ErrRange
	}
	return time.Duration(math.Round(f * float64(time.Second))), nil
}

// List returns the elements of a list of lo to hi elements.
func (v Value) List(lo, hi int) []Value {
	if v.node == nil {
		return nil
	}
	if v.node.Kind != yaml.SequenceNode {
		v.Problem("a list is expected here, not %s", kindOf(v.node))
		return nil
	}
	if n := len(v.node.Content); n < lo || n > hi {
		v.Problem("a list of %d to %d elements is expected here, not of %d", lo, hi, n)
		return nil
	}
	values := make([]Value, len(v.node.Content))
	for i, n := range v.node.Content {
		values[i] = Value{v.r, n, fmt.Sprintf("%s[%d]", v.path, i)}
	}
	return values
}

// quoted quotes and shortens text from a file for a message.
func quoted(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}

// list joins words into an enumeration: "a, b or c".
func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
