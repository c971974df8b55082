package analysis

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/asl/source"
	"stepback/jsonvalue"
	"stepback/retrypatterns"
	"stepback/retrypatterns/tablefile"
)

// PolicyOf parses a policy file in JSON or YAML: a state machine definition, the Retry arrays of states by name as
// "retries show --json" prints them, or a retry table as read by package tablefile. AWS's rules and defaults for
// Retry arrays apply. Errors contain line and column; file is used only in error messages.
func PolicyOf(file, text string) (map[string][]retrypatterns.Retrier, error) {
	if tablefile.Looks([]byte(text)) {
		return tableOf(file, text)
	}
	yaml := !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{")
	doc := document.Read(text, document.Options{YAML: yaml})
	if asl.HasErrors(doc.Problems) {
		return nil, problems(file, doc.Problems)
	}
	root, err := jsonvalue.Parse(doc.JSON)
	switch {
	case err == nil && root.Kind() != jsonvalue.Object:
		return nil, fmt.Errorf("%s: it is not a definition, an object of Retry arrays by state, or a retry table", file)
	case err == nil && root.Len() == 0:
		return nil, fmt.Errorf("%s: it names no state; write {\"STATE\": [{\"ErrorEquals\": [...], ...}]}", file)
	}
	definition := doc.JSON
	var around *wrapping
	if _, is := root.Get("StartAt"); err == nil && !is {
		around = wrap(doc.JSON, root.Keys())
		definition = around.text.String()
	}
	machine, found := asl.Parse(definition)
	if asl.HasErrors(found) {
		return nil, problems(file, doc.Place(around.origins(found)))
	}
	states := map[string][]retrypatterns.Retrier{}
	collect(&machine.Graph, states)
	if len(states) == 0 {
		return nil, fmt.Errorf("%s: it has no Task state", file)
	}
	return states, nil
}

// tableOf parses a retry table.
func tableOf(file, text string) (map[string][]retrypatterns.Retrier, error) {
	table, err := tablefile.Read(file, []byte(text))
	if err != nil {
		return nil, err
	}
	if len(table.States) == 0 {
		return nil, fmt.Errorf("%s: the table has no state", file)
	}
	states := map[string][]retrypatterns.Retrier{}
	for _, s := range table.States {
		c, err := s.Compile()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		states[s.State] = c.Retry
	}
	return states, nil
}

// problems returns the errors of a file, each with its position. Errors that follow from an open placeholder are left
// out; if there are no others, it returns a single error for the whole file.
func problems(file string, found []asl.Diagnostic) error {
	var all []error
	for _, d := range found {
		if d.Severity != asl.SeverityError || d.Consequence {
			continue
		}
		message, _, _ := strings.Cut(strings.TrimSpace(d.Message), "\n")
		if d.Location != "" {
			message += " at " + d.Location
		}
		if d.Hint != "" {
			message += "; " + d.Hint
		}
		all = append(all, fmt.Errorf("%s:%d:%d: %s", file, d.Line, d.Column, message))
	}
	if len(all) == 0 {
		return fmt.Errorf("%s: the definition's placeholders need values", file)
	}
	return errors.Join(all...)
}

// wrapping is a definition built around Retry arrays by state.
type wrapping struct {
	text   strings.Builder
	pieces []piece
	lines  *source.Lines // of the wrapped text
}

// piece maps a span of the generated definition (made) to its origin (from).
type piece struct {
	made, from source.Span
	verbatim   bool
}

// wrap builds a definition from a JSON object of Retry arrays, with one Task for each state.
func wrap(text string, names []string) *wrapping {
	w, index := &wrapping{}, source.NewIndex(text)
	fmt.Fprintf(&w.text, `{"StartAt":%s,"States":{`, jsonvalue.OfString(names[0]).JSON())
	for i, name := range names {
		if i > 0 {
			w.text.WriteByte(',')
		}
		key, value := index.Key(source.Path{source.Member(name)}), index.Value(source.Path{source.Member(name)})
		w.write(jsonvalue.OfString(name).JSON(), key, false)
		w.write(`:{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"any"},"Retry":`, key,
			false)
		w.write(text[value.Start:value.End], value, true)
		next := `,"End":true}`
		if i+1 < len(names) {
			next = `,"Next":` + jsonvalue.OfString(names[i+1]).JSON() + "}"
		}
		w.write(next, key, false)
	}
	w.text.WriteString("}}")
	w.lines = source.NewLines(text)
	return w
}

func (w *wrapping) write(text string, from source.Span, verbatim bool) {
	start := w.text.Len()
	w.text.WriteString(text)
	w.pieces = append(w.pieces, piece{source.Span{Start: start, End: w.text.Len()}, from, verbatim})
}

// origins maps the positions of diagnostics back to the text that was wrapped.
func (w *wrapping) origins(found []asl.Diagnostic) []asl.Diagnostic {
	if w == nil {
		return found
	}
	found = slices.Clone(found)
	for i := range found {
		found[i].Span = w.origin(found[i].Span)
		at := w.lines.Position(found[i].Span.Start)
		found[i].Line, found[i].Column = at.Line, at.Column
	}
	return found
}

func (w *wrapping) origin(s source.Span) source.Span {
	for _, p := range w.pieces {
		if s.Start < p.made.Start || s.Start >= p.made.End {
			continue
		}
		if !p.verbatim {
			return p.from
		}
		shift := p.from.Start - p.made.Start
		return source.Span{Start: s.Start + shift, End: min(s.End+shift, p.from.End)}
	}
	return source.Span{}
}
