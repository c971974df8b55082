package events

import (
	"strings"

	"stepback/asl/jsonpath"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// input determines what a target receives for an event.
type input struct {
	constant *string
	path     *jsonpath.Path
	template *template
}

// whole reports whether the target receives the event unchanged.
func (in input) whole() bool { return in.constant == nil && in.path == nil && in.template == nil }

// render returns what the target receives for e. ok is false if a JSON template is no longer valid JSON once e's
// values are filled in.
func (in input) render(e *event) (string, bool) {
	switch {
	case in.constant != nil:
		return *in.constant, true
	case in.path != nil:
		v, err := in.path.Select(e.value)
		if err != nil {
			return "{}", true
		}
		return v.JSON(), true
	case in.template != nil:
		return in.template.render(e)
	}
	return e.text(), true
}

// compile parses the target's input settings.
func (t *target) compile(r *rule) (in input, err error) {
	given := 0
	for _, is := range []bool{t.Input != nil, t.InputPath != nil, t.InputTransformer != nil} {
		if is {
			given++
		}
	}
	if given > 1 {
		return in, invalid("Only one of Input, InputPath, or InputTransformer must be provided for target %s.", t.ID)
	}
	switch {
	case t.Input != nil:
		if _, err := jsonvalue.Parse(*t.Input); err != nil {
			return in, invalid("JSON syntax error in input for target %s", t.ID)
		}
		in.constant = t.Input
	case t.InputPath != nil && *t.InputPath != "$":
		if in.path, err = jsonpath.Compile(*t.InputPath); err != nil {
			return in, invalid("Invalid InputPath for target %s.", t.ID)
		}
	case t.InputTransformer != nil:
		in.template, err = t.templateOf(r)
	}
	return in, err
}

// template is the parsed template of an input transformer.
type template struct {
	pieces []piece
	json   bool // the result must be valid JSON
}

// piece is a piece of literal text followed by a variable.
type piece struct {
	text     string
	variable string // empty for the last piece
	quoted   bool   // the variable is inside a JSON string
	path     *jsonpath.Path
	rule     *rule // for reserved variables
}

var placeholder = lazyregexp.New(`<([^<>"\s]+)>`)

// The reserved variables of EventBridge's input transformers.
const (
	ruleARNVariable   = "aws.events.rule-arn"
	ruleNameVariable  = "aws.events.rule-name"
	ingestionVariable = "aws.events.event.ingestion-time"
	eventVariable     = "aws.events.event"
	eventJSONVariable = "aws.events.event.json"
)

// templateOf parses the target's input transformer.
func (t *target) templateOf(r *rule) (*template, error) {
	text := t.InputTransformer.Template
	made := &template{json: strings.HasPrefix(strings.TrimSpace(text), "{") || strings.HasPrefix(strings.TrimSpace(text), "[")}
	paths := make(map[string]*jsonpath.Path, len(t.InputTransformer.Paths))
	for name, path := range t.InputTransformer.Paths {
		if strings.HasPrefix(strings.ToLower(name), "aws") {
			return nil, invalid("InputPathsMap for target %s must not begin with AWS: %s.", t.ID, name)
		}
		p, err := jsonpath.Compile(path)
		if err != nil {
			return nil, invalid("Invalid InputPath for target %s.", t.ID)
		}
		paths[name] = p
	}
	at, quoted := 0, false
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		p := piece{text: text[at:m[0]], variable: text[m[2]:m[3]], rule: r}
		quoted = insideText(p.text, quoted)
		p.quoted = quoted
		switch p.variable {
		case ruleARNVariable, ruleNameVariable, ingestionVariable, eventVariable, eventJSONVariable:
		default:
			path, ok := paths[p.variable]
			if !ok {
				return nil, invalid("InputTemplate for target %s contains invalid placeholder %s.", t.ID, p.variable)
			}
			p.path = path
		}
		made.pieces = append(made.pieces, p)
		at = m[1]
	}
	made.pieces = append(made.pieces, piece{text: text[at:]})
	return made, nil
}

// insideText reports whether a JSON string is still open at the end of part; open is true if one was open at its
// start.
func insideText(part string, open bool) bool {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			i++
		case '"':
			open = !open
		}
	}
	return open
}

// render fills the event's values into the template.
func (t *template) render(e *event) (string, bool) {
	var b []byte
	for i := range t.pieces {
		p := &t.pieces[i]
		b = append(b, p.text...)
		if p.variable != "" {
			b = p.append(b, e, t.json)
		}
	}
	text := string(b)
	if t.json {
		v, err := jsonvalue.Parse(text)
		if err != nil {
			return "", false
		}
		text = v.JSON()
	}
	return text, true
}

// value returns the variable's value for e; ok is false if e has none.
func (p *piece) value(e *event) (jsonvalue.Value, bool) {
	switch p.variable {
	case ruleARNVariable:
		return jsonvalue.OfString(p.rule.arn), true
	case ruleNameVariable:
		return jsonvalue.OfString(p.rule.Name), true
	case ingestionVariable:
		return jsonvalue.OfString(e.ingested.UTC().Format(eventTime)), true
	case eventJSONVariable:
		return e.value, true
	case eventVariable:
		b := jsonvalue.NewObject(e.value.Len())
		for i, key := range e.value.Keys() {
			switch key {
			case "detail":
			case "detail-type": // spelled otherwise than in events
				b.Set("detailType", e.value.At(i))
			default:
				b.Set(key, e.value.At(i))
			}
		}
		return b.Value(), true
	}
	v, err := p.path.Select(e.value)
	return v, err == nil
}

// append appends the variable's value to b. In a JSON template the value is written as JSON; inside a JSON string,
// strings are escaped and written without their quotes. In a text template, strings are written as they are. In
// text and inside JSON strings, objects and arrays lose their quotes, except the event itself. A missing value is
// written as an empty string.
func (p *piece) append(b []byte, e *event, json bool) []byte {
	v, ok := p.value(e)
	if !ok {
		v = jsonvalue.OfString("")
	}
	switch v.Kind() {
	case jsonvalue.String:
		switch {
		case json && !p.quoted:
			return jsonvalue.AppendQuoted(b, v.Text())
		case p.quoted: // escaped, without the surrounding quotes
			quoted := jsonvalue.AppendQuoted(nil, v.Text())
			return append(b, quoted[1:len(quoted)-1]...)
		}
		return append(b, v.Text()...)
	case jsonvalue.Object, jsonvalue.Array:
		if json && !p.quoted || p.variable == eventJSONVariable || p.variable == eventVariable {
			return v.AppendJSON(b)
		}
		return append(b, strings.ReplaceAll(v.JSON(), `"`, "")...)
	default:
		return v.AppendJSON(b)
	}
}
