//go:build !lean

package handlers

import (
	"slices"
	"strings"

	"github.com/grafana/sobek/ast"
)

// created collects the facts of a new object.
func (r *jsReader) created(x *ast.NewExpression, at place) {
	v := r.resolve(x.Callee, at.env, 0)
	if at.durable && at.step == nil && v.global == "Date" && len(x.ArgumentList) == 0 {
		r.called(call{kind: impure, what: "new Date()", at: r.span(x), via: at.via})
	}
	r.arguments(x.ArgumentList, at)
}

// impureGlobals are functions of the platform that return another value each time.
var impureGlobals = map[string]bool{
	"Date":                         true,
	"Date.now":                     true,
	"Math.random":                  true,
	"performance.now":              true,
	"crypto.randomUUID":            true,
	"crypto.getRandomValues":       true,
	"process.hrtime":               true,
	"process.hrtime.bigint":        true,
	"globalThis.crypto.randomUUID": true,
}

// impureModules are the functions of modules that return another value each time; an empty list stands for all.
var impureModules = map[string][]string{
	"crypto": {"randomUUID", "randomBytes", "randomInt", "getRandomValues", "webcrypto.getRandomValues"},
	"uuid":   {"v1", "v4", "v6", "v7"}, "nanoid": {"nanoid", "customAlphabet"}, "ulid": {"ulid", "monotonicFactory"},
	"cuid": {"default"}, "@paralleldrive/cuid2": {"createId"}, "perf_hooks": {"performance.now"},
}

// effectModules are modules whose functions call the outside. nil stands for all functions.
var effectModules = map[string][]string{
	"axios":         nil,
	"got":           nil,
	"node-fetch":    nil,
	"undici":        {"fetch", "request", "stream", "pipeline"},
	"ky":            nil,
	"superagent":    nil,
	"http":          {"get", "request"},
	"https":         {"get", "request"},
	"child_process": {"exec", "execSync", "execFile", "execFileSync", "spawn", "spawnSync", "fork"},
	"fs":            nil,
	"fs/promises":   nil,
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
	if names, ok := impureModules[module]; ok && slices.Contains(names, name) {
		c.kind, c.what = impure, name
		return
	}
	if names, ok := effectModules[module]; ok && (names == nil || slices.Contains(names, name)) && !readOnly[name] {
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
