package expression

import (
	"strings"

	"stepback/local/services/dynamodb/item"
)

// KeyCondition is a query's condition on one key attribute.
type KeyCondition struct {
	Operator Operator // =, <, <=, >, >=, BETWEEN or begins_with
	Values   []item.Value
}

// ParseKeyCondition parses a key condition expression to the conditions on each key attribute. The caller has to
// check that these are the keys of the table. The error is an item.Invalid.
func ParseKeyCondition(text string, params *Parameters) (map[string]KeyCondition, error) {
	c, err := ParseCondition("KeyConditionExpression", text, params)
	if err != nil {
		return nil, err
	}
	found := map[string]KeyCondition{}
	return found, keys(c, found)
}

const ofKeys = "KeyConditionExpression"

func keys(c *Condition, found map[string]KeyCondition) error {
	switch c.Operator {
	case And:
		for _, part := range c.Conditions {
			if err := keys(part, found); err != nil {
				return err
			}
		}
		return nil
	case Or, Not, In, Unequal, AttributeExists, AttributeNotExists, AttributeType, Contains:
		return item.Invalid("Invalid operator used in " + ofKeys + ": " + string(c.Operator))
	case Between, BeginsWith:
		if c.Operands[0].Path == nil {
			name := string(c.Operator)
			if c.Operator == Between {
				name += " operator"
			}
			return item.Invalid("Invalid condition in " + ofKeys + ": " + strings.TrimSuffix(name, " operator") +
				" operator must have the key attribute as its first operand")
		}
	default:
	}
	name, at := "", 0
	for i, o := range c.Operands {
		switch {
		case o.Size:
			return item.Invalid("KeyConditionExpressions cannot contain nested operations")
		case o.Path == nil:
			continue
		case name != "":
			return item.Invalid("Invalid condition in " + ofKeys + ": Multiple attribute names used in one condition")
		case len(o.Path) > 1:
			return item.Invalid("KeyConditionExpressions cannot have conditions on nested attributes")
		}
		name, at = o.Path[0].Name, i
	}
	if name == "" {
		return item.Invalid("Invalid condition in " + ofKeys + ": No key attribute specified")
	}
	if _, ok := found[name]; ok {
		return item.Invalid("KeyConditionExpressions must only contain one condition per key")
	}
	k := KeyCondition{Operator: c.Operator}
	for i, o := range c.Operands {
		if i != at {
			k.Values = append(k.Values, o.Value)
		}
	}
	if at != 0 {
		turned := map[Operator]Operator{Less: Greater, AtMost: AtLeast, Greater: Less, AtLeast: AtMost}
		if o, ok := turned[k.Operator]; ok {
			k.Operator = o
		}
	}
	found[name] = k
	return nil
}
