package apigateway

import (
	"encoding/json"
	"net/http"
	"strings"

	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// clientRequest is a client's request, as seen by expressions.
type clientRequest struct {
	*http.Request
	body      []byte
	path      string            // including the stage
	variables map[string]string // of the route's path
	stage     *stage
	context   map[string]string // $context.NAME
}

var (
	// wholeExpression matches a text that is a single expression: $request.body.name.
	wholeExpression = lazyregexp.New(`^\$(request|context|stageVariables)\.[^\s]+$`)
	// embeddedExpression matches expressions within a text: ${request.path.name}.
	embeddedExpression = lazyregexp.New(`\$\{((?:request|context|stageVariables)\.[^}\s]+)\}`)
)

// checkParameters rejects invalid names of parameters in integrations with functions and HTTP servers.
func (i *integration) checkParameters() error {
	for name := range i.RequestParameters {
		action, target, ok := strings.Cut(name, ":")
		kind, _, _ := strings.Cut(target, ".")
		if !ok || action != "append" && action != "overwrite" && action != "remove" ||
			kind != "header" && kind != "querystring" && target != "path" || target == "path" && action != "overwrite" {
			return invalid("Invalid mapping expression specified: Validation Result: warnings : [], errors : [Invalid mapping expression specified: %s]",
				name)
		}
	}
	for status, parameters := range i.ResponseParameters {
		for name := range parameters {
			action, target, _ := strings.Cut(name, ":")
			isHeader := strings.HasPrefix(target, "header.") && (action == "append" || action == "overwrite" || action == "remove")
			if !isHeader && name != "overwrite:statuscode" {
				return invalid("Invalid response parameter mapping specified for status code %s: %s", status, name)
			}
		}
	}
	return nil
}

// evaluate returns the value of a mapping's expression: a text, or JSON for a part of the body that is not a text.
// found is false if a selection refers to a missing value.
func (q *clientRequest) evaluate(expression string) (value any, found bool) {
	if wholeExpression.MatchString(expression) {
		return q.look(expression[1:])
	}
	found = true
	text := embeddedExpression.ReplaceAllStringFunc(expression, func(e string) string {
		v, ok := q.look(e[2 : len(e)-1])
		found = found && ok
		return textOf(v)
	})
	return text, found
}

// look returns the value of NAME.PART.
func (q *clientRequest) look(name string) (any, bool) {
	kind, rest, _ := strings.Cut(name, ".")
	switch kind {
	case "context":
		v, ok := q.context[rest]
		return v, ok
	case "stageVariables":
		v, ok := q.stage.StageVariables[rest]
		return v, ok
	}
	part, rest, _ := strings.Cut(rest, ".")
	switch part {
	case "header":
		values := q.Header.Values(rest)
		if strings.EqualFold(rest, "host") {
			values = []string{q.Host}
		}
		return strings.Join(values, ","), len(values) > 0
	case "querystring":
		values, ok := q.URL.Query()[rest]
		return strings.Join(values, ","), ok
	case "path":
		if rest == "" {
			return q.path, true
		}
		v, ok := q.variables[rest]
		return v, ok
	case "body":
		if rest == "" {
			return string(q.body), true
		}
		return inBody(q.body, rest)
	}
	return nil, false
}

// inBody returns a member of a JSON body: a.b, a[0].b.
func inBody(body []byte, path string) (any, bool) {
	v, err := jsonvalue.Parse(string(body))
	if err != nil {
		return nil, false
	}
	for _, name := range strings.FieldsFunc(strings.ReplaceAll(path, "[", ".["), func(r rune) bool { return r == '.' }) {
		var index int
		if strings.HasPrefix(name, "[") {
			if json.Unmarshal([]byte(strings.Trim(name, "[]")), &index) != nil || v.Kind() != jsonvalue.Array ||
				index < 0 || index >= len(v.Elements()) {
				return nil, false
			}
			v = v.Elements()[index]
			continue
		}
		var ok bool
		if v, ok = v.Get(name); !ok {
			return nil, false
		}
	}
	if v.Kind() == jsonvalue.String {
		return v.Text(), true
	}
	return json.RawMessage(v.JSON()), true
}

// textOf returns an expression's value as a text.
func textOf(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.RawMessage:
		return string(x)
	}
	return ""
}

// parameters returns the parameters of a service call. Parameters whose expression finds nothing are omitted.
func (q *clientRequest) parameters(i *integration) map[string]any {
	all := map[string]any{}
	for name, expression := range i.RequestParameters {
		v, ok := q.evaluate(expression)
		if !ok || name == "Region" {
			continue
		}
		switch name {
		case "Input", "Detail", "MessageBody": // texts, even if the expression found an object
			v = textOf(v)
		case "MessageAttributes", "MessageSystemAttributes", "AttributeNames", "MessageAttributeNames", "Resources":
			v = structured(name, textOf(v))
		}
		all[name] = v
	}
	return all
}

// structured returns a parameter that is given as JSON text; for a list parameter, text may also be a single element.
func structured(name, text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	if strings.HasSuffix(name, "Names") || name == "Resources" {
		return strings.Split(text, ",")
	}
	return text
}
