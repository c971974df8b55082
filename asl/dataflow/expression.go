package dataflow

import (
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/intrinsic"
	"stepback/asl/jsonata"
	"stepback/asl/jsonpath"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

// expression is a value of a state that is evaluated: a JSONata expression, a path or an intrinsic call.
type expression struct {
	at         source.Path
	jsonata    bool
	reads      []string // variables
	unknown    []string // functions that do not exist
	known      []string // functions that exist, if unknown is not empty
	mismatches []jsonata.Mismatch
}

// expressionsOf returns the expressions of a state, without those of the states inside it.
func expressionsOf(s *asl.State, raw jsonvalue.Value, at source.Path) []expression {
	w := walker{jsonata: s.QueryLanguage == asl.JSONata}
	w.members(raw, at, true)
	return w.found
}

// plain are the members of a state and of what belongs to it that are not evaluated.
var plain = []string{"Comment", "Type", "QueryLanguage", "Next", "Default", "End", "Resource", "Retry", "Label", "ErrorEquals",
	"ResultPath", "Branches", "ItemProcessor", "Iterator"}

// parts are members that are objects with fields of the language, such as a path, and not payloads.
var parts = []string{"Not", "ItemReader", "ReaderConfig", "ItemBatcher", "ResultWriter", "WriterConfig"}

type walker struct {
	jsonata bool
	found   []expression
}

// members walks the members of an object. own is true for a state, a catcher and a choice rule, in which some members
// are not evaluated.
func (w *walker) members(v jsonvalue.Value, at source.Path, own bool) {
	presence, _ := v.Get("IsPresent")
	for i, key := range v.Keys() {
		value, here := v.At(i), at.Join(source.Member(key))
		switch {
		case own && (slices.Contains(plain, key) || key == "Result" && !w.jsonata):
		case own && (key == "Catch" || key == "Choices" || key == "And" || key == "Or"):
			for k, e := range value.Elements() {
				w.members(e, here.Join(source.Element(k)), true)
			}
		case own && slices.Contains(parts, key):
			w.members(value, here, true)
		case value.Kind() == jsonvalue.String && w.jsonata:
			w.expression(value.Text(), here)
		case value.Kind() == jsonvalue.String:
			if own && key == "Variable" && presence.Kind() == jsonvalue.Bool {
				continue // asks whether it is there
			}
			if strings.HasSuffix(key, ".$") || own && (key == "Variable" || strings.HasSuffix(key, "Path")) {
				w.path(value.Text(), here)
			}
		default:
			w.value(value, here)
		}
	}
}

// value walks a value inside a payload.
func (w *walker) value(v jsonvalue.Value, at source.Path) {
	switch v.Kind() {
	case jsonvalue.Object:
		w.members(v, at, false)
	case jsonvalue.Array:
		for i, e := range v.Elements() {
			w.value(e, at.Join(source.Element(i)))
		}
	case jsonvalue.String:
		if w.jsonata {
			w.expression(v.Text(), at)
		}
	default: // numbers, booleans and null are not evaluated
	}
}

// expression adds a JSONata expression.
func (w *walker) expression(text string, at source.Path) {
	body, opened := strings.CutPrefix(text, "{%")
	body, closed := strings.CutSuffix(body, "%}")
	if !opened || !closed {
		return
	}
	x, err := jsonata.Compile(body, jsonata.WithStepFunctions())
	if err != nil {
		return
	}
	e := expression{at: at, jsonata: true, mismatches: x.Mismatches()}
	for _, v := range x.FreeVariables() {
		switch {
		case v.Name == "states":
		case v.Called || v.Name == "eval":
			e.unknown, e.known = append(e.unknown, v.Name), x.Functions()
		case !v.Tested:
			e.reads = append(e.reads, v.Name)
		}
	}
	w.found = append(w.found, e)
}

// path adds a path or an intrinsic call.
func (w *walker) path(text string, at source.Path) {
	e := expression{at: at}
	if intrinsic.IsCall(text) {
		call, err := intrinsic.Compile(text)
		if err != nil {
			return
		}
		for _, p := range call.Paths() {
			if p.Root() == jsonpath.Variable {
				e.reads = append(e.reads, p.Variable())
			}
		}
	} else if name := variableOf(text); name != "" {
		e.reads = []string{name}
	}
	if len(e.reads) > 0 {
		w.found = append(w.found, e)
	}
}

// variableOf returns the variable from which a path starts; "" if it starts elsewhere or is no path.
func variableOf(text string) string {
	if !strings.HasPrefix(text, "$") {
		return ""
	}
	p, err := jsonpath.Compile(text)
	if err != nil {
		return ""
	}
	return p.Variable()
}
