package handlers

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

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
