package apigateway

import (
	"net/url"
	"slices"
	"strings"
)

const (
	defaultRoute = "$default"
	defaultStage = "$default"
)

// pattern is a compiled route key.
type pattern struct {
	method   string // empty for $default; ANY matches all methods
	segments []segment
}

// The kinds of segments, the most specific first.
const (
	literal = iota
	variable
	greedy
)

type segment struct {
	kind int
	text string // the literal, or the name of the variable
}

var methods = []string{"ANY", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"}

// compile parses a route key: $default, or METHOD /path/{variable}/{greedy+}.
func compile(key string) (*pattern, error) {
	if key == defaultRoute {
		return &pattern{}, nil
	}
	method, path, ok := strings.Cut(key, " ")
	if !ok || !slices.Contains(methods, method) || !strings.HasPrefix(path, "/") {
		return nil, invalid("The provided route key is not formatted properly for HTTP protocol. Format should be " +
			"\"<HTTP METHOD> /<RESOURCE PATH>\" or \"$default\"")
	}
	p := &pattern{method: method}
	var names []string
	parts := strings.Split(path[1:], "/")
	for i, part := range parts {
		s := segment{literal, part}
		if name, is := strings.CutPrefix(part, "{"); is && strings.HasSuffix(name, "}") {
			s = segment{variable, strings.TrimSuffix(name, "}")}
			if name, is := strings.CutSuffix(s.text, "+"); is {
				s = segment{greedy, name}
			}
		}
		switch {
		case s.kind == greedy && i != len(parts)-1:
			return nil, invalid("Invalid route key: the greedy path variable {%s+} has to be the last part of the path", s.text)
		case s.kind != literal && s.text == "" || strings.ContainsAny(s.text, "{}+") && s.kind != literal ||
			s.kind == literal && strings.ContainsAny(s.text, "{}"):
			return nil, invalid("Invalid route key: %s is no path part or variable like {name}", part)
		case s.kind != literal && slices.Contains(names, s.text):
			return nil, invalid("Invalid route key: there are several path variables named %s", s.text)
		}
		if s.kind != literal {
			names = append(names, s.text)
		}
		p.segments = append(p.segments, s)
	}
	return p, nil
}

// match reports whether the route matches a request, and returns the values of the path's variables. path is escaped.
func (p *pattern) match(method, path string) (variables map[string]string, ok bool) {
	if p.method == "" {
		return nil, true
	}
	if p.method != "ANY" && p.method != method {
		return nil, false
	}
	rest := strings.TrimPrefix(path, "/")
	for i, s := range p.segments {
		part, behind, more := strings.Cut(rest, "/")
		last := i == len(p.segments)-1
		if s.kind == greedy {
			part, more = rest, false
		}
		text, err := url.PathUnescape(part)
		if err != nil || last == more || s.kind == literal && text != s.text || s.kind != literal && part == "" {
			return nil, false
		}
		if s.kind != literal {
			if variables == nil {
				variables = map[string]string{}
			}
			variables[s.text] = text
		}
		rest = behind
	}
	return variables, true
}

// moreSpecific reports whether a route is more specific than another one that matches the same request. It compares
// the paths part by part, then the methods.
func (p *pattern) moreSpecific(other *pattern) bool {
	if p.method == "" || other.method == "" {
		return p.method != ""
	}
	for i := range min(len(p.segments), len(other.segments)) {
		if a, b := p.segments[i].kind, other.segments[i].kind; a != b {
			return a < b
		}
	}
	return p.method != "ANY" && other.method == "ANY"
}

// compile compiles the route keys of a deployment.
func (d *deployment) compile() error {
	d.compiled = make([]*pattern, len(d.Routes))
	for i, r := range d.Routes {
		p, err := compile(r.RouteKey)
		if err != nil {
			return err
		}
		d.compiled[i] = p
	}
	return nil
}

// find returns the most specific route for a request; nil if there is none.
func (d *deployment) find(method, path string) (found *route, variables map[string]string) {
	var best *pattern
	for i, p := range d.compiled {
		if in, ok := p.match(method, path); ok && (best == nil || p.moreSpecific(best)) {
			best, found, variables = p, d.Routes[i], in
		}
	}
	return found, variables
}
