package plan

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// Choice is a compiled Choice state.
type Choice struct {
	Rules   []Rule
	Default *State
}

// Rule is one compiled top-level rule. In JSONata it has a Condition; in JSONPath it is evaluated by Matches.
type Rule struct {
	Next      *State
	Assign    *Payload
	Output    *expression.Value // JSONata
	Condition *expression.Value // JSONata
	test      test
}

// Lookup returns the value that a path selects in the current input, context object or variables.
type Lookup interface {
	Lookup(p *jsonpath.Path) (jsonvalue.Value, error)
}

// Matches evaluates a rule in JSONPath. It returns an error if a Variable or operand path selects nothing.
func (r *Rule) Matches(env Lookup) (bool, error) { return r.test.eval(env) }

type test interface {
	eval(env Lookup) (bool, error)
}

func choice(s *asl.State, states map[string]*State) (*Choice, error) {
	c := &Choice{}
	if s.Default != "" {
		if c.Default = states[s.Default]; c.Default == nil {
			return nil, fmt.Errorf("the field Default names %q, which is not one of the States beside it", s.Default)
		}
	}
	for i := range s.Choices {
		r, err := rule(dialect(s.QueryLanguage), &s.Choices[i], fmt.Sprintf("Choices[%d]/", i), states)
		if err != nil {
			return nil, fmt.Errorf("rule Choices[%d]: %w", i, err)
		}
		c.Rules = append(c.Rules, r)
	}
	return c, nil
}

// rule compiles a top-level rule; at is its position in the state.
func rule(d dialect, r *asl.Rule, at string, states map[string]*State) (Rule, error) {
	c := Rule{Next: states[r.Next]}
	if c.Next == nil {
		return c, fmt.Errorf("the field Next names %q, which is not one of the States beside it", r.Next)
	}
	var err error
	if c.Assign, err = d.payload(at+"Assign", r.Assign); err != nil {
		return c, err
	}
	if c.Output, err = d.value(at+"Output", r.Output); err != nil {
		return c, err
	}
	if c.Condition, err = d.value(at+"Condition", r.Condition); err != nil || c.Condition != nil {
		return c, err
	}
	c.test, err = compileTest(r)
	return c, err
}

func compileTest(r *asl.Rule) (test, error) {
	switch {
	case r.And != nil:
		return compileAll(r.And, true)
	case r.Or != nil:
		return compileAll(r.Or, false)
	case r.Not != nil:
		t, err := compileTest(r.Not)
		return not{t}, err
	default:
		return compileComparison(r)
	}
}

func compileAll(rules []asl.Rule, and bool) (test, error) {
	g := group{and: and}
	for i := range rules {
		t, err := compileTest(&rules[i])
		if err != nil {
			return nil, err
		}
		g.tests = append(g.tests, t)
	}
	return g, nil
}

type not struct{ test }

func (n not) eval(env Lookup) (bool, error) {
	ok, err := n.test.eval(env)
	return !ok, err
}

type group struct {
	and   bool
	tests []test
}

func (g group) eval(env Lookup) (bool, error) {
	for _, t := range g.tests {
		ok, err := t.eval(env)
		if err != nil {
			return false, err
		}
		if ok != g.and {
			return ok, nil
		}
	}
	return g.and, nil
}

// comparison is one operator applied to a variable.
type comparison struct {
	variable *jsonpath.Path
	operator operator
	operand  jsonvalue.Value
	path     *jsonpath.Path // for the …Path operators
}

type operator func(variable, operand jsonvalue.Value) bool

func compileComparison(r *asl.Rule) (test, error) {
	v, err := jsonpath.Compile(r.Variable)
	if err != nil {
		return nil, fmt.Errorf("the field Variable: %w", err)
	}
	if r.Operator == "IsPresent" {
		return present{v, r.Operand.Bool()}, nil
	}
	c := comparison{variable: v, operand: r.Operand}
	name := r.Operator
	if isPath(name) {
		name = strings.TrimSuffix(name, "Path")
		if c.path, err = jsonpath.Compile(r.Operand.Text()); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Operator, err)
		}
	}
	var ok bool
	if c.operator, ok = operators[name]; !ok {
		return nil, fmt.Errorf("unknown operator %q", r.Operator)
	}
	if name == "StringMatches" {
		pattern := compileWildcard(r.Operand.Text())
		c.operator = func(v, _ jsonvalue.Value) bool {
			return v.Kind() == jsonvalue.String &&
				pattern.matches(v.Text())
		}
	}
	return c, nil
}

func (c comparison) eval(env Lookup) (bool, error) {
	v, err := env.Lookup(c.variable)
	if err != nil {
		return false, err
	}
	operand := c.operand
	if c.path != nil {
		if operand, err = env.Lookup(c.path); err != nil {
			return false, err
		}
	}
	return c.operator(v, operand), nil
}

type present struct {
	variable *jsonpath.Path
	want     bool
}

func (p present) eval(env Lookup) (bool, error) {
	_, err := env.Lookup(p.variable)
	var missing *jsonpath.NotFoundError
	if err != nil && !errors.As(err, &missing) {
		return false, err
	}
	return (err == nil) == p.want, nil
}

var operators = map[string]operator{
	"BooleanEquals": func(v, o jsonvalue.Value) bool {
		return v.Kind() == jsonvalue.Bool && o.Kind() == jsonvalue.Bool && v.Bool() == o.Bool()
	},
	"StringMatches": nil, // compiled with its pattern
	"IsNull":        isKind(func(v jsonvalue.Value) bool { return v.IsNull() }),
	"IsString":      isKind(func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.String }),
	"IsNumeric":     isKind(func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.Number }),
	"IsBoolean":     isKind(func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.Bool }),
	"IsTimestamp": isKind(func(v jsonvalue.Value) bool {
		if v.Kind() != jsonvalue.String {
			return false
		}
		_, ok := ParseTimestamp(v.Text())
		return ok
	}),
}

func init() { //nolint:gochecknoinits // the table of fifteen ordered operators is the product of two short lists
	for suffix, holds := range map[string]func(order int) bool{
		"Equals":            func(o int) bool { return o == 0 },
		"LessThan":          func(o int) bool { return o < 0 },
		"LessThanEquals":    func(o int) bool { return o <= 0 },
		"GreaterThan":       func(o int) bool { return o > 0 },
		"GreaterThanEquals": func(o int) bool { return o >= 0 },
	} {
		operators["String"+suffix] = func(v, o jsonvalue.Value) bool {
			return v.Kind() == jsonvalue.String && o.Kind() == jsonvalue.String &&
				holds(compareUTF16(v.Text(), o.Text()))
		}
		operators["Numeric"+suffix] = func(v, o jsonvalue.Value) bool {
			return v.Kind() == jsonvalue.Number && o.Kind() == jsonvalue.Number && holds(jsonvalue.CompareNumbers(v, o))
		}
		operators["Timestamp"+suffix] = func(v, o jsonvalue.Value) bool {
			a, okA := timestamp(v)
			b, okB := timestamp(o)
			return okA && okB && holds(a.Compare(b))
		}
	}
}

func timestamp(v jsonvalue.Value) (time.Time, bool) {
	if v.Kind() != jsonvalue.String {
		return time.Time{}, false
	}
	return ParseTimestamp(v.Text())
}

func isKind(is func(jsonvalue.Value) bool) operator {
	return func(v, want jsonvalue.Value) bool { return is(v) == want.Bool() }
}
