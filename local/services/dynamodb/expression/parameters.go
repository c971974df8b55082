package expression

import (
	"maps"
	"slices"
	"strings"

	"stepback/local/services/dynamodb/item"
)

// Parameters holds the placeholders for the expressions of one request, and records which of them are used.
type Parameters struct {
	names      map[string]string
	values     map[string]item.Value
	usedNames  map[string]bool
	usedValues map[string]bool
}

// NewParameters checks the placeholders of a request; maps may be nil. The error is an item.Invalid.
func NewParameters(names map[string]string, values item.Item) (*Parameters, error) {
	p := &Parameters{names: names, values: values}
	if names != nil {
		if len(names) == 0 {
			return nil, item.Invalid("ExpressionAttributeNames must not be empty")
		}
		p.usedNames = make(map[string]bool, len(names))
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if !placeholder(name, '#') {
				return nil, item.Invalid("ExpressionAttributeNames contains invalid key: Syntax error; key: \"" + name + "\"")
			}
			if err := item.CheckName(names[name]); err != nil {
				return nil, item.Invalid("ExpressionAttributeNames contains invalid value: "+err.Error()+" for key ") + item.Invalid(name)
			}
		}
	}
	if values != nil {
		if len(values) == 0 {
			return nil, item.Invalid("ExpressionAttributeValues must not be empty")
		}
		p.usedValues = make(map[string]bool, len(values))
		for name := range values {
			if !placeholder(name, ':') {
				return nil, item.Invalid("ExpressionAttributeValues contains invalid key: Syntax error; key: \"" + name + "\"")
			}
		}
	}
	return p, nil
}

func placeholder(name string, first byte) bool {
	if len(name) < 2 || name[0] != first {
		return false
	}
	for i := 1; i < len(name); i++ {
		if !wordByte(name[i]) {
			return false
		}
	}
	return true
}

// Unused returns the error for placeholders that no expression of the request uses; nil if all are used.
func (p *Parameters) Unused() error {
	unused := func(kind string, all []string, used map[string]bool) error {
		all = slices.DeleteFunc(all, func(name string) bool { return used[name] })
		if len(all) == 0 {
			return nil
		}
		slices.Sort(all)
		return item.Invalid("Value provided in ExpressionAttribute" + kind + " unused in expressions: keys: {" +
			strings.Join(all, ", ") + "}")
	}
	if len(p.usedNames) < len(p.names) {
		return unused("Names", slices.Collect(maps.Keys(p.names)), p.usedNames)
	}
	if len(p.usedValues) < len(p.values) {
		return unused("Values", slices.Collect(maps.Keys(p.values)), p.usedValues)
	}
	return nil
}

// name returns the attribute of a placeholder.
func (p *Parameters) name(placeholder string) (string, bool) {
	name, ok := p.names[placeholder]
	if ok {
		p.usedNames[placeholder] = true
	}
	return name, ok
}

// value returns the value of a placeholder.
func (p *Parameters) value(placeholder string) (item.Value, bool) {
	v, ok := p.values[placeholder]
	if ok {
		p.usedValues[placeholder] = true
	}
	return v, ok
}
