//go:build !lean

package handlers

import (
	"math"
	"strings"
	"time"

	"github.com/grafana/sobek/ast"
	"github.com/grafana/sobek/token"

	"stepback/asl/source"
	"stepback/retry"
)

// atMostOnce reports whether an operation's configuration has the semantics AtMostOncePerRetry.
func (r *jsReader) atMostOnce(config ast.Expression, env *scope) bool {
	v := r.resolve(config, env, 0)
	o, ok := v.expr.(*ast.ObjectLiteral)
	if !ok {
		return false
	}
	p, found, _ := r.property(o, v.env, "semantics")
	if !found {
		return false
	}
	of := r.resolve(p.expr, p.env, 0)
	text, _ := of.expr.(*ast.StringLiteral)
	return of.from != nil && of.from.name == "StepSemantics.AtMostOncePerRetry" ||
		text != nil && text.Value.String() == "AT_MOST_ONCE_PER_RETRY"
}

// strategyOf returns the strategy in a member of an operation's configuration.
func (r *jsReader) strategyOf(config ast.Expression, member string, at source.Span, env *scope) strategy {
	if config == nil {
		return preset("default", at)
	}
	v := r.resolve(config, env, 0)
	o, ok := v.expr.(*ast.ObjectLiteral)
	if !ok {
		return strategy{at: at}
	}
	p, found, open := r.property(o, v.env, member)
	switch {
	case open && !found:
		return strategy{at: at}
	case !found:
		return preset("default", at)
	}
	return r.strategy(p.expr, p.env, r.span(p.expr))
}

// strategy returns the strategy that an expression stands for.
func (r *jsReader) strategy(e ast.Expression, env *scope, at source.Span) strategy {
	v := r.resolve(e, env, 0)
	if v.fn != nil {
		return r.custom(v.fn, at)
	}
	if v.from != nil && v.from.module == sdkOfJavaScript {
		switch v.from.name {
		case "retryPresets.default":
			return preset("default", at)
		case "retryPresets.linear":
			return preset("linear", at)
		case "retryPresets.noRetry":
			return preset("none", at)
		}
	}
	c, ok := v.expr.(*ast.CallExpression)
	if !ok {
		return strategy{at: at}
	}
	of := r.resolve(c.Callee, v.env, 0)
	if of.from == nil || of.from.module != sdkOfJavaScript {
		return strategy{at: at}
	}
	name := map[string]string{"createRetryStrategy": "exponential", "createLinearRetryStrategy": "linear-helper"}[of.from.name]
	d, ok := retry.DurablePreset(name)
	if !ok {
		return strategy{at: at}
	}
	if len(c.ArgumentList) == 0 {
		return ofPolicy(d, at)
	}
	return r.configured(d, c.ArgumentList[0], v.env, at)
}

// configured returns the strategy of a helper with a configuration.
func (r *jsReader) configured(d retry.Durable, config ast.Expression, env *scope, at source.Span) strategy {
	v := r.resolve(config, env, 0)
	o, ok := v.expr.(*ast.ObjectLiteral)
	if !ok {
		return strategy{at: at}
	}
	s := strategy{at: at, attempts: d.MaxAttempts, jitter: jitterName(d.Jitter)}
	timed := true
	get := func(name string) (value, bool) {
		p, found, open := r.property(o, v.env, name)
		if !found && open {
			timed = false
			switch name {
			case "maxAttempts":
				s.attempts = 0
			case "jitter":
				s.jitter = ""
			}
		}
		return p, found
	}
	if p, found := get("maxAttempts"); found {
		n, known := r.number(p, 0)
		switch {
		case !known:
			s.attempts = 0
		case n > math.MaxInt32:
			s.attempts = unlimited
		default:
			s.attempts = max(int(n), 1)
		}
	}
	for name, field := range map[string]*time.Duration{"initialDelay": &d.InitialDelay, "maxDelay": &d.MaxDelay, "increment": &d.Increment} {
		if p, found := get(name); found {
			var known bool
			*field, known = r.duration(p)
			timed = timed && known
		}
	}
	if p, found := get("backoffRate"); found {
		var known bool
		d.Rate, known = r.number(p, 0)
		timed = timed && known
	}
	if p, found := get("jitter"); found {
		s.jitter = r.jitter(p)
	}
	if timed && s.attempts > 0 && s.jitter != "" {
		d.MaxAttempts = s.attempts
		d.Jitter = map[string]retry.Jitter{"NONE": retry.JitterNone, "HALF": retry.JitterPartial, "FULL": retry.JitterFull}[s.jitter]
		s.wait = d.LongestWait()
	}
	return s
}

// jitter returns the name of a jitter strategy; "" if it is unknown.
func (r *jsReader) jitter(p value) string {
	v := r.resolve(p.expr, p.env, 0)
	name := ""
	if v.from != nil {
		name = strings.TrimPrefix(v.from.name, "JitterStrategy.")
	} else if text, ok := v.expr.(*ast.StringLiteral); ok {
		name = text.Value.String()
	}
	if name == "NONE" || name == "HALF" || name == "FULL" {
		return name
	}
	return ""
}

// number returns the number that an expression stands for.
func (r *jsReader) number(p value, depth int) (float64, bool) {
	v := r.resolve(p.expr, p.env, 0)
	switch {
	case depth > deepest:
		return 0, false
	case v.global == "Infinity", v.global == "Number.POSITIVE_INFINITY", v.global == "Number.MAX_SAFE_INTEGER",
		v.global == "Number.MAX_VALUE":
		return math.Inf(1), true
	}
	switch x := v.expr.(type) {
	case *ast.NumberLiteral:
		switch n := x.Value.(type) {
		case int64:
			return float64(n), true
		case float64:
			return n, true
		}
	case *ast.BinaryExpression:
		a, known := r.number(value{expr: x.Left, env: v.env}, depth+1)
		b, also := r.number(value{expr: x.Right, env: v.env}, depth+1)
		if !known || !also {
			return 0, false
		}
		switch x.Operator {
		case token.PLUS:
			return a + b, true
		case token.MINUS:
			return a - b, true
		case token.MULTIPLY:
			return a * b, true
		case token.SLASH:
			return a / b, b != 0
		default:
			return 0, false
		}
	}
	return 0, false
}

// duration returns the time that an object such as { minutes: 5 } stands for.
func (r *jsReader) duration(p value) (time.Duration, bool) {
	v := r.resolve(p.expr, p.env, 0)
	o, ok := v.expr.(*ast.ObjectLiteral)
	if !ok {
		return 0, false
	}
	sum := 0.0
	for name, seconds := range map[string]float64{"days": 86400, "hours": 3600, "minutes": 60, "seconds": 1} {
		of, found, open := r.property(o, v.env, name)
		if open {
			return 0, false
		}
		if found {
			n, known := r.number(of, 0)
			if !known {
				return 0, false
			}
			sum += n * seconds
		}
	}
	const most = 366 * 86400 // the longest delay of an execution
	return time.Duration(min(max(sum, 0), most) * float64(time.Second)), true
}

// custom returns what is known of a strategy that is a function of the program: whether it ever declines, and whether a
// random number is in its delays.
func (r *jsReader) custom(fn *jsFunc, at source.Span) strategy {
	s := strategy{at: at, custom: true}
	decisions, declines, waits, random := 0, false, false, false
	var look func(n ast.Node)
	look = func(n ast.Node) {
		switch x := n.(type) {
		case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral, *ast.ThrowStatement:
			declines = true // not followed
		case *ast.ObjectLiteral:
			again, found, open := r.property(x, fn.env, "shouldRetry")
			if !found {
				again, found, _ = r.property(x, fn.env, "shouldContinue")
			}
			if found || open {
				decisions++
				literal, ok := again.expr.(*ast.BooleanLiteral)
				declines = declines || !ok || !literal.Value
			}
			if _, found, _ := r.property(x, fn.env, "delay"); found {
				waits = true
			}
		case *ast.ReturnStatement:
			if _, literal := x.Argument.(*ast.ObjectLiteral); !literal {
				_, chosen := x.Argument.(*ast.ConditionalExpression)
				declines = declines || !chosen
			}
		case *ast.CallExpression:
			callee := unwrapped(x.Callee)
			v := r.resolve(callee, fn.env, 0)
			_, direct := callee.(*ast.Identifier) // what another function returns is unknown
			random = random || direct || v.from != nil || v.global == "Math.random" ||
				strings.HasPrefix(v.global, "crypto.")
		}
		children(n, look)
	}
	look(fn.body)
	switch {
	case decisions > 0 && !declines:
		s.attempts = unlimited
	case decisions > 0 && !waits && onlyDeclines(r, fn):
		s.attempts = 1
	}
	if waits && !random {
		s.jitter = "NONE"
	}
	return s
}

// onlyDeclines reports whether every decision of a strategy is literally false.
func onlyDeclines(r *jsReader, fn *jsFunc) bool {
	only := true
	var look func(n ast.Node)
	look = func(n ast.Node) {
		if o, ok := n.(*ast.ObjectLiteral); ok {
			if again, found, _ := r.property(o, fn.env, "shouldRetry"); found {
				literal, ok := again.expr.(*ast.BooleanLiteral)
				only = only && ok && !literal.Value
			}
		}
		children(n, look)
	}
	look(fn.body)
	return only
}
