package dynamodb

import (
	"errors"

	"slices"
	"strings"

	"stepback/jsonvalue"
	"stepback/local/services/dynamodb/expression"
	"stepback/local/services/dynamodb/item"
)

// placeholders holds the names and values for a request's expressions.
type placeholders struct {
	Names  map[string]string `json:"ExpressionAttributeNames"`
	Values jsonvalue.Value   `json:"ExpressionAttributeValues"`
}

// given is a request parameter, and whether it is present.
type given struct {
	name  string
	there bool
}

func names(all []given) (there []string) {
	for _, g := range all {
		if g.there {
			there = append(there, g.name)
		}
	}
	return there
}

// check rejects parameters that must not be given together, and returns the parameters for the expressions. Values
// require an expression other than the projection.
func (p *placeholders) check(expressions, legacy []given) (*expression.Parameters, error) {
	there, old := names(expressions), names(legacy)
	if len(there) > 0 && len(old) > 0 {
		return nil, item.Invalid("Can not use both expression and non-expression parameters in the same request: " +
			"Non-expression parameters: {" + strings.Join(old, ", ") + "} Expression parameters: {" +
			strings.Join(there, ", ") + "}")
	}
	if p.Names != nil && len(there) == 0 {
		return nil, item.Invalid("ExpressionAttributeNames can only be specified when using expressions")
	}
	if p.Values.IsNull() {
		return expression.NewParameters(p.Names, nil)
	}
	with := slices.DeleteFunc(slices.Clone(expressions), func(g given) bool { return g.name == "ProjectionExpression" })
	if len(names(with)) == 0 {
		all := make([]string, len(with))
		for i, g := range with {
			all[i] = g.name
		}
		verb := "is"
		if len(all) > 1 {
			verb = "are"
		}
		return nil, item.Invalid("ExpressionAttributeValues can only be specified when using expressions: " +
			strings.Join(all, " and ") + " " + verb + " null")
	}
	values := make(item.Item, p.Values.Len())
	for i, name := range p.Values.Keys() {
		v, err := item.FromJSON(p.Values.At(i))
		if errors.Is(err, item.ErrBase64) {
			return nil, err
		}
		if err != nil {
			return nil, item.Invalid("ExpressionAttributeValues contains invalid value: " + err.Error() + " for key " + name)
		}
		values[name] = v
	}
	return expression.NewParameters(p.Names, values)
}

// conditional is a request with a condition.
type conditional struct {
	placeholders
	Condition *string         `json:"ConditionExpression"`
	Expected  jsonvalue.Value // the legacy form of a condition
	Joined    *string         `json:"ConditionalOperator"`
	OnFailure string          `json:"ReturnValuesOnConditionCheckFailure"`
}

// legacy returns the legacy parameters, in the order in which errors list them.
func (c *conditional) legacy() []given {
	return []given{{"Expected", !c.Expected.IsNull()}, {"ConditionalOperator", c.Joined != nil}}
}

// condition returns the parsed condition; nil if there is none.
func (c *conditional) condition(params *expression.Parameters) (*expression.Condition, error) {
	switch {
	case c.Condition != nil:
		return expression.ParseCondition("ConditionExpression", *c.Condition, params)
	case c.Expected.Len() > 0:
		return expression.Expected(c.Expected, c.Joined)
	case c.Joined != nil:
		return nil, item.Invalid("ConditionalOperator cannot be used without Expected")
	}
	return nil, nil
}

// tellsOld reports whether the error of a failed condition contains the item.
func (c *conditional) tellsOld() bool { return c.OnFailure == "ALL_OLD" }

const (
	returnNone       = "NONE"
	returnAllOld     = "ALL_OLD"
	returnAllNew     = "ALL_NEW"
	returnUpdatedOld = "UPDATED_OLD"
	returnUpdatedNew = "UPDATED_NEW"
)

// returned returns the attributes to return for a write.
func returned(m *mutation, values string) item.Item {
	switch values {
	case returnAllOld:
		return m.old
	case returnAllNew:
		return m.new
	case returnUpdatedOld, returnUpdatedNew:
		of := m.old
		if values == returnUpdatedNew {
			of = m.new
		}
		if of == nil {
			return nil
		}
		shown := expression.NewProjection(m.update.Paths()...).Of(of)
		if len(shown) == 0 {
			return nil
		}
		return shown
	default:
		return nil
	}
}

func allOldOrNone(values string) error {
	if values != "" && values != returnNone && values != returnAllOld {
		return item.Invalid("ReturnValues can only be ALL_OLD or NONE")
	}
	return nil
}
