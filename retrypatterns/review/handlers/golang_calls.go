package handlers

import (
	"go/ast"
	"go/token"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/asl/source"
	"stepback/retry"
)

// call collects the facts of a call.
func (g *goReader) call(x *ast.CallExpr, at goPlace) {
	of, name := g.named(x.Fun)
	switch {
	case of == sdkOfGo && operations[name]:
		g.operation(x, name, at)
		return
	case of != "":
		g.ofPackage(x, of, name, at)
	default:
		g.method(x, at)
	}
	switch fn := g.function(x.Fun).(type) {
	case nil:
		if id, ok := x.Fun.(*ast.Ident); ok && g.info.Uses[id] == nil { // in another file of the package
			g.skipped(id.Name)
		}
	case *ast.FuncLit:
		if _, direct := x.Fun.(*ast.FuncLit); direct {
			g.run(fn, at)
			break
		}
		g.run(fn, g.from(x, at))
	default:
		g.run(fn, g.from(x, at))
	}
	if s, ok := x.Fun.(*ast.SelectorExpr); ok {
		g.visit(&ast.ExprStmt{X: s.X}, at)
	}
	g.arguments(x.Args, at)
}

// from returns the place of a function that is called.
func (g *goReader) from(x *ast.CallExpr, at goPlace) goPlace {
	if at.via == 0 {
		at.via = g.line(g.offset(x.Pos()))
	}
	return at
}

// arguments visits the arguments of a call. Functions among them count as called.
func (g *goReader) arguments(list []ast.Expr, at goPlace) {
	for _, a := range list {
		if fn := g.function(a); fn != nil {
			g.run(fn, at)
			continue
		}
		g.visit(&ast.ExprStmt{X: a}, at)
	}
}

// operation collects the facts of an operation of the SDK.
func (g *goReader) operation(x *ast.CallExpr, name string, at goPlace) {
	if at.step != nil {
		g.called(call{kind: operation, what: "durable." + name, at: g.span(x), step: at.step, via: at.via})
		return
	}
	n := 2 // context, name, function
	switch name {
	case "Map":
		n = 3
	case "Step",
		"StepAsync",
		"WaitForCondition",
		"WaitForCallback",
		"RunInChildContext",
		"RunInChildContextAsync",
		"Go",
		"Retry",
		"Parallel",
		"Select":
	default:
		g.arguments(x.Args[min(1, len(x.Args)):], at)
		return
	}
	if len(x.Args) <= n {
		return
	}
	g.arguments(x.Args[1:n], at)
	options := x.Args[n+1:]
	switch name {
	case "Step", "StepAsync", "WaitForCallback":
		s := g.newStep(x, name, at)
		g.options(s, options)
		g.inStep(x.Args[n], s, at)
	case "WaitForCondition":
		s := g.newStep(x, name, at)
		s.retry = strategy{at: s.at, attempts: 1} // a failed check fails the operation
		if len(options) > 0 {
			if w := g.members(options[0])["WaitStrategy"]; w != nil {
				if fn := g.function(w); fn != nil {
					of := g.custom(fn, g.span(w))
					s.waits = &of
				}
			}
		}
		g.inStep(x.Args[n], s, at)
	case "Retry":
		s := g.newStep(x, name, at)
		s.block = true
		if len(options) > 0 {
			s.retry = g.strategy(options[0], g.span(options[0]))
		}
		at.around = append(at.around[:len(at.around):len(at.around)], s)
		g.body(x.Args[n], at)
	case "Parallel", "Select":
		list, ok := g.resolve(x.Args[n]).(*ast.CompositeLit)
		if !ok {
			g.skipped("the branches of " + name)
			return
		}
		for _, b := range list.Elts {
			if fn := g.members(b)["Func"]; fn != nil {
				g.body(fn, at)
			}
		}
	default:
		g.body(x.Args[n], at)
	}
}

func (g *goReader) newStep(x *ast.CallExpr, kind string, at goPlace) *step {
	s := &step{kind: kind, at: g.span(x), around: at.around, loop: at.loop}
	s.name, _ = literal(g.resolve(x.Args[1]))
	for _, other := range g.steps { // the same call, reached in another way
		if other.at == s.at {
			return other
		}
	}
	g.steps = append(g.steps, s)
	return s
}

// inStep visits the body of a step.
func (g *goReader) inStep(e ast.Expr, s *step, at goPlace) {
	at.step, at.via = s, 0
	g.body(e, at)
}

// body visits the function of an operation.
func (g *goReader) body(e ast.Expr, at goPlace) {
	fn := g.function(e)
	if fn == nil {
		g.skipped(g.described(e))
		return
	}
	g.run(fn, at)
}

// described names a function that is not followed.
func (g *goReader) described(e ast.Expr) string {
	if of, name := g.named(e); of != "" {
		return name + " of " + of
	}
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return x.Sel.Name
	}
	return "a computed function"
}

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

// impurePackages are the functions of packages that return another value each time; nil stands for all but the
// constructors of seeded generators.
var impurePackages = map[string][]string{
	"time": {
		"Now",
		"Since",
		"Until",
	},
	"math/rand":    nil,
	"math/rand/v2": nil,
	"crypto/rand":  {"Read", "Int", "Prime", "Text"},
	"github.com/google/uuid": {
		"New",
		"NewString",
		"NewRandom",
		"NewUUID",
		"NewV6",
		"NewV7",
	},
	"github.com/rs/xid":        {"New"},
	"github.com/oklog/ulid/v2": {"Make", "MustNew"},
	"github.com/gofrs/uuid":    {"NewV1", "NewV4", "NewV6", "NewV7"},
}

// seeded are the functions of math/rand that make a generator with a given seed.
var seeded = []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf"}

// effectPackages are the functions of packages that call the outside.
var effectPackages = map[string][]string{
	"net/http": {"Get", "Head", "Post", "PostForm"},
	"os": {
		"WriteFile",
		"ReadFile",
		"Create",
		"CreateTemp",
		"Open",
		"OpenFile",
		"Remove",
		"RemoveAll",
		"Rename",
		"Mkdir",
		"MkdirAll",
		"MkdirTemp",
		"Truncate",
		"Symlink",
		"Link",
	},
	"os/exec":   {"Command", "CommandContext"},
	"net":       {"Dial", "DialTimeout", "Listen", "LookupHost"},
	"net/smtp":  {"SendMail"},
	"io/ioutil": {"WriteFile", "ReadFile"},
}

// retryPackages are libraries that retry.
var retryPackages = []string{
	"github.com/cenkalti/backoff",
	"github.com/avast/retry-go",
	"github.com/sethvargo/go-retry",
	"github.com/failsafe-go/failsafe-go",
	"github.com/hashicorp/go-retryablehttp",
	"stepback/resilience",
}

const awsServices = "github.com/aws/aws-sdk-go-v2/service/"

// ofPackage collects the facts of a call of another package's function.
func (g *goReader) ofPackage(x *ast.CallExpr, of, name string, at goPlace) {
	c := call{at: g.span(x), step: at.step, via: at.via}
	short := path.Base(of)
	if majorVersion.MatchString(short) {
		short = path.Base(path.Dir(of))
	}
	impureNames, ok := impurePackages[of]
	switch {
	case ok && (impureNames == nil && !slices.Contains(seeded, name) || slices.Contains(impureNames, name)):
		c.kind, c.what = impure, short+"."+name
	case slices.Contains(effectPackages[of], name):
		c.kind, c.what = effect, short+"."+name
		if of == "net/http" && strings.HasPrefix(name, "Post") {
			c.repeats, c.hint = true, "send the request with http.NewRequest and an Idempotency-Key header made from the input"
		}
	case of == "net/http" && strings.HasPrefix(name, "NewRequest"):
		g.request(x, &c, name, at)
	case slices.ContainsFunc(retryPackages, func(p string) bool { return of == p || strings.HasPrefix(of, p+"/") }) &&
		(strings.HasPrefix(name, "Do") || strings.HasPrefix(name, "Retry") || name == "Run" || name == "Get" || name == "Constant" ||
			name == "Exponential"):
		c.kind, c.what = retries, short+"."+name
	case !isStandard(of) && of != sdkOfGo && !strings.HasPrefix(of, "github.com/aws/"):
		g.skipped(name + " of " + of)
	}
	if c.kind != 0 {
		g.called(c)
	}
}

// request describes an HTTP request that is about to be sent. It is an effect where it is made, because what sends it
// has no name that the file shows.
func (g *goReader) request(x *ast.CallExpr, c *call, name string, at goPlace) {
	n := 0
	if name == "NewRequestWithContext" {
		n = 1
	}
	if len(x.Args) <= n {
		return
	}
	method, known := literal(g.resolve(x.Args[n]))
	if _, constant := g.named(g.resolve(x.Args[n])); constant != "" {
		method, known = strings.ToUpper(strings.TrimPrefix(constant, "Method")), true
	}
	c.kind, c.what = effect, "http."+name
	c.repeats = known && (method == "POST" || method == "PATCH") && !setsKey(at.body)
	c.hint = "set an Idempotency-Key header made from the input"
}

// setsKey reports whether a function sets an Idempotency-Key header.
func setsKey(body *ast.BlockStmt) (sets bool) {
	if body == nil {
		return false
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			if text, ok := literal(e); ok && strings.EqualFold(text, "Idempotency-Key") {
				sets = true
			}
		}
		return !sets
	})
	return sets
}

// databaseMethods are the methods of database/sql that send a statement.
var databaseMethods = []string{
	"Exec",
	"ExecContext",
	"Query",
	"QueryContext",
	"QueryRow",
	"QueryRowContext",
	"Begin",
	"BeginTx",
}

// method collects the facts of a call of a method: of a client of the AWS SDK, which its input names, of an HTTP
// client, or of a database.
func (g *goReader) method(x *ast.CallExpr, at goPlace) {
	s, ok := x.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	c := call{at: g.span(x), step: at.step, via: at.via}
	name := s.Sel.Name
	of := g.awsInput(x, name)
	switch {
	case of != "":
		service := serviceOf("client-" + of)
		action := lowerFirst(name)
		c.kind, c.what = effect, service+":"+action
		c.attempts = defaultAttempts(service)
		for _, p := range []string{"", of} {
			if n, ok := g.attempts[p]; ok {
				c.attempts = n
			}
		}
		members := g.members(x.Args[1])
		has := func(name string) bool {
			for key := range members {
				if strings.EqualFold(key, name) {
					return true
				}
			}
			return false
		}
		text := func(name string) (string, bool) {
			v := members[name]
			if wrapped, ok := v.(*ast.CallExpr); ok && len(wrapped.Args) == 1 { // aws.String("…")
				v = wrapped.Args[0]
			}
			if v == nil {
				return "", false
			}
			return literal(g.resolve(v))
		}
		c.repeats, c.hint = repeatsWork(service, action, has, text)
	case g.isHTTPClient(s.X) && slices.Contains([]string{"Do", "Get", "Head", "Post", "PostForm"}, name):
		if name == "Do" && at.step != nil {
			return // the request that is made before says what it does
		}
		c.kind, c.what = effect, "http.Client."+name
		c.repeats, c.hint = strings.HasPrefix(
			name,
			"Post",
		), "send the request with http.NewRequest and an Idempotency-Key header made from the input"
	case g.imports("database/sql") && slices.Contains(databaseMethods, name) && !g.isPackage(s.X):
		c.kind, c.what = effect, name+" of database/sql"
	default:
		return
	}
	g.called(c)
}

func (g *goReader) isPackage(e ast.Expr) bool { return g.packageOf(e) != "" }

func (g *goReader) imports(of string) bool {
	return slices.ContainsFunc(
		g.tree.Imports,
		func(i *ast.ImportSpec) bool { return i.Path.Value == strconv.Quote(of) },
	)
}

// isHTTPClient reports whether an expression is http.DefaultClient, or a variable that is defined as a client.
func (g *goReader) isHTTPClient(e ast.Expr) bool {
	if of, name := g.named(e); of == "net/http" && name == "DefaultClient" {
		return true
	}
	c, ok := g.resolve(e).(*ast.CompositeLit)
	if !ok {
		return false
	}
	of, name := g.named(c.Type)
	return of == "net/http" && name == "Client"
}

// awsInput returns the service of a call client.Action(ctx, &service.ActionInput{…}); "" for other calls.
func (g *goReader) awsInput(x *ast.CallExpr, action string) string {
	if len(x.Args) < 2 {
		return ""
	}
	c, ok := g.resolve(x.Args[1]).(*ast.CompositeLit)
	if !ok {
		return ""
	}
	of, name := g.named(c.Type)
	if !strings.HasPrefix(of, awsServices) || name != action+"Input" {
		return ""
	}
	return path.Base(of)
}

// clientAttempts records the attempts that clients of the AWS SDK are configured to make: by WithRetryMaxAttempts for
// all, or by RetryMaxAttempts or NopRetryer in the options of a service's client.
func (g *goReader) clientAttempts(x *ast.CallExpr) {
	of, name := g.named(x.Fun)
	switch {
	case strings.HasPrefix(of, "github.com/aws/aws-sdk-go-v2/config") && name == "WithRetryMaxAttempts" && len(x.Args) == 1:
		if n, known := g.number(x.Args[0], 0); known {
			g.attempts[""] = max(int(min(n, 1000)), 1)
		}
	case strings.HasPrefix(of, awsServices) && (name == "NewFromConfig" || name == "New"):
		ast.Inspect(x, func(n ast.Node) bool {
			switch a := n.(type) {
			case *ast.AssignStmt:
				for i, left := range a.Lhs {
					if s, ok := left.(*ast.SelectorExpr); ok && s.Sel.Name == "RetryMaxAttempts" && i < len(a.Rhs) {
						if n, known := g.number(a.Rhs[i], 0); known {
							g.attempts[path.Base(of)] = max(int(min(n, 1000)), 1)
						}
					}
				}
			case *ast.SelectorExpr:
				if a.Sel.Name == "NopRetryer" {
					g.attempts[path.Base(of)] = 1
				}
			}
			return true
		})
	}
}
