package statemachines

import (
	"maps"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// variableReferences returns the names of the variables that each state's own fields read, keyed by state. It
// returns nil if there are none.
func variableReferences(definition string) map[string][]string {
	v, err := jsonvalue.Parse(definition)
	if err != nil {
		return nil
	}
	found := map[string][]string{}
	collectGraph(v, languageOf(v, asl.JSONPath), found)
	if len(found) == 0 {
		return nil
	}
	return found
}

func languageOf(v jsonvalue.Value, outer asl.QueryLanguage) asl.QueryLanguage {
	if l, ok := v.Get("QueryLanguage"); ok {
		return asl.QueryLanguage(l.Text())
	}
	return outer
}

func collectGraph(graph jsonvalue.Value, language asl.QueryLanguage, found map[string][]string) {
	states, _ := graph.Get("States")
	for _, name := range states.Keys() {
		state, _ := states.Get(name)
		r := references{language: languageOf(state, language), names: map[string]bool{}}
		for _, field := range state.Keys() {
			v, _ := state.Get(field)
			switch field {
			case "Branches":
				for _, b := range v.Elements() {
					collectGraph(b, language, found)
				}
			case "ItemProcessor", "Iterator":
				collectGraph(v, language, found)
			case "Result", "Comment":
			default:
				r.collect(field, v)
			}
		}
		if len(r.names) > 0 {
			found[name] = slices.Sorted(maps.Keys(r.names))
		}
	}
}

// references collects the variables that a state reads.
type references struct {
	language asl.QueryLanguage
	names    map[string]bool
}

func (r *references) collect(key string, v jsonvalue.Value) {
	switch v.Kind() {
	case jsonvalue.Object:
		for _, k := range v.Keys() {
			member, _ := v.Get(k)
			r.collect(k, member)
		}
	case jsonvalue.Array:
		for _, e := range v.Elements() {
			r.collect(key, e)
		}
	case jsonvalue.String:
		r.text(key, v.Text())
	default: // nothing else contains references
	}
}

var (
	pathVariable    = lazyregexp.New(`(\$+)(\pL[\pL\pN_]*)`)
	jsonataVariable = lazyregexp.New(`(\$+)([\pL_][\pL\pN_]*)(\s*\()?`)
	pathLiteral     = lazyregexp.New(`'(\\.|[^'\\])*'`)
	jsonataLiteral  = lazyregexp.New(`"(\\.|[^"\\])*"|'(\\.|[^'\\])*'`)
)

// text collects the variables that one string refers to. In JSONPath, only paths and the values of template keys can
// refer to variables; in JSONata, only expressions can, and a name before a parenthesis is a function.
func (r *references) text(key, s string) {
	if r.language == asl.JSONata {
		if !strings.HasPrefix(s, "{%") {
			return
		}
		for _, m := range jsonataVariable.FindAllStringSubmatch(jsonataLiteral.ReplaceAllString(s, `""`), -1) {
			if m[1] == "$" && m[2] != "states" && m[3] == "" {
				r.names[m[2]] = true
			}
		}
		return
	}
	if !strings.HasSuffix(key, ".$") && !strings.HasSuffix(key, "Path") && key != "Variable" {
		return
	}
	for _, m := range pathVariable.FindAllStringSubmatch(pathLiteral.ReplaceAllString(s, "''"), -1) {
		if m[1] == "$" {
			r.names[m[2]] = true
		}
	}
}
