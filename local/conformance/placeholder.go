package conformance

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Names fills the placeholders of one run of a case. It is safe for concurrent use, which background programs need.
type Names struct {
	Account, Region string
	Now             time.Time

	mu      sync.Mutex
	answers map[int]any
	fresh   map[string]string
}

// Answered makes a step's response available to the placeholders of later steps.
func (n *Names) Answered(step int, answer any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[int]any{}
	}
	n.answers[step] = answer
}

var placeholder = regexp.MustCompile(`⟦([^⟧]*)⟧`)

// Text fills the placeholders of a text. Placeholders that occur only in expected responses are kept.
func (n *Names) Text(s string) string {
	if !strings.Contains(s, "⟦") {
		return s
	}
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		if v, ok := n.value(strings.Trim(p, "⟦⟧")); ok {
			return v
		}
		return p
	})
}

func (n *Names) value(name string) (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case name == "account":
		return n.Account, true
	case name == "region":
		return n.Region, true
	case strings.HasPrefix(name, "now+"):
		days, err := strconv.Atoi(strings.Trim(name, "now+d"))
		return n.Now.UTC().AddDate(0, 0, days).Format("2006-01-02T15:04:05"), err == nil
	case strings.HasPrefix(name, "u"):
		if n.fresh == nil {
			n.fresh = map[string]string{}
		}
		if n.fresh[name] == "" {
			n.fresh[name] = fmt.Sprintf("%08x", rand.Uint32())
		}
		return n.fresh[name], true
	case strings.HasPrefix(name, "s"):
		return n.property(strings.Split(name[1:], "."))
	default:
		return "", false
	}
}

// property follows a path into the response of an earlier step.
func (n *Names) property(path []string) (string, bool) {
	step, err := strconv.Atoi(path[0])
	if err != nil {
		return "", false
	}
	v, ok := follow(n.answers[step], path[1:])
	if !ok {
		return "", false
	}
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	default:
		return "", false
	}
}

// follow returns the value at a path of members and list elements. At $json it parses JSON text and continues
// inside.
func follow(v any, path []string) (any, bool) {
	for _, p := range path {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[p]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			v = at[i]
		case string:
			next, ok := parse(at)
			if p != "$json" || !ok {
				return nil, false
			}
			v = next
		default:
			return nil, false
		}
	}
	return v, true
}

// Params fills the placeholders of a call's parameters and turns {"$json": X} into the text of X.
func (n *Names) Params(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return n.Text(v), nil
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = n.Params(e); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		return n.object(v)
	default:
		return v, nil
	}
}

func (n *Names) object(o map[string]any) (any, error) {
	if b, ok := o["$bytes"].(string); ok && len(o) == 1 {
		return n.Text(b), nil
	}
	out := make(map[string]any, len(o))
	for k, e := range o {
		filled, err := n.Params(e)
		if err != nil {
			return nil, err
		}
		out[n.Text(k)] = filled
	}
	if v, ok := out["$json"]; ok && len(out) == 1 {
		return plain(v)
	}
	return out, nil
}

// plain returns the JSON text of a value, without HTML escapes.
func plain(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}
