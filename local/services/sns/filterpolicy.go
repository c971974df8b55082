package sns

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/jsonvalue"
	"stepback/local/services/eventpattern"
)

// filter is a compiled filter policy; the zero value matches every message.
type filter struct {
	pattern *eventpattern.Pattern // nil means none
	body    bool                  // matches message bodies instead of attributes
}

// SNS's limits for filter policies.
const (
	mostFilterBytes  = 256 << 10
	mostFilterKeys   = 5
	mostCombinations = 150
)

// newFilter compiles a filter policy. Error messages start with where.
func newFilter(text, scope, where string) (filter, error) {
	f := filter{body: scope == scopeBody}
	if strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "{}" {
		return f, nil
	}
	refuse := func(reason string) (filter, error) { return filter{}, invalid("%sFilterPolicy: %s", where, reason) }
	var members map[string]json.RawMessage
	wrongType := (*json.UnmarshalTypeError)(nil) // the pattern reports it
	if err := json.Unmarshal([]byte(text), &members); err != nil && !errors.As(err, &wrongType) {
		return refuse("failed to parse JSON. " + jsonReason(text))
	}
	if len(members) > mostFilterKeys {
		return refuse("Filter policy can not have more than 5 keys")
	}
	if !f.body {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if strings.HasPrefix(strings.TrimSpace(string(members[name])), "{") && !nestsWrongly(members[name]) {
				return filter{}, invalid("%sFilter policy scope MessageAttributes does not support nested filter policy",
					where)
			}
		}
	}
	var err error
	if f.pattern, err = eventpattern.Compile(text, eventpattern.Limits{Bytes: mostFilterBytes}); err != nil {
		var e *eventpattern.Error
		if errors.As(err, &e) {
			return refuse(e.Reason)
		}
		return refuse(err.Error())
	}
	combinations := f.pattern.Values()
	if f.pattern.Branches() == 1 { // nested names count by their depth
		for _, name := range f.pattern.Fields() {
			combinations *= 1 + strings.Count(name, ".")
		}
	}
	if combinations > mostCombinations {
		return refuse("Filter policy is too complex")
	}
	return f, nil
}

// nestsWrongly reports whether an object has members that are neither arrays nor objects, which AWS checks first.
func nestsWrongly(text json.RawMessage) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return true
	}
	for _, m := range members {
		if t := strings.TrimSpace(string(m)); !strings.HasPrefix(t, "[") && !strings.HasPrefix(t, "{") {
			return true
		}
	}
	return false
}

// jsonReason describes why a text is not valid JSON, in the wording of AWS's parser, or that it has values of other
// types than expected. It includes the position but not the text.
func jsonReason(text string) string {
	_, parsed := jsonvalue.Parse(text)
	var wrong *jsonvalue.SyntaxError
	if !errors.As(parsed, &wrong) {
		return "A value has another type than expected"
	}
	return fmt.Sprintf("%s\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: %d, "+
		"column: %d]", wrong.Message, wrong.Line, wrong.Column)
}

// lets reports whether a message matches the filter.
func (f *filter) lets(m *message) bool {
	switch {
	case f.pattern == nil:
		return true
	case f.body:
		return f.pattern.Match(m.parsedBody())
	default:
		return f.pattern.Match(m.parsedAttributes())
	}
}

// parsedBody returns the message's body as JSON, or null if it is not JSON.
func (m *message) parsedBody() jsonvalue.Value {
	if !m.bodyParsed {
		m.bodyParsed = true
		m.bodyValue, _ = jsonvalue.Parse(m.Body) // null matches nothing
	}
	return m.bodyValue
}

// parsedAttributes returns the attributes as an object: numbers are numbers and arrays are arrays. Binary attributes
// are left out, because filter policies do not see them.
func (m *message) parsedAttributes() jsonvalue.Value {
	if m.attributesParsed {
		return m.attributesValue
	}
	b := jsonvalue.NewObject(len(m.Attributes))
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		a := m.Attributes[name]
		kind, _, _ := strings.Cut(a.DataType, ".")
		switch {
		case kind == typeBinary:
			continue
		case a.DataType == typeArray || kind == typeNumber:
			if v, err := jsonvalue.Parse(a.StringValue); err == nil {
				b.Set(name, v)
				continue
			}
		}
		b.Set(name, jsonvalue.OfString(a.StringValue))
	}
	m.attributesParsed, m.attributesValue = true, b.Value()
	return m.attributesValue
}
