package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
	"stepback/retry"
	"stepback/tasks/awssdk"
	"stepback/tasks/awssdk/responses"
)

// completion collects the completions at a cursor.
type completion struct {
	*cursor

	d      *document
	offset int
	items  []protocol.CompletionItem
}

// complete returns what the language accepts at a position: fields, their values, states, errors of the called service,
// functions, variables, and the members of $states and of the context object.
func (s *server) complete(_ *glsp.Context, p *protocol.CompletionParams) (any, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	c := completion{d: d, offset: d.offset(p.Position), items: []protocol.CompletionItem{}}
	if c.cursor = d.cursorIn(c.offset); c.cursor == nil {
		return c.items, nil
	}
	if n := len(c.at); c.key && n > 2 && c.at[n-2].Element && c.at[n-3] == source.Member("ErrorEquals") {
		c.at, c.key = c.at[:n-1], false // an element of a list in YAML may become an object as well
	}
	if c.key {
		c.fields()
	} else {
		c.values()
	}
	return c.items, nil
}

// add adds a completion of the written text; label is the whole text. It is left out if the text is not as it is
// written in the file, for instance with escapes.
func (c *completion) add(written, label string, kind protocol.CompletionItemKind, detail, inserted string) {
	start := c.offset - len(written)
	if start < 0 || c.d.text[start:c.offset] != written {
		return
	}
	// Editors expect them in the order in which they were added, such as that of states.
	order := string(rune('a'+len(c.items)/676%26)) + string(rune('a'+len(c.items)/26%26)) +
		string(rune('a'+len(c.items)%26))
	item := protocol.CompletionItem{Label: label, Kind: &kind, SortText: &order, FilterText: &label,
		TextEdit: protocol.TextEdit{Range: c.d.span(source.Span{Start: start, End: c.offset}), NewText: inserted}}
	if detail != "" {
		item.Detail = &detail
	}
	c.items = append(c.items, item)
}

// fields adds the fields that the object at the cursor lacks.
func (c *completion) fields() {
	object := c.at[:len(c.at)-1]
	has := c.get(object).Keys()
	names := asl.Options{Express: c.file.Express}.AcceptedAt(c.file.Text, object).Fields
	if names == nil {
		names = c.parameters(object)
	}
	before, after := c.surroundings()
	for _, name := range names {
		if slices.Contains(has, name) || slices.Contains(has, name+".$") {
			continue
		}
		c.add(c.before, name, protocol.CompletionItemKindField, fields[name], before+name+after)
	}
}

// surroundings returns the quote before a field and the quote and colon behind it that the text lacks.
func (c *completion) surroundings() (before, after string) {
	head, tail := c.d.text[:c.offset-min(len(c.before), c.offset)], c.d.text[c.offset:]
	tail = strings.TrimLeft(tail, wordLetters)
	var quote string
	for _, q := range []string{`\"`, `"`, `'`} {
		if strings.HasSuffix(head, q) {
			quote = q
			break
		}
	}
	if quote == "" && !c.isYAML() {
		quote, before = `"`, `"`
	}
	if strings.HasPrefix(tail, quote) && quote != "" {
		return before, "" // the editor has closed the quote; text behind it is not replaced
	}
	if strings.HasPrefix(strings.TrimLeft(tail, " "), ":") {
		return before, quote
	}
	return before, quote + ": "
}

// parameters returns the members of the input of the service that a task calls, if the object at a path is the task's
// Parameters or Arguments.
func (c *completion) parameters(object source.Path) []string {
	if n := len(
		object,
	); n == 0 ||
		object[n-1] != source.Member("Parameters") && object[n-1] != source.Member("Arguments") {
		return nil
	}
	integration, _ := c.called(object[:len(object)-1])
	name, _, _ := strings.Cut(integration, ".")
	sdk, isSDK := strings.CutPrefix(name, "aws-sdk:")
	service, action, _ := strings.Cut(sdk, ":")
	s, err := model.Find(service)
	if err != nil {
		return nil
	}
	o, err := s.Action(action)
	if err != nil || o.Input == nil {
		return nil
	}
	var names []string
	for _, m := range o.Input.Members {
		if isSDK {
			names = append(names, responses.MemberName(m.Name))
		} else {
			names = append(names, m.Name)
		}
	}
	return names
}

// called returns the integration that a state calls, such as dynamodb:putItem. function is true if its Resource is the
// ARN of a Lambda function.
func (c *completion) called(state source.Path) (integration string, function bool) {
	arn, ok := aws.ParseARN(member(c.get(state), "Resource").Text())
	if !ok {
		return "", false
	}
	if arn.Service == "lambda" {
		return "", true
	}
	return arn.Resource, false
}

// values adds the values of the field at the cursor.
func (c *completion) values() {
	last := c.at[len(c.at)-1]
	switch {
	case last.Element && len(c.at) > 1 && c.at[len(c.at)-2] == source.Member("ErrorEquals"):
		c.errorNames()
		return
	case strings.HasPrefix(strings.TrimLeft(c.before, " "), "{%"):
		c.jsonata()
		return
	case last.Name == "Next", last.Name == "Default", last.Name == "StartAt":
		if c.states() {
			return
		}
	}
	for _, v := range (asl.Options{Express: c.file.Express}).AcceptedAt(c.file.Text, c.at).Values {
		c.add(c.before, v, protocol.CompletionItemKindEnumMember, "", v)
	}
	if !c.isJSONata() {
		c.jsonPath()
	}
}

// states adds the states to which the transition at the cursor can lead. It returns false if the field is no
// transition.
func (c *completion) states() bool {
	o := &outline{file: c.file, index: source.NewIndex(c.file.Document.JSON), root: c.root}
	o.graph(nil, c.root)
	for _, g := range o.graphs {
		for _, n := range g.names {
			if !slices.Equal(n.at, c.at) {
				continue
			}
			for i := range g.states {
				c.add(
					c.before,
					g.states[i].name,
					protocol.CompletionItemKindReference,
					g.states[i].kind+" state",
					g.states[i].name,
				)
			}
			return true
		}
	}
	return false
}

// functionErrors are the errors of Lambda functions that did not fail by an error of their own.
var functionErrors = []string{
	retry.LambdaServiceException,
	retry.LambdaAWSLambdaException,
	retry.LambdaSdkClientException,
	retry.LambdaClientExecutionTimeoutException,
	retry.LambdaTooManyRequestsException,
	retry.LambdaUnknown,
	retry.RuntimeExitError,
	retry.SandboxTimedout,
}

// errorNames adds the errors of the service that the state calls, then the reserved names.
func (c *completion) errorNames() {
	state := c.state()
	integration, function := c.called(state)
	names := awssdk.ErrorNames(integration)
	switch {
	case function, strings.HasPrefix(integration, "lambda:invoke"):
		names = functionErrors
	case strings.HasPrefix(integration, "http:invoke"):
		names = []string{"States.Http.StatusCode.429", "States.Http.StatusCode.500", "States.Http.StatusCode.502",
			"States.Http.StatusCode.503", "States.Http.StatusCode.504"}
	}
	has := c.get(c.at[:len(c.at)-1])
	listed := func(name string) bool {
		for i := range has.Len() {
			if has.At(i).Text() == name {
				return true
			}
		}
		return false
	}
	for _, list := range []struct {
		names  []string
		detail string
	}{{names, "error of " + integration}, {asl.ReservedErrors(), "reserved error name"}} {
		for _, name := range list.names {
			if !listed(name) {
				c.add(
					c.before,
					name,
					protocol.CompletionItemKindEnumMember,
					strings.TrimSuffix(list.detail, " of "),
					name,
				)
			}
		}
	}
}

// isJSONata reports whether the query language at the cursor is JSONata.
func (c *completion) isJSONata() bool {
	for _, at := range []source.Path{c.state(), nil} {
		if v := member(c.get(at), "QueryLanguage"); v.Kind() == jsonvalue.String {
			return v.Text() == string(asl.JSONata)
		}
	}
	return false
}

// isYAML reports whether the definition at the cursor is written in YAML.
func (c *completion) isYAML() bool {
	return !strings.HasSuffix(c.d.path, ".json") && !strings.HasPrefix(strings.TrimSpace(c.d.text), "{")
}

// variables returns the variables that may have a value in the state at the cursor.
func (c *completion) variables() []string {
	at := c.state()
	if at == nil {
		return nil
	}
	o := asl.Options{Express: c.file.Express, Overlook: func(asl.Diagnostic) bool { return true }}
	m, _ := o.Parse(c.file.Text)
	if m == nil {
		return nil
	}
	return m.VariablesAt(at[len(at)-1].Name)
}

// sorted returns the keys of a map, sorted.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
