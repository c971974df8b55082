package asl

import (
	"slices"
	"strings"
)

// operand is the kind of value that a choice operator compares with.
type operand uint8

const (
	noOperand operand = iota
	textOperand
	numberOperand
	booleanOperand
	timestampOperand
	pathOperand
)

// operators maps the comparison operators of choice rules to the kinds of their operands.
var operators = func() map[string]operand {
	all := map[string]operand{"StringMatches": textOperand}
	add := func(family string, kind operand, relations ...string) {
		for _, r := range relations {
			all[family+r] = kind
			all[family+r+"Path"] = pathOperand
		}
	}
	order := []string{"Equals", "LessThan", "GreaterThan", "LessThanEquals", "GreaterThanEquals"}
	add("String", textOperand, order...)
	add("Numeric", numberOperand, order...)
	add("Timestamp", timestampOperand, order...)
	add("Boolean", booleanOperand, "Equals")
	for _, test := range []string{"Null", "Present", "Numeric", "String", "Boolean", "Timestamp"} {
		all["Is"+test] = booleanOperand
	}
	return all
}()

// operatorList lists the operators' names in alphabetical order.
var operatorList = func() []string {
	names := make([]string, 0, len(operators))
	for name := range operators {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}()

func operatorNames() string { return strings.Join(operatorList, " ") }
