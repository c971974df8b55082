package dynamodb

import (
	"bytes"
	"context"

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
	const most = 2
	if n := len(conditions); n == 0 || n > most {
		return nil, item.Invalid("Conditions can be of length 1 or 2 only")
	}
	p, err := s.newPage(scope, &in.listing, params, "QueryFilter", in.QueryFilter)
	if err != nil {
		return nil, err
	}
	if err := params.Unused(); err != nil {
		return nil, err
	}
	p.backward = in.Forward != nil && !*in.Forward
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
	if keys.Range == "" && len(conditions) > 1 {
		return item.Invalid("Query key condition not supported")
	}
	for _, name := range keys.names() {
		c, ok := conditions[name]
		if !ok {
			if name == keys.Hash || len(conditions) > 1 {
				return item.Invalid("Query condition missed key schema element: " + name)
			}
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
		if name == keys.Hash && c.Operator != expression.Equal {
			return item.Invalid("Query key condition not supported")
		}
	}
	partition := conditions[keys.Hash].Values[0]
	prefix := appendPartition(p.prefix(), partition)
	p.within(prefix)
	sort, sorted := conditions[keys.Range]
	if keys.Range == "" {
		sorted = false
	}
	if sorted {
		p.boundSort(prefix, sort)
	}
	if start == nil {
		return nil
	}
	switch {
	case sorted && (bytes.Compare(p.start, p.first) < 0 || p.end != nil && bytes.Compare(p.start, p.end) >= 0):
		if !item.Equal(start[keys.Hash], partition) {
			return item.Invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		return item.Invalid("The provided starting key does not match the range key predicate")
	case !item.Equal(start[keys.Hash], partition):
		return item.Invalid("The provided starting key is outside query boundaries based on provided conditions")
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
