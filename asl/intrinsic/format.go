package intrinsic

import (
	"errors"
	"fmt"
	"strings"

	"stepback/asl/jsonvalue"
)

// template is the first argument of States.Format, cut at its placeholders: there is one more part than placeholders.
type template struct {
	parts []string
	err   error
}

var errBrace = errors.New(`a brace that is not the placeholder {} must be escaped as \{ or \}`)

// parseTemplate cuts a template at each {}. The escapes \{ \} \' \\ stand for the character itself.
func parseTemplate(s string) *template {
	t := &template{}
	var part strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`'{}\`, s[i+1]) >= 0:
			i++
			part.WriteByte(s[i])
		case strings.HasPrefix(s[i:], "{}"):
			i++
			t.parts = append(t.parts, part.String())
			part.Reset()
		case c == '{' || c == '}':
			t.err = errBrace
			return t
		default:
			part.WriteByte(c)
		}
	}
	t.parts = append(t.parts, part.String())
	return t
}

// format is States.Format(template, value, …): strings are inserted as they are, numbers and booleans as JSON, objects and
// arrays as Java prints them.
func format(o *operands) (jsonvalue.Value, error) {
	t := o.template
	if t == nil {
		t = parseTemplate(o.values[0].Text())
	}
	if t.err != nil {
		return jsonvalue.Value{}, t.err
	}
	values := o.values[1:]
	if len(values) != len(t.parts)-1 {
		return jsonvalue.Value{}, fmt.Errorf("the template has %d placeholders for %d values", len(t.parts)-1, len(values))
	}
	out := []byte(t.parts[0])
	for i, v := range values {
		out = append(v.AppendJava(out), t.parts[i+1]...)
		if len(out) > maxResultBytes {
			return jsonvalue.Value{}, errTooLarge
		}
	}
	return jsonvalue.OfString(string(out)), nil
}
