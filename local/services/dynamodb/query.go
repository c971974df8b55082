package dynamodb

import (
	"bytes"
	"context"
	"slices"

	"stepback/aws"
	"stepback/jsonvalue"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

type query struct {
	listing
	Key         *string         `json:"KeyConditionExpression"`
	Keys        jsonvalue.Value `json:"KeyConditions"`
	QueryFilter jsonvalue.Value
	Forward     *bool `json:"ScanIndexForward"`
}

func (s *Service) query(_ context.Context, scope aws.Scope, in *query) (*listed, error) {
	legacy := []given{{"AttributesToGet", in.Attributes != nil}, {"QueryFilter", !in.QueryFilter.IsNull()},
		{"ConditionalOperator", in.Joined != nil}}
	if in.Key != nil || in.Keys.IsNull() {
		legacy = append(legacy, given{"KeyConditions", !in.Keys.IsNull()})
	}
	params, err := in.check([]given{{"ProjectionExpression", in.Projection != nil},
		{"FilterExpression", in.Filter != nil}, {"KeyConditionExpression", in.Key != nil}}, legacy)
	if err != nil {
		return nil, err
	}
	var conditions map[string]expression.KeyCondition
	switch {
	case in.Key != nil:
		conditions, err = expression.ParseKeyCondition(*in.Key, params)
	case !in.Keys.IsNull():
		conditions, err = expression.KeyConditions(in.Keys)
	default:
		err = item.Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if err != nil {
		return nil, err
	}
	p, err := s.newPage(scope, &in.listing, params, "QueryFilter", in.QueryFilter)
	if err != nil {
		return nil, err
	}
	const most = 2
	if n := len(conditions); !p.keys().several() && (n == 0 || n > most) {
		return nil, item.Invalid("Conditions can be of length 1 or 2 only")
	}
	if err := params.Unused(); err != nil {
		return nil, err
	}
	p.backward = in.Forward != nil && !*in.Forward
	p.single = p.index == nil && len(p.keys().names()) == 1
	start, err := p.startAt(in.Start)
	if err != nil {
		return nil, err
	}
	if err := p.bound(conditions, start); err != nil {
		return nil, err
	}
	if err := p.checkFilter(in.Filter != nil); err != nil {
		return nil, err
	}
	return s.list(p, in.Capacity)
}

// checkFilter checks that the filter uses no key attributes, which belong in the key condition.
func (p *page) checkFilter(isExpression bool) (err error) {
	if p.filter == nil {
		return nil
	}
	what := "QueryFilter"
	if isExpression {
		what = "Filter Expression"
	}
	p.filter.Paths(func(path expression.Path) {
		for _, name := range p.keys().names() {
			if path[0].Name == name && err == nil {
				err = item.Invalid(what + " can only contain non-primary key attributes: Primary key attribute: " + name)
			}
		}
	})
	return err
}

// bound sets the bounds of a query.
func (p *page) bound(conditions map[string]expression.KeyCondition, start item.Item) error {
	keys := p.keys()
	if err := keys.checkConditions(conditions); err != nil {
		return err
	}
	for _, name := range keys.names() {
		c, ok := conditions[name]
		if !ok {
			continue
		}
		for _, v := range c.Values {
			if v.Kind != p.table.kinds[name] {
				return item.Invalid(invalidParameter + "Condition parameter type does not match schema type")
			}
			if v.Text == "" && c.Operator != expression.BeginsWith {
				return item.Invalid("One or more parameter values are not valid. The AttributeValue for a key attribute " +
					"cannot contain an empty " + emptyKind(v) + " value. Key: " + name)
			}
		}
		if !keys.several() && name == keys.Hash && c.Operator != expression.Equal {
			return item.Invalid("Query key condition not supported")
		}
	}
	partition := item.Item{}
	for _, name := range keys.hashes() {
		partition[name] = conditions[name].Values[0]
	}
	prefix := appendPartition(p.prefix(), keys, partition)
	p.within(prefix)
	sorted := false
	for _, name := range keys.ranges() { // all but the last have equality
		if c, ok := conditions[name]; ok {
			sorted = true
			p.boundSort(prefix, c)
			prefix = item.AppendKey(bytes.Clone(prefix), c.Values[0])
		}
	}
	if start == nil {
		return nil
	}
	outside := slices.ContainsFunc(keys.hashes(), func(name string) bool {
		return !item.Equal(start[name], partition[name])
	})
	switch {
	case sorted && (bytes.Compare(p.start, p.first) < 0 || p.end != nil && bytes.Compare(p.start, p.end) >= 0):
		if outside {
			return item.Invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		return item.Invalid("The provided starting key does not match the range key predicate")
	case outside:
		return item.Invalid("The provided starting key is outside query boundaries based on provided conditions")
	}
	return nil
}

// checkConditions checks which key attributes a query has conditions on: all of the partition key, and those of the
// sort key from the first without a gap, where only the last may have another condition than equality.
func (s schema) checkConditions(conditions map[string]expression.KeyCondition) error {
	if !s.several() {
		if s.Range == "" && len(conditions) > 1 {
			return item.Invalid("Query key condition not supported")
		}
		for _, name := range s.names() {
			if _, ok := conditions[name]; !ok && (name == s.Hash || len(conditions) > 1) {
				return item.Invalid("Query condition missed key schema element: " + name)
			}
		}
		return nil
	}
	for _, name := range s.hashes() {
		if c, ok := conditions[name]; !ok || c.Operator != expression.Equal {
			return item.Invalid("Query key condition not supported: all HASH key attributes must have equality conditions")
		}
	}
	used, ended := len(s.hashes()), false
	for _, name := range s.ranges() {
		c, ok := conditions[name]
		if ok && ended {
			return item.Invalid("Query key condition not supported: RANGE key attributes before " + name +
				" must have equality conditions")
		}
		if ok {
			used++
		}
		ended = ended || !ok || c.Operator != expression.Equal
	}
	for name := range conditions {
		if used < len(conditions) && !slices.Contains(s.names(), name) {
			return item.Invalid("Query key condition not supported: " + name + " is not a key attribute of the index")
		}
	}
	return nil
}

// boundSort narrows the bounds to the sort keys of a condition.
func (p *page) boundSort(prefix []byte, c expression.KeyCondition) {
	with := func(v item.Value) []byte { return item.AppendKey(bytes.Clone(prefix), v) }
	low := with(c.Values[0])
	switch c.Operator {
	case expression.Equal:
		p.within(low)
	case expression.Less:
		p.end = low
	case expression.AtMost:
		p.end = documents.After(low)
	case expression.Greater:
		p.first = documents.After(low)
	case expression.AtLeast:
		p.first = low
	case expression.Between:
		p.first, p.end = low, documents.After(with(c.Values[1]))
	default: // begins_with
		p.within(item.AppendKeyPrefix(bytes.Clone(prefix), c.Values[0].Text))
	}
}
