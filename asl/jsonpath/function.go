package jsonpath

import (
	"strings"

	"stepback/jsonvalue"
)

// functionStep calls a path function on the node reached so far: $.list.length(). The next step continues with the
// result.
type functionStep struct {
	name      string
	call      function
	arguments []argument
}

// function computes a path function from the node v and the values of the call's arguments. Each family of
// functions has its own file.
type function func(v jsonvalue.Value, arguments []jsonvalue.Value) (jsonvalue.Value, error)

var functions = map[string]function{
	"length": length,
	"size":   length,
	"keys":   keys,
	"append": appendValues,
	"concat": concat,
	"sum":    sum,
	"avg":    average,
	"min":    minimum,
	"max":    maximum,
	"stddev": deviation,
	"first":  first,
	"last":   last,
	"index":  elementAt,
}

// argument is a constant or a path from the root.
type argument struct {
	constant jsonvalue.Value
	path     *steps
}

func (s *functionStep) definite(bool) bool { return true }

func (s *functionStep) scans(*evaluation, int, jsonvalue.Value) (bool, error) { return false, nil }

func (s *functionStep) apply(e *evaluation, i int, v jsonvalue.Value) error {
	arguments, err := s.evaluate(e)
	if err != nil {
		return err
	}
	if err := e.budget.spend(s.cost(v, arguments)); err != nil {
		return err
	}
	result, err := s.call(v, arguments)
	if err != nil {
		return err
	}
	// Jayway records the result of every call, even of one in the middle of a chain. The result of a definite path
	// is the last one recorded.
	if err := e.result(result); err != nil || e.leaf(i) {
		return err
	}
	return e.from(i+1, result)
}

// cost returns the visits that a call takes: one for each element, and for concat those of the texts that it copies.
func (s *functionStep) cost(v jsonvalue.Value, arguments []jsonvalue.Value) int {
	measure := jsonvalue.Value.Len
	if s.name == "concat" {
		measure = func(v jsonvalue.Value) int { return 4 * weight(v) }
	}
	n := measure(v)
	for _, a := range arguments {
		n += measure(a)
	}
	return n
}

func (s *functionStep) evaluate(e *evaluation) ([]jsonvalue.Value, error) {
	if len(s.arguments) == 0 {
		return nil, nil
	}
	values := make([]jsonvalue.Value, len(s.arguments))
	for i, a := range s.arguments {
		if a.path == nil {
			values[i] = a.constant
			continue
		}
		inner := evaluation{steps: a.path, root: e.root, quiet: e.quiet, budget: e.budget}
		v, err := inner.run(e.root)
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

func (s *functionStep) appendTo(b *strings.Builder) {
	b.WriteString("." + s.name)
	if len(s.arguments) > 0 {
		b.WriteString("(...)")
	} else {
		b.WriteString("()")
	}
}

// invertScan converts $..a.sum() to $.sum($..a). In a path that begins with recursive descent, a function at the
// end applies to all results together, not to each one.
func invertScan(list []step) []step {
	if len(list) == 0 {
		return list
	}
	_, scanFirst := list[0].(*scanStep)
	_, functionLast := list[len(list)-1].(*functionStep)
	if !scanFirst || !functionLast {
		return list
	}
	at := 0
	for {
		if _, ok := list[at].(*functionStep); ok {
			break
		}
		at++
	}
	inner := newSteps(list[:at:at], false)
	call := *list[at].(*functionStep)
	call.arguments = withLengthOfMembers(call.name, []argument{{path: &inner}})
	return append([]step{&call}, list[at+1:]...)
}

// withLengthOfMembers makes length(path) count the members of the value that the path selects.
func withLengthOfMembers(name string, arguments []argument) []argument {
	if name != "length" && name != "size" || len(arguments) == 0 {
		return arguments
	}
	path := arguments[0].path
	if path == nil || path.function || len(path.list) == 0 {
		return arguments
	}
	members := newSteps(append(path.list[:len(path.list):len(path.list)], &wildcardStep{}), path.atItem)
	arguments[0].path = &members
	return arguments
}
