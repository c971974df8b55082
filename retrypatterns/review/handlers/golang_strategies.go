package handlers

import (
	"go/ast"
	"go/token"
	"math"
	"strconv"
	"strings"
	"time"

	"stepback/asl/source"
	"stepback/retry"
)

// options sets the strategy and the semantics of a step.
func (g *goReader) options(s *step, list []ast.Expr) {
	s.retry = preset("default", s.at)
	for _, o := range list {
		o = g.resolve(o)
		if all, ok := o.(*ast.CompositeLit); ok { // options...
			for _, one := range all.Elts {
				g.option(s, one)
			}
			continue
		}
		if !g.option(s, o) {
			s.retry = strategy{at: s.at} // may be a strategy
		}
	}
}

// option sets what an option says. It returns false for one that is unknown.
func (g *goReader) option(s *step, o ast.Expr) bool {
	c, ok := g.resolve(o).(*ast.CallExpr)
	if !ok {
		return false
	}
	of, name := g.named(c.Fun)
	if of != sdkOfGo || len(c.Args) == 0 {
		return false
	}
	switch {
	case strings.Contains(name, "Retry"):
		s.retry = g.strategy(c.Args[0], g.span(c.Args[0]))
	case name == "WithSemantics":
		_, semantics := g.named(g.resolve(c.Args[0]))
		s.atMostOnce = semantics == "AtMostOncePerRetry"
	}
	return true
}

// strategy returns the strategy that an expression stands for.
func (g *goReader) strategy(e ast.Expr, at source.Span) strategy {
	if fn := g.function(e); fn != nil {
		return g.custom(fn, at)
	}
	c, ok := g.resolve(e).(*ast.CallExpr)
	if !ok {
		return strategy{at: at}
	}
	of, name := g.named(c.Fun)
	if of != sdkOfGo {
		return strategy{at: at}
	}
	switch name {
	case "NoRetry":
		return preset("none", at)
	case "ExponentialBackoff":
		return preset("default", at)
	case "NewRetryStrategy", "MustNewRetryStrategy":
		d, _ := retry.DurablePreset("exponential")
		return g.configured(d, c.Args, at)
	case "LinearBackoff", "MustLinearBackoff":
		d, _ := retry.DurablePreset("linear")
		return g.configured(d, c.Args, at)
	}
	return strategy{at: at}
}

// configured returns the strategy of a helper with a configuration, whose zero values stand for the defaults.
func (g *goReader) configured(d retry.Durable, args []ast.Expr, at source.Span) strategy {
	if len(args) == 0 {
		return strategy{at: at}
	}
	if _, ok := g.resolve(args[0]).(*ast.CompositeLit); !ok {
		return strategy{at: at}
	}
	s := strategy{at: at, attempts: d.MaxAttempts, jitter: jitterName(d.Jitter)}
	timed := true
	for name, value := range g.members(args[0]) {
		n, known := g.number(value, 0)
		switch name {
		case "MaxAttempts":
			switch {
			case !known:
				s.attempts = 0
			case n > math.MaxInt32:
				s.attempts = unlimited
			case n > 0:
				s.attempts = int(n)
			}
		case "InitialDelay":
			timed = timed && set(&d.InitialDelay, n, known)
		case "MaxDelay":
			timed = timed && set(&d.MaxDelay, n, known)
		case "Increment":
			timed = timed && set(&d.Increment, n, known)
		case "BackoffRate":
			timed = timed && known
			if n > 0 {
				d.Rate = n
			}
		case "Jitter":
			_, jitter := g.named(g.resolve(value))
			s.jitter = map[string]string{"JitterNone": "NONE", "JitterHalf": "HALF", "JitterFull": "FULL"}[jitter]
		}
	}
	if timed && s.attempts > 0 && s.jitter != "" {
		d.MaxAttempts = s.attempts
		d.Jitter = map[string]retry.Jitter{"NONE": retry.JitterNone, "HALF": retry.JitterPartial, "FULL": retry.JitterFull}[s.jitter]
		s.wait = d.LongestWait()
	}
	return s
}

// set sets a duration that is given in nanoseconds; 0 leaves the default.
func set(field *time.Duration, nanoseconds float64, known bool) bool {
	if nanoseconds > 0 {
		*field = time.Duration(min(nanoseconds, 1<<62))
	}
	return known
}

// units are the durations of package time, in nanoseconds.
var units = map[string]float64{
	"Nanosecond":  1,
	"Microsecond": 1e3,
	"Millisecond": 1e6,
	"Second":      1e9,
	"Minute":      60e9,
	"Hour":        3600e9,
}

// number returns the number that an expression stands for; durations are in nanoseconds.
func (g *goReader) number(e ast.Expr, depth int) (float64, bool) {
	if depth > deepest {
		return 0, false
	}
	switch x := g.resolve(e).(type) {
	case *ast.BasicLit:
		n, err := strconv.ParseFloat(strings.ReplaceAll(x.Value, "_", ""), 64)
		return n, err == nil
	case *ast.SelectorExpr:
		switch of, name := g.named(x); of {
		case "time":
			n, ok := units[name]
			return n, ok
		case "math":
			return math.Inf(1), strings.HasPrefix(name, "Max")
		}
	case *ast.CallExpr: // time.Duration(5)
		if of, name := g.named(x.Fun); of == "time" && name == "Duration" && len(x.Args) == 1 {
			return g.number(x.Args[0], depth+1)
		}
	case *ast.BinaryExpr:
		a, known := g.number(x.X, depth+1)
		b, also := g.number(x.Y, depth+1)
		if !known || !also {
			return 0, false
		}
		switch x.Op {
		case token.ADD:
			return a + b, true
		case token.SUB:
			return a - b, true
		case token.MUL:
			return a * b, true
		case token.QUO:
			return a / b, b != 0
		default:
			return 0, false
		}
	}
	return 0, false
}

// custom returns what is known of a strategy that is a function of the program: whether it ever declines, and whether a
// random number is in its delays.
func (g *goReader) custom(fn ast.Node, at source.Span) strategy {
	s := strategy{at: at, custom: true}
	decisions, declines, waits, random, only := 0, false, false, false, true
	_, body := functionOf(fn)
	ast.Inspect(body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CompositeLit:
			kind, ok := x.Type.(*ast.SelectorExpr)
			if !ok || kind.Sel.Name != "RetryDecision" && kind.Sel.Name != "WaitDecision" {
				return true
			}
			decisions++
			m := g.members(x)
			again := m["Retry"]
			if again == nil {
				again = m["Continue"]
			}
			id, _ := again.(*ast.Ident)
			yes := id != nil && id.Name == "true"
			declines = declines || !yes
			only = only && (again == nil || id != nil && id.Name == "false")
			waits = waits || m["Delay"] != nil
		case *ast.ReturnStmt:
			for _, r := range x.Results {
				if _, ok := r.(*ast.CompositeLit); !ok {
					declines = true
				}
			}
		case *ast.CallExpr:
			of, _ := g.named(x.Fun)
			_, direct := x.Fun.(*ast.Ident)
			random = random || direct && g.function(x.Fun) != nil || of == "math/rand" || of == "math/rand/v2" ||
				of == "crypto/rand" ||
				of != "" && !isStandard(of)
		}
		return true
	})
	switch {
	case decisions > 0 && !declines:
		s.attempts = unlimited
	case decisions > 0 && only:
		s.attempts = 1
	}
	if waits && !random {
		s.jitter = "NONE"
	}
	return s
}
