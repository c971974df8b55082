package server

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"stepback/aws/model"
)

// router finds the operation of a request to a REST service by its method, path and query.
type router struct{ routes map[string][]*route } // by method, the most specific first

// route is the method, path and query of an operation.
type route struct {
	operation string
	segments  []segment
	query     []attribute // required parameters; an empty value matches any
	needs     []string    // parameters that should be present, because the input requires them
	weight    int         // specificity
}

// segment is a part of a path between two slashes.
type segment struct {
	literal string
	label   string // the member whose value it is; empty for a literal
	greedy  bool   // it may hold slashes
}

func newRouter(m *model.Service) (*router, error) {
	r := &router{routes: map[string][]*route{}}
	for _, name := range m.Operations() {
		o, err := m.Operation(name)
		if err != nil {
			return nil, err
		}
		made := routeOf(o)
		r.routes[o.Method] = append(r.routes[o.Method], made)
	}
	for _, routes := range r.routes {
		slices.SortStableFunc(routes, func(a, b *route) int { return b.weight - a.weight })
	}
	return r, nil
}

func routeOf(o *model.Operation) *route {
	path, query, _ := strings.Cut(o.Path, "?")
	r := &route{operation: o.Name}
	const literal, asked = 10, 100
	for _, part := range segments(path) {
		label, ok := strings.CutPrefix(part, "{")
		if !ok {
			r.segments = append(r.segments, segment{literal: part})
			r.weight += literal
			continue
		}
		label = strings.TrimSuffix(label, "}")
		name, greedy := strings.CutSuffix(label, "+")
		r.segments = append(r.segments, segment{label: name, greedy: greedy})
		r.weight++
		if greedy {
			r.weight--
		}
	}
	for _, q := range strings.FieldsFunc(query, func(c rune) bool { return c == '&' }) {
		name, value, _ := strings.Cut(q, "=")
		r.query = append(r.query, attribute{name, value})
		r.weight += asked
	}
	if o.Input != nil {
		for _, m := range o.Input.Members {
			if m.Required && m.Location == model.InQuery {
				r.needs = append(r.needs, wireName(m))
				r.weight++
			}
		}
	}
	return r
}

// segments splits a path at its slashes, ignoring those at its ends.
func segments(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// find returns the operation of a request and the values of its path labels. Of operations with the same path but
// different parameters, it returns the first one whose parameters are present, or else the last one, which will
// report them missing.
func (r *router) find(in *http.Request) (name string, labels map[string]string, ok bool) {
	path := in.URL.EscapedPath()
	parts := segments(path)
	var query url.Values
	for _, t := range r.routes[in.Method] {
		found, matches := t.match(parts, path)
		if !matches {
			continue
		}
		if query == nil {
			query = in.URL.Query()
		}
		if !t.asks(query) {
			continue
		}
		name, labels, ok = t.operation, found, true
		if !slices.ContainsFunc(t.needs, func(n string) bool { return !query.Has(n) }) {
			break
		}
	}
	return name, labels, ok
}

func (t *route) asks(query url.Values) bool {
	for _, q := range t.query {
		if !query.Has(q.name) || q.value != "" && query.Get(q.name) != q.value {
			return false
		}
	}
	return true
}

func (t *route) match(parts []string, path string) (map[string]string, bool) {
	var labels map[string]string
	for i, s := range t.segments {
		last := i == len(t.segments)-1
		switch {
		case i >= len(parts):
			return nil, false
		case s.label == "":
			if parts[i] != s.literal {
				return nil, false
			}
			continue
		}
		text := parts[i]
		if s.greedy {
			end := len(parts) - (len(t.segments) - 1 - i)
			if end <= i {
				return nil, false
			}
			text = strings.Join(parts[i:end], "/")
			if last && strings.HasSuffix(path, "/") {
				text += "/"
			}
			parts = append(parts[:i+1:i+1], parts[end:]...)
		}
		value, err := url.PathUnescape(text)
		if err != nil {
			return nil, false
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[s.label] = value
	}
	return labels, len(parts) == len(t.segments)
}
