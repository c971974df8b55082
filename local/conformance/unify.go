package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Mismatch is one difference between a response and the recording.
type Mismatch struct {
	Path      string
	Want, Got any
}

// String returns the mismatch on one line.
func (m *Mismatch) String() string {
	return fmt.Sprintf("%s: want %s, got %s", strings.TrimPrefix(m.Path, "."), shown(m.Want), shown(m.Got))
}

// absent stands for a missing member.
type absent struct{}

const shownLength = 600

func shown(v any) string {
	if _, none := v.(absent); none {
		return "nothing"
	}
	s, err := plain(v)
	if err != nil {
		return err.Error()
	}
	if len(s) > shownLength {
		return s[:shownLength] + "…"
	}
	return s
}

// ignored are the members that are never compared.
var ignored = map[string]bool{
	"SdkHttpMetadata": true, "SdkResponseMetadata": true, "HTTPHeaders": true, "RequestId": true, "HostId": true,
	"RetryAttempts": true,
}

// unifier compares expected with actual values. A name bound by an expected value keeps its value for all comparisons
// of a case.
type unifier struct {
	names *Names
	drift map[string]bool
	bound map[string]string
}

// attempt compares two values; if they differ, it undoes the bindings made by the comparison.
func (u *unifier) attempt(path string, want, got any) *Mismatch {
	before := maps.Clone(u.bound)
	m := u.unify(path, want, got)
	if m != nil {
		u.bound = before
	}
	return m
}

func (u *unifier) unify(path string, want, got any) *Mismatch {
	switch w := want.(type) {
	case string:
		return u.text(path, w, got)
	case json.Number:
		if g, ok := got.(json.Number); ok && equalNumbers(w, g) {
			return nil
		}
	case map[string]any:
		switch g := embedded(got).(type) {
		case map[string]any:
			return u.objects(path, w, g)
		default:
		}
	case []any:
		switch g := embedded(got).(type) {
		case []any:
			return u.lists(path, w, g)
		default:
		}
	default:
		if want == got {
			return nil
		}
	}
	return &Mismatch{path, want, got}
}

// embedded returns the value of a JSON text, or v itself if it is none.
func embedded(v any) any {
	if s, ok := v.(string); ok {
		if inner, ok := parse(s); ok {
			return normalise(inner)
		}
	}
	return v
}

func (u *unifier) text(path, want string, got any) *Mismatch {
	if want == "⟦*⟧" {
		return nil
	}
	switch g := got.(type) {
	case string:
		if u.matches(want, g) {
			return nil
		}
		if w, g := container(want), container(g); w != nil && g != nil {
			return u.attempt(path, w, g)
		}
	case map[string]any, []any:
		if inner, ok := parse(want); ok {
			return u.unify(path, inner, got)
		}
	}
	return &Mismatch{path, u.names.Text(want), got}
}

// container returns the list or object that a JSON text holds, or nil for other texts.
func container(text string) any {
	switch v := embedded(text).(type) {
	case map[string]any, []any:
		return v
	default:
		return nil
	}
}

// matches compares texts. A placeholder must match a non-empty text, the same wherever it occurs.
func (u *unifier) matches(want, got string) bool {
	want = u.names.Text(want)
	if !strings.Contains(want, "⟦") {
		return want == got
	}
	pattern := strings.Builder{}
	pattern.WriteString(`(?s)\A`)
	var free []string
	last := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(want, -1) {
		pattern.WriteString(regexp.QuoteMeta(want[last:at[0]]))
		last = at[1]
		name := want[at[2]:at[3]]
		value, known := u.bound[name]
		switch {
		case name == "*":
			pattern.WriteString(`.*?`)
		case known:
			pattern.WriteString(regexp.QuoteMeta(value))
		default:
			pattern.WriteString(`(.+?)`)
			free = append(free, name)
		}
	}
	pattern.WriteString(regexp.QuoteMeta(want[last:]) + `\z`)
	found := regexp.MustCompile(pattern.String()).FindStringSubmatch(got)
	if found == nil {
		return false
	}
	for i, name := range free {
		if value, known := u.bound[name]; known && value != found[i+1] {
			return false
		}
		u.bound[name] = found[i+1]
	}
	return true
}

func (u *unifier) objects(path string, want, got map[string]any) *Mismatch {
	left := maps.Clone(got)
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if ignored[k] {
			continue
		}
		key, ok := u.key(k, left)
		if !ok {
			return &Mismatch{path + "." + k, want[k], absent{}}
		}
		if m := u.unify(path+"."+k, want[k], got[key]); m != nil {
			return m
		}
		delete(left, key)
	}
	for _, k := range slices.Sorted(maps.Keys(left)) {
		if !ignored[k] && !u.drift[k] {
			return &Mismatch{path + "." + k, absent{}, left[k]}
		}
	}
	return nil
}

// key finds the actual member for an expected one, whose name may contain placeholders.
func (u *unifier) key(want string, got map[string]any) (string, bool) {
	if filled := u.names.Text(want); !strings.Contains(filled, "⟦") {
		_, ok := got[filled]
		return filled, ok
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if u.matches(want, k) {
			return k, true
		}
	}
	return "", false
}

func (u *unifier) lists(path string, want, got []any) *Mismatch {
	if len(want) != len(got) {
		return &Mismatch{path, want, got}
	}
	for i := range want {
		if m := u.unify(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]); m != nil {
			return m
		}
	}
	return nil
}

func equalNumbers(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okX := number(a)
	y, okY := number(b)
	return okX && okY && x.Cmp(y) == 0
}

// precision is the number of bits with which numbers are compared, enough for every recorded number.
const precision = 512

func number(n json.Number) (*big.Float, bool) {
	f, _, err := big.ParseFloat(n.String(), 10, precision, big.ToNearestEven)
	return f, err == nil
}
