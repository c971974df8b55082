package jsonata

import (
	"math"
	"time"

	"stepback/jsonvalue"
)

// Env provides everything that an expression reads from outside. Its methods are called only for what the expression
// uses.
type Env interface {
	// Root returns the document that $ and $$ refer to; false if there is none.
	Root() (jsonvalue.Value, bool)
	// Lookup returns the value of a variable, named without its dollar; false if it is unbound. It is called at most
	// once per name and evaluation.
	Lookup(name string) (jsonvalue.Value, bool)
	// Now returns the time of the evaluation, for $now, $millis and the missing parts of dates. It is called at most
	// once.
	Now() time.Time
	// Random returns 64 evenly distributed bits, for $random, $shuffle and $uuid.
	Random() uint64
}

// MemberEnv is an Env that can return a member of a variable without building the whole variable.
type MemberEnv interface {
	Env
	// Member returns a member of a variable, and whether it exists. known is false if it cannot tell.
	Member(variable, name string) (v jsonvalue.Value, exists, known bool)
}

// Limits bound an evaluation. A zero field means the default.
type Limits struct {
	// Depth limits the nesting of evaluations. A function call takes several levels, a tail call takes none. The
	// default is 5000.
	Depth int
	// Steps limits the work. A step is one node evaluated, one element created or 16 bytes of text created. The
	// default is 20 million, which takes some seconds.
	Steps int
	// Memory limits the size of an intermediate array or text. An element counts 8 bytes, and a byte of text 1. The
	// default is unlimited.
	Memory int
	// Output limits the length in bytes of the result's compact JSON text. The default is unlimited.
	Output int
}

const (
	defaultDepth = 5000
	defaultSteps = 20_000_000
)

// Option changes how an expression is compiled.
type Option func(*Expression)

// WithStepFunctions gives an expression the functions that AWS Step Functions adds: $partition, $range, $hash,
// $random with a seed, $uuid and $parse. It removes $eval. In results, numbers that JSON cannot represent become
// strings such as "Infinity".
func WithStepFunctions() Option {
	return func(x *Expression) { x.builtins, x.names = stepFunctions, true }
}

// WithLimits sets the limits of every evaluation.
func WithLimits(l Limits) Option {
	return func(x *Expression) {
		if l.Depth > 0 {
			x.limits.Depth = l.Depth
		}
		if l.Steps > 0 {
			x.limits.Steps = l.Steps
		}
		if l.Memory > 0 {
			x.limits.Memory = l.Memory
		}
		if l.Output > 0 {
			x.limits.Output = l.Output
		}
	}
}

// Expression is a compiled expression, safe for concurrent use.
type Expression struct {
	source   string
	root     *node
	builtins map[string]*native
	limits   Limits
	names    bool // results use names for numbers that JSON cannot represent
}

// Compile compiles an expression. The error is an *Error.
func Compile(text string, options ...Option) (*Expression, error) {
	x := &Expression{source: text, builtins: builtins, limits: Limits{Depth: defaultDepth, Steps: defaultSteps,
		Memory: math.MaxInt, Output: math.MaxInt}}
	for _, option := range options {
		option(x)
	}
	root, err := compile(text)
	if err != nil {
		return nil, err.finish(text)
	}
	x.root = root
	return x, nil
}

func compile(text string) (*node, *Error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	if root, err = analyse(root); err != nil {
		return nil, err
	}
	root.walk((*node).markPlain)
	return root, nil
}

// String returns the text that the expression was compiled from.
func (x *Expression) String() string { return x.source }

// ResultKind is the kind of a result.
type ResultKind uint8

// The kinds of results. The zero Result is undefined.
const (
	Undefined ResultKind = iota
	Value
	Function
)

// Result is the result of evaluating an expression.
type Result struct {
	kind  ResultKind
	value jsonvalue.Value
}

// Kind returns whether the result is undefined, a JSON value or a function.
func (r Result) Kind() ResultKind { return r.kind }

// Value returns the JSON value; null for other kinds.
func (r Result) Value() jsonvalue.Value { return r.value }

// Eval evaluates the expression. Functions inside arrays, and numbers that JSON cannot represent, become null, as
// with JSON.stringify.
//
// Eval calls two optional methods of env. If env has Err() error, like a context.Context, Eval calls it from time
// to time, and an error from it ends the evaluation. If env has Spent(steps int), Eval calls it at the end with the
// work done, in the steps of Limits.
//
// All other errors are *Error. Those of limits have the code U1001.
func (x *Expression) Eval(env Env) (Result, error) {
	ev := newEvaluator(x, env)
	if account, ok := env.(interface{ Spent(steps int) }); ok {
		defer func() { account.Spent(x.limits.Steps - ev.budget.steps) }()
	}
	var input value
	if root, ok := env.Root(); ok {
		input = fromJSON(root)
		ev.top.bind("$", input)
	}
	if list, ok := input.(*array); ok {
		input = &array{items: []value{list}, sequence: true, outer: true}
	}
	v, err := ev.eval(x.root, input, &ev.top)
	if err == nil {
		var r Result
		if r, err = ev.result(v); err == nil {
			return r, nil
		}
	}
	if ev.budget.stopped != nil {
		return Result{}, ev.budget.stopped
	}
	return Result{}, err.finish(x.source)
}

func (ev *evaluator) result(v value) (Result, *Error) {
	if err := ev.budget.spend(0); err != nil {
		return Result{}, err
	}
	switch {
	case v == nil:
		return Result{}, nil
	case isFunction(v):
		return Result{kind: Function}, nil
	}
	if err := ev.budget.measure(v, 0); err != nil {
		return Result{}, err
	}
	if ev.budget.infinite && ev.names {
		v = withNamedNumbers(v)
	}
	tree, _ := toJSON(v)
	if ev.limits.Output < math.MaxInt && !tree.FitsIn(ev.limits.Output) {
		return Result{}, limitError("The result is larger than " + formatNumber(float64(ev.limits.Output)) + " bytes")
	}
	return Result{kind: Value, value: tree}, nil
}
