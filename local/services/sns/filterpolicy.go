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

// filter is a filter policy; the zero value lets everything through.
type filter struct {
	pattern *eventpattern.Pattern // nil for none
	body    bool                  // it looks at the body of messages rather than at their attributes
}

// SNS's limits of filter policies.
const (
	mostFilterBytes  = 256 << 10
	mostFilterKeys   = 5
	mostCombinations = 150
)

// newFilter compiles a filter policy. In refusals it stands behind where.
func newFilter(text, scope, where string) (filter, error) {
	f := filter{body: scope == scopeBody}
	if strings.TrimSpace(text) == "" || strings.TrimSpace(text) == "{}" {
		return f, nil
	}
	refuse := func(reason string) (filter, error) { return filter{}, invalid("%sFilterPolicy: %s", where, reason) }
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &members); err != nil {
		return refuse("failed to parse JSON. " + jsonReason(text, err))
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

// nestsWrongly reports whether an object's members are neither arrays nor objects, which is what AWS says first.
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

// jsonReason says why a text is no JSON, as AWS's parser does, with the place but without the text.
func jsonReason(text string, err error) string {
	_, parsed := jsonvalue.Parse(text)
	var wrong *jsonvalue.SyntaxError
	if !errors.As(parsed, &wrong) {
		return err.Error()
	}
	return fmt.Sprintf("%s\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: %d, "+
		"column: %d]", wrong.Message, wrong.Line, wrong.Column)
}

// lets reports whether a message goes to the subscription.
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

// parsedBody is the JSON of the message's body; null for a body that is none.
func (m *message) parsedBody() jsonvalue.Value {
	if !m.bodyParsed {
		m.bodyParsed = true
		m.bodyValue, _ = jsonvalue.Parse(m.Body) // null matches nothing
	}
	return m.bodyValue
}

// parsedAttributes are the attributes as the fields of an object: numbers are numbers, arrays are arrays, and what is
// binary is left out, since policies do not see it.
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
