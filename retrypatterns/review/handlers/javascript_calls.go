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

// call collects the facts of a call.
func (r *jsReader) call(x *ast.CallExpression, at place) {
	callee := unwrapped(x.Callee)
	if d, ok := callee.(*ast.DotExpression); ok && at.durable {
		if left := r.resolve(d.Left, at.env, 0); left.context {
			r.operation(x, d.Identifier.Name.String(), at)
			return
		}
	}
	v := r.resolve(callee, at.env, 0)
	if v.from != nil && v.from.module == sdkOfJavaScript {
		switch v.from.name {
		case "withDurableExecution":
			r.wrapped(x, at)
			return
		case "withRetry":
			if at.durable {
				r.block(x, at)
				return
			}
		}
	}
	if at.durable {
		r.outside(x, callee, v, at)
	}
	if v.fn != nil {
		next := at
		if at.via == 0 {
			next.via = r.line(r.span(x).Start)
		}
		if _, literal := callee.(*ast.Identifier); !literal {
			next.via = at.via // called where it is written
		}
		r.runs(v.fn, -1, next, x.ArgumentList...)
	} else if d, ok := callee.(*ast.DotExpression); ok {
		r.visit(d.Left, at)
	} else if _, ok := callee.(*ast.Identifier); !ok {
		r.visit(callee, at)
	}
	r.arguments(x.ArgumentList, at)
}

// arguments visits the arguments of a call. Functions among them count as called.
func (r *jsReader) arguments(list []ast.Expression, at place) {
	for _, a := range list {
		if v := r.resolve(a, at.env, 0); v.fn != nil {
			r.runs(v.fn, -1, at)
			continue
		}
		r.visit(a, at)
	}
}

func unwrapped(e ast.Expression) ast.Expression {
	for {
		switch x := e.(type) {
		case *ast.OptionalChain:
			e = x.Expression
		case *ast.Optional:
			e = x.Expression
		default:
			return e
		}
	}
}

// wrapped visits a function that the SDK makes durable.
func (r *jsReader) wrapped(x *ast.CallExpression, at place) {
	if len(x.ArgumentList) == 0 {
		return
	}
	v := r.resolve(x.ArgumentList[0], at.env, 0)
	r.file.functions++
	if v.fn == nil {
		r.skipped(r.described(x.ArgumentList[0], v))
		return
	}
	r.runs(v.fn, 1, place{durable: true})
}

// described names a function that is not followed.
func (r *jsReader) described(e ast.Expression, v value) string {
	name := "a computed function"
	switch x := unwrapped(e).(type) {
	case *ast.Identifier:
		name = x.Name.String()
	case *ast.DotExpression:
		name = x.Identifier.Name.String()
	}
	if v.from != nil {
		return name + " of " + v.from.module
	}
	return name
}

// bodyArgument is the number of the argument with the function of an operation, if its optional name is given.
var bodyArgument = map[string]int{"step": 1, "runInChildContext": 1, "waitForCallback": 1, "waitForCondition": 1, "map": 2,
	"parallel": 1}

// operation collects the facts of an operation of a durable context.
func (r *jsReader) operation(x *ast.CallExpression, name string, at place) {
	n, hasBody := bodyArgument[name]
	args := x.ArgumentList
	if at.step != nil && (hasBody || name == "wait" || name == "invoke" || name == "createCallback") {
		r.called(call{kind: operation, what: "context." + name, at: r.span(x), step: at.step, via: at.via})
		r.arguments(args, at)
		return
	}
	if !hasBody {
		r.arguments(args, at)
		return
	}
	if !r.named(name, args, at) {
		n--
	}
	for i := range min(n, len(args)) { // the name and the items
		r.visit(args[i], at)
	}
	if n >= len(args) || n < 0 {
		return
	}
	var config ast.Expression
	if n+1 < len(args) {
		config = args[n+1]
	}
	switch name {
	case "runInChildContext":
		r.body(args[n], at)
	case "map":
		r.body(args[n], at)
	case "parallel":
		r.branches(args[n], at)
	case "step", "waitForCallback":
		s := r.newStep(name, x, args, n, at)
		s.retry = r.strategyOf(config, "retryStrategy", s.at, at.env)
		s.atMostOnce = r.atMostOnce(config, at.env)
		r.inStep(args[n], s, at)
	case "waitForCondition":
		s := r.newStep(name, x, args, n, at)
		s.retry = strategy{at: s.at, attempts: 1} // a failed check fails the operation
		if w := r.strategyOf(config, "waitStrategy", s.at, at.env); w.custom {
			s.waits = &w
		}
		r.inStep(args[n], s, at)
	}
}

// named reports whether the arguments of an operation begin with its name.
func (r *jsReader) named(operation string, args []ast.Expression, at place) bool {
	if len(args) < 2 {
		return false
	}
	if operation == "map" {
		return r.resolve(args[1], at.env, 0).fn == nil && len(args) > 2
	}
	switch v := r.resolve(args[0], at.env, 0); x := v.expr.(type) {
	case *ast.StringLiteral, *ast.TemplateLiteral, *ast.BinaryExpression, *ast.NullLiteral:
		return true
	case *ast.ArrayLiteral:
		return operation != "parallel"
	case *ast.Identifier:
		if x.Name.String() == "undefined" {
			return true
		}
		return v.fn == nil && v.from == nil
	default:
		return v.fn == nil
	}
}

func (r *jsReader) newStep(kind string, x *ast.CallExpression, args []ast.Expression, body int, at place) *step {
	s := &step{kind: kind, at: r.span(x), around: at.around, loop: at.loop}
	if body > 0 {
		if text, ok := r.resolve(args[body-1], at.env, 0).expr.(*ast.StringLiteral); ok {
			s.name = text.Value.String()
		}
	}
	for _, other := range r.steps { // the same call, reached in another way
		if other.at == s.at {
			return other
		}
	}
	r.steps = append(r.steps, s)
	return s
}

// inStep visits the body of a step.
func (r *jsReader) inStep(e ast.Expression, s *step, at place) {
	at.step, at.via = s, 0
	v := r.resolve(e, at.env, 0)
	if v.fn == nil {
		r.skipped(r.described(e, v))
		return
	}
	r.runs(v.fn, -1, at)
}

// body visits a function that receives a durable context as its first parameter.
func (r *jsReader) body(e ast.Expression, at place) {
	v := r.resolve(e, at.env, 0)
	if v.fn == nil {
		r.skipped(r.described(e, v))
		return
	}
	r.runs(v.fn, 0, at)
}

// branches visits the branches of parallel: functions, or objects with a name and a function.
func (r *jsReader) branches(e ast.Expression, at place) {
	v := r.resolve(e, at.env, 0)
	list, ok := v.expr.(*ast.ArrayLiteral)
	if !ok {
		r.visit(e, at)
		r.skipped("the branches of parallel")
		return
	}
	at.env = v.env
	for _, b := range list.Value {
		of := r.resolve(b, at.env, 0)
		if o, ok := of.expr.(*ast.ObjectLiteral); ok {
			if f, found, _ := r.property(o, of.env, "func"); found {
				inside := at
				inside.env = f.env
				r.body(f.expr, inside)
			}
			continue
		}
		r.body(b, at)
	}
}

// block visits withRetry(context, name, function, config).
func (r *jsReader) block(x *ast.CallExpression, at place) {
	args := x.ArgumentList
	if len(args) < 3 {
		return
	}
	n := 2
	if r.resolve(args[1], at.env, 0).fn != nil {
		n = 1
	}
	var config ast.Expression
	if n+1 < len(args) {
		config = args[n+1]
	}
	s := r.newStep("withRetry", x, args, n, at)
	s.block, s.retry = true, r.strategyOf(config, "retryStrategy", s.at, at.env)
	at.around = append(at.around[:len(at.around):len(at.around)], s)
	r.body(args[n], at)
}

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
			random = random || direct || v.from != nil || v.global == "Math.random" || strings.HasPrefix(v.global, "crypto.")
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

// created collects the facts of a new object.
func (r *jsReader) created(x *ast.NewExpression, at place) {
	v := r.resolve(x.Callee, at.env, 0)
	if at.durable && at.step == nil && v.global == "Date" && len(x.ArgumentList) == 0 {
		r.called(call{kind: impure, what: "new Date()", at: r.span(x), via: at.via})
	}
	r.arguments(x.ArgumentList, at)
}

// impureGlobals are functions of the platform that return another value each time.
var impureGlobals = map[string]bool{"Date": true, "Date.now": true, "Math.random": true, "performance.now": true, "crypto.randomUUID": true,
	"crypto.getRandomValues": true, "process.hrtime": true, "process.hrtime.bigint": true, "globalThis.crypto.randomUUID": true}

// impureModules are the functions of modules that return another value each time; an empty list stands for all.
var impureModules = map[string][]string{
	"crypto": {"randomUUID", "randomBytes", "randomInt", "getRandomValues", "webcrypto.getRandomValues"},
	"uuid":   {"v1", "v4", "v6", "v7"}, "nanoid": {"nanoid", "customAlphabet"}, "ulid": {"ulid", "monotonicFactory"},
	"cuid": {"default"}, "@paralleldrive/cuid2": {"createId"}, "perf_hooks": {"performance.now"},
}

// effectModules are modules whose functions call the outside. nil stands for all functions.
var effectModules = map[string][]string{
	"axios": nil, "got": nil, "node-fetch": nil, "undici": {"fetch", "request", "stream", "pipeline"}, "ky": nil, "superagent": nil,
	"http": {"get", "request"}, "https": {"get", "request"},
	"child_process": {"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "fork"},
	"fs":            nil, "fs/promises": nil,
}

// readOnly are functions of the file system that only inspect what the deployment package contains.
var readOnly = map[string]bool{"existsSync": true, "constants": true}

// retryModules are libraries that retry.
var retryModules = map[string]bool{"p-retry": true, "async-retry": true, "exponential-backoff": true, "ts-retry": true,
	"ts-retry-promise": true, "cockatiel": true, "retry": true, "axios-retry": true}

// outside collects the facts of a call that leaves the durable code.
func (r *jsReader) outside(x *ast.CallExpression, callee ast.Expression, v value, at place) {
	c := call{at: r.span(x), step: at.step, via: at.via}
	switch {
	case v.global == "fetch", v.global == "globalThis.fetch":
		c.kind, c.what = effect, "fetch"
		r.request(&c, x.ArgumentList, 1, at)
	case impureGlobals[v.global]:
		c.kind, c.what = impure, v.global
	case v.from != nil:
		r.ofModule(&c, x, v.from, at)
	case r.ofAWS(&c, x, callee, at):
	case v.fn == nil && v.global == "":
		if id, ok := callee.(*ast.Identifier); ok && at.env.lookup(id.Name.String()) != nil {
			r.skipped(id.Name.String())
		}
	}
	if c.kind != 0 {
		r.called(c)
	}
}

// ofModule describes a call of a module's function.
func (r *jsReader) ofModule(c *call, x *ast.CallExpression, from *imported, at place) {
	module := strings.TrimPrefix(from.module, "node:")
	name := from.name
	if names, ok := impureModules[module]; ok && has(names, name) {
		c.kind, c.what = impure, name
		return
	}
	if names, ok := effectModules[module]; ok && (names == nil || has(names, name)) && !readOnly[name] {
		c.kind, c.what = effect, module+"."+name
		if name == "default" {
			c.what = module
		}
		switch {
		case strings.HasPrefix(name, "append"):
			c.repeats, c.hint = true, "write the whole file, or look first whether the line is there"
		case name == "post" || name == "patch":
			r.request(c, x.ArgumentList, 2, at)
			c.repeats = c.repeats || !r.hasKey(x.ArgumentList, 2, at.env)
			c.hint = idempotencyKey
		case name == "default" || name == "fetch" || name == "request":
			r.request(c, x.ArgumentList, 1, at)
		}
		return
	}
	if retryModules[module] {
		c.kind, c.what = retries, module
		return
	}
	if strings.HasPrefix(from.module, ".") || strings.HasPrefix(from.module, "/") {
		if !r.ofAWS(c, x, unwrapped(x.Callee), at) {
			r.skipped(name + " of " + from.module)
		}
	}
}

func has(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// idempotencyKey is the hint for HTTP requests.
const idempotencyKey = "send an Idempotency-Key header made from the input"

// request describes an HTTP request, whose options are the argument with a number.
func (r *jsReader) request(c *call, args []ast.Expression, n int, at place) {
	if n >= len(args) {
		n = len(args) - 1
	}
	if n < 0 {
		return
	}
	v := r.resolve(args[n], at.env, 0)
	o, ok := v.expr.(*ast.ObjectLiteral)
	if !ok {
		return
	}
	p, found, _ := r.property(o, v.env, "method")
	if !found {
		return
	}
	if text, ok := r.resolve(p.expr, p.env, 0).expr.(*ast.StringLiteral); ok {
		method := strings.ToUpper(text.Value.String())
		c.repeats = (method == "POST" || method == "PATCH") && !r.hasKey(args, n, at.env)
		c.hint = idempotencyKey
	}
}

// hasKey reports whether the options of a request have an idempotency key, or may have one.
func (r *jsReader) hasKey(args []ast.Expression, n int, env *scope) bool {
	if n >= len(args) {
		return false
	}
	v := r.resolve(args[n], env, 0)
	o, ok := v.expr.(*ast.ObjectLiteral)
	if !ok {
		return true // unknown
	}
	p, found, open := r.property(o, v.env, "headers")
	if !found {
		return open
	}
	of := r.resolve(p.expr, p.env, 0)
	headers, ok := of.expr.(*ast.ObjectLiteral)
	if !ok {
		return true
	}
	_, found, open = r.property(headers, of.env, "Idempotency-Key")
	return found || open
}

// ofAWS describes a call of an AWS client: client.send(new XCommand(…)), or client.x(…) of an aggregated client. It
// returns false for other calls.
func (r *jsReader) ofAWS(c *call, x *ast.CallExpression, callee ast.Expression, at place) bool {
	d, ok := callee.(*ast.DotExpression)
	if !ok {
		return false
	}
	method := d.Identifier.Name.String()
	client, attempts := r.client(d.Left, at.env, 0)
	var input ast.Expression
	env := at.env
	switch {
	case method == "send" && len(x.ArgumentList) > 0:
		v := r.resolve(x.ArgumentList[0], at.env, 0)
		command, ok := v.expr.(*ast.NewExpression)
		switch {
		case ok:
			of := r.resolve(command.Callee, v.env, 0)
			if of.from == nil || !strings.HasPrefix(of.from.module, "@aws-sdk/") {
				return false
			}
			client = of.from.module
			method = lowerFirst(strings.TrimSuffix(of.from.name, "Command"))
			if len(command.ArgumentList) > 0 {
				input, env = command.ArgumentList[0], v.env
			}
		case client == "":
			return false
		default:
			method = "send"
		}
	case client == "" || strings.HasSuffix(method, "Destroy") || method == "destroy":
		return false
	default:
		if len(x.ArgumentList) > 0 {
			input = x.ArgumentList[0]
		}
	}
	service := serviceOf(strings.TrimPrefix(client, "@aws-sdk/"))
	method = documentAction(client, method)
	c.kind, c.what = effect, service+":"+method
	c.attempts = attempts
	if attempts == 0 {
		c.attempts = defaultAttempts(service)
	}
	r.awsInput(c, service, method, input, env)
	return true
}

// documentAction returns the action of a command of DynamoDB's document client.
func documentAction(client, method string) string {
	if client != "@aws-sdk/lib-dynamodb" {
		return method
	}
	switch method {
	case "put", "get", "update", "delete":
		return method + "Item"
	}
	return method
}

// awsInput sets whether a second call of an AWS action does the work twice. An input that is unknown counts as
// idempotent.
func (r *jsReader) awsInput(c *call, service, action string, input ast.Expression, env *scope) {
	var o *ast.ObjectLiteral
	var of value
	if input != nil {
		of = r.resolve(input, env, 0)
		var ok bool
		if o, ok = of.expr.(*ast.ObjectLiteral); !ok {
			return
		}
	}
	member := func(name string) (value, bool) {
		if o == nil {
			return value{}, false
		}
		p, found, open := r.property(o, of.env, name)
		return p, found || open
	}
	has := func(name string) bool { _, found := member(name); return found }
	text := func(name string) (string, bool) {
		p, found := member(name)
		if !found || p.expr == nil {
			return "", false
		}
		s, ok := r.resolve(p.expr, p.env, 0).expr.(*ast.StringLiteral)
		if !ok {
			return "", false
		}
		return s.Value.String(), true
	}
	c.repeats, c.hint = repeatsWork(service, action, has, text)
}

// client returns the module of the AWS client that an expression stands for, and the attempts that it is configured to
// make; "" and 0 if they are unknown.
func (r *jsReader) client(e ast.Expression, env *scope, depth int) (module string, attempts int) {
	if depth > deepest {
		return "", 0
	}
	v := r.resolve(e, env, 0)
	switch x := v.expr.(type) {
	case *ast.NewExpression:
		of := r.resolve(x.Callee, v.env, 0)
		if of.from == nil || !strings.HasPrefix(of.from.module, "@aws-sdk/client-") {
			return "", 0
		}
		if len(x.ArgumentList) == 0 {
			return of.from.module, 0
		}
		config := r.resolve(x.ArgumentList[0], v.env, 0)
		if o, ok := config.expr.(*ast.ObjectLiteral); ok {
			if p, found, _ := r.property(o, config.env, "maxAttempts"); found {
				if n, known := r.number(p, 0); known {
					return of.from.module, int(min(max(n, 1), 1000))
				}
				return of.from.module, 1 // unknown
			}
		}
		return of.from.module, 0
	case *ast.CallExpression: // DynamoDBDocumentClient.from(client)
		of := r.resolve(x.Callee, v.env, 0)
		if of.from != nil && of.from.module == "@aws-sdk/lib-dynamodb" && len(x.ArgumentList) > 0 {
			_, attempts = r.client(x.ArgumentList[0], v.env, depth+1)
			return of.from.module, attempts
		}
	}
	return "", 0
}
