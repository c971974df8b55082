package expression

import (
	"slices"

	"stepback/jsonvalue"
	"stepback/local/services/dynamodb/item"
)

const invalidParameter = item.Invalid("One or more parameter values were invalid: ")

// comparison is an operator of the legacy conditions.
type comparison struct {
	operator Operator
	operands int         // number of values; -1 for one or more
	kinds    []item.Kind // allowed kinds of values; nil for all
}

var (
	scalarKinds = []item.Kind{item.KindString, item.KindNumber, item.KindBinary}
	textKinds   = []item.Kind{item.KindString, item.KindBinary}
)

// comparisons holds the operators of the legacy conditions, by name.
var comparisons = map[string]comparison{
	"EQ": {Equal, 1, nil}, "NE": {Unequal, 1, nil}, "LE": {AtMost, 1, scalarKinds}, "LT": {Less, 1, scalarKinds},
	"GE": {AtLeast, 1, scalarKinds}, "GT": {Greater, 1, scalarKinds}, "NULL": {AttributeNotExists, 0, nil},
	"NOT_NULL": {AttributeExists, 0, nil}, "CONTAINS": {Contains, 1, scalarKinds}, "NOT_CONTAINS": {Not, 1, scalarKinds},
	"BEGINS_WITH": {BeginsWith, 1, textKinds}, "IN": {In, -1, scalarKinds}, "BETWEEN": {Between, 2, scalarKinds},
}

// compared parses {"ComparisonOperator": …, "AttributeValueList": […]}.
func compared(given jsonvalue.Value) (c comparison, values []item.Value, err error) {
	name, _ := given.Get("ComparisonOperator")
	c, ok := comparisons[name.Text()]
	if !ok {
		return c, nil, invalidParameter + "Unsupported ComparisonOperator: " + item.Invalid(name.Text())
	}
	list, _ := given.Get("AttributeValueList")
	for _, v := range list.Elements() {
		value, err := item.FromJSON(v)
		if err != nil {
			return c, nil, err
		}
		values = append(values, value)
	}
	if c.operands >= 0 && len(values) != c.operands || c.operands < 0 && len(values) == 0 {
		return c, nil, invalidParameter + "Invalid number of argument(s) for the " + item.Invalid(name.Text()) +
			" ComparisonOperator"
	}
	for _, v := range values {
		switch {
		case v.Kind != values[0].Kind:
			return c, nil, invalidParameter + "AttributeValues inside AttributeValueList must be of same type"
		case c.kinds != nil && !slices.Contains(c.kinds, v.Kind):
			return c, nil, invalidParameter + "ComparisonOperator " + item.Invalid(name.Text()) + " is not valid for " +
				item.Invalid(v.Kind.String()) + " AttributeValue type"
		}
	}
	if c.operator == Between && item.Compare(values[0], values[1]) > 0 {
		return c, nil, item.Invalid("The BETWEEN condition was provided a range where the lower bound is greater than the " +
			"upper bound")
	}
	return c, values, nil
}

func (c comparison) condition(name string, values []item.Value) *Condition {
	made := &Condition{Operator: c.operator, Operands: []Operand{{Path: Attribute(name)}}}
	for _, v := range values {
		made.Operands = append(made.Operands, Operand{Value: v})
	}
	if c.operator == Not { // for a missing attribute, neither CONTAINS nor NOT_CONTAINS holds
		made.Operator = Contains
		return &Condition{Operator: And, Conditions: []*Condition{
			{Operator: AttributeExists, Operands: made.Operands[:1]},
			{Operator: Not, Conditions: []*Condition{made}},
		}}
	}
	return made
}

// join combines conditions: all must hold, or at least one if joined is "OR".
func join(all []*Condition, joined *string) *Condition {
	if joined != nil && *joined == string(Or) {
		return &Condition{Operator: Or, Conditions: all}
	}
	return &Condition{Operator: And, Conditions: all}
}

// AttributeConditions parses conditions by attribute, as in QueryFilter and ScanFilter; joined is "AND", "OR" or nil.
// The error is an item.Invalid.
func AttributeConditions(given jsonvalue.Value, joined *string) (*Condition, error) {
	var all []*Condition
	for i, name := range given.Keys() {
		c, values, err := compared(given.At(i))
		if err != nil {
			return nil, err
		}
		all = append(all, c.condition(name, values))
	}
	return join(all, joined), nil
}

// Expected parses the conditions in the parameter Expected; joined is "AND", "OR" or nil. The error is an
// item.Invalid.
func Expected(given jsonvalue.Value, joined *string) (*Condition, error) {
	var all []*Condition
	for i, name := range given.Keys() {
		member := given.At(i)
		value, hasValue := member.Get("Value")
		exists, hasExists := member.Get("Exists")
		operator, hasOperator := member.Get("ComparisonOperator")
		list, hasList := member.Get("AttributeValueList")
		hasValue, hasExists = hasValue && !value.IsNull(), hasExists && !exists.IsNull()
		hasOperator, hasList = hasOperator && !operator.IsNull(), hasList && !list.IsNull()
		attribute := item.Invalid(name)
		switch {
		case hasOperator && (hasValue || hasExists), hasList && hasExists:
			return nil, invalidParameter + "Value or AttributeValueList, and Exists or ComparisonOperator, " +
				"cannot be used together for Attribute: " + attribute
		case hasList && !hasOperator:
			return nil, invalidParameter + "AttributeValueList can only be used with a ComparisonOperator for Attribute: " +
				attribute
		case hasOperator:
			c, values, err := compared(member)
			if err != nil {
				return nil, err
			}
			all = append(all, c.condition(name, values))
			continue
		case hasExists && !exists.Bool() && hasValue:
			return nil, invalidParameter + "Value cannot be used when Exists is false for Attribute: " + attribute
		case hasExists && !exists.Bool():
			all = append(all, comparisons["NULL"].condition(name, nil))
			continue
		case !hasValue:
			shown := item.Invalid("null")
			if hasExists {
				shown = "true"
			}
			return nil, invalidParameter + "Value must be provided when Exists is " + shown + " for Attribute: " + attribute
		}
		v, err := item.FromJSON(value)
		if err != nil {
			return nil, err
		}
		all = append(all, comparisons["EQ"].condition(name, []item.Value{v}))
	}
	return join(all, joined), nil
}

// KeyConditions parses the parameter KeyConditions. The error is an item.Invalid.
func KeyConditions(given jsonvalue.Value) (map[string]KeyCondition, error) {
	found := map[string]KeyCondition{}
	for i, name := range given.Keys() {
		c, values, err := compared(given.At(i))
		if err != nil {
			return nil, err
		}
		switch c.operator {
		case Equal, AtMost, Less, AtLeast, Greater, BeginsWith, Between:
			found[name] = KeyCondition{c.operator, values}
		default:
			return nil, item.Invalid("Attempted conditional constraint is not an indexable operation")
		}
	}
	return found, nil
}

// AttributeUpdates parses the parameter AttributeUpdates. The error is an item.Invalid.
func AttributeUpdates(given jsonvalue.Value) (*Update, error) {
	u := &Update{legacy: true}
	for i, name := range given.Keys() {
		if err := item.CheckName(name); err != nil {
			return nil, err
		}
		member := given.At(i)
		action, _ := member.Get("Action")
		value, ok := member.Get("Value")
		c := change{verb: set, path: Attribute(name)}
		if !ok || value.IsNull() {
			if action.Text() != string(del) {
				return nil, invalidParameter + "Only DELETE action is allowed when no attribute value is specified"
			}
			c.verb = remove
			u.changes = append(u.changes, c)
			continue
		}
		v, err := item.FromJSON(value)
		if err != nil {
			return nil, err
		}
		c.value = &term{value: v}
		switch action.Text() {
		case string(del):
			if c.verb = del; v.Kind.Element() == item.KindNone {
				return nil, invalidParameter + "DELETE action with value is not supported for the type " +
					item.Invalid(v.Kind.String())
			}
		case string(add):
			c.verb = add
			if v.Kind == item.KindList {
				c.verb, c.value = set, &term{operator: "list_append", terms: []*term{
					{operator: "if_not_exists", terms: []*term{{path: c.path}, {value: item.Value{Kind: item.KindList}}}}, {value: v}}}
			} else if v.Kind != item.KindNumber && v.Kind.Element() == item.KindNone {
				return nil, invalidParameter + "ADD action is not supported for the type " + item.Invalid(v.Kind.String())
			}
		}
		u.changes = append(u.changes, c)
	}
	return u, nil
}
