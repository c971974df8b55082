package document

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"stepback/asl/source"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// yamlEdits returns the edits of a YAML text that make a change to the definition at a path of it. What is inserted is
// laid out like its neighbours: on lines of its own in blocks, and after a comma in flow style.
func yamlEdits(text string, definition source.Path, c source.Change) ([]source.Edit, error) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil || len(root.Content) == 0 {
		return nil, errors.New("the text is not YAML")
	}
	value, err := jsonvalue.Parse(valueOf(c))
	if err != nil {
		return nil, err
	}
	y := &yamlEditor{yamlReader: newYAMLReader(text, nil), value: value}
	path := definition.Join(c.At...)
	parent := yamlAt(root.Content[0], path[:len(path)-1])
	if parent == nil || isForeign(parent) || parent.Anchor != "" {
		return nil, errUnknownPlace(c.At)
	}
	last := path[len(path)-1]
	switch c.Kind {
	case source.SetMember:
		return y.set(parent, last.Name)
	case source.InsertElement:
		return y.insert(parent, last.Index)
	case source.AppendElements:
		array := yamlAt(parent, path[len(path)-1:])
		if array == nil || array.Kind != yaml.SequenceNode || len(array.Content) == 0 {
			return nil, errUnknownPlace(c.At)
		}
		return y.appendTo(array)
	default:
		return y.remove(parent, last.Index)
	}
}

// valueOf returns the JSON text of a change's value; several elements become an array.
func valueOf(c source.Change) string {
	switch c.Kind {
	case source.AppendElements:
		return "[" + c.Value + "]"
	case source.RemoveElement:
		return "null"
	default:
		return c.Value
	}
}

// yamlAt returns the node at a path; nil if it is missing. The long name of a function, such as Fn::ToJsonString, also
// stands for its tag.
func yamlAt(n *yaml.Node, path source.Path) *yaml.Node {
	for _, step := range path {
		var next *yaml.Node
		switch {
		case n == nil:
			return nil
		case step.Element && n.Kind == yaml.SequenceNode && step.Index < len(n.Content):
			next = n.Content[step.Index]
		case !step.Element && n.Tag == "!"+strings.TrimPrefix(step.Name, "Fn::"):
			next = n
		case !step.Element && n.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step.Name {
					next = n.Content[i+1]
				}
			}
		}
		n = next
	}
	return n
}

// yamlEditor makes the edits of one change.
type yamlEditor struct {
	*yamlReader

	value jsonvalue.Value
}

func inFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// column returns the offset of a node in its line.
func column(n *yaml.Node) int { return n.Column - 1 }

// start returns the offset of a node in the text.
func (y *yamlEditor) start(n *yaml.Node) int {
	return y.lines.Offset(source.Position{Line: n.Line, Column: n.Column})
}

func insertAt(at int, text string) []source.Edit {
	return []source.Edit{{Span: source.Span{Start: at, End: at}, Text: text}}
}

func (y *yamlEditor) set(object *yaml.Node, name string) ([]source.Edit, error) {
	if object.Kind != yaml.MappingNode {
		return nil, errNotWritten
	}
	for i := 0; i+1 < len(object.Content); i += 2 {
		if object.Content[i].Value != name {
			continue
		}
		old := object.Content[i+1]
		span := source.Span{Start: y.start(old), End: y.start(old) + len(old.Value)}
		if old.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			span.End += len(`""`)
		}
		if old.Kind != yaml.ScalarNode || isForeign(old) || old.Anchor != "" || strings.Contains(old.Value, "${") ||
			span.End > len(y.text) || !strings.Contains(y.text[span.Start:span.End], old.Value) {
			return nil, errNotWritten
		}
		return []source.Edit{{Span: span, Text: yamlScalar(y.value)}}, nil
	}
	if inFlow(object) {
		return y.firstInFlow(object, quoted(name)+": "+y.value.JSON()), nil
	}
	if len(object.Content) == 0 {
		return nil, errNotWritten
	}
	first := object.Content[0]
	indent := strings.Repeat(" ", column(first))
	return insertAt(y.start(first), yamlMember(name, y.value, indent)+"\n"+indent), nil
}

// firstInFlow inserts text as the first member or element of a flow collection.
func (y *yamlEditor) firstInFlow(collection *yaml.Node, text string) []source.Edit {
	at := y.start(collection) + 1
	if len(collection.Content) > 0 {
		rest := y.text[at:]
		if blank := rest[:len(rest)-len(strings.TrimLeft(rest, " \r\n"))]; strings.Contains(blank, "\n") {
			return insertAt(at, blank+text+",")
		}
		text += ", "
	}
	return insertAt(at, text)
}

func (y *yamlEditor) insert(array *yaml.Node, index int) ([]source.Edit, error) {
	switch {
	case array.Kind != yaml.SequenceNode || index > 0 && index >= len(array.Content):
		return nil, errNotWritten
	case inFlow(array) && index == 0:
		return y.firstInFlow(array, y.value.JSON()), nil
	case inFlow(array):
		return insertAt(y.start(array.Content[index]), y.value.JSON()+", "), nil
	}
	dash, err := y.dash(array.Content[index])
	if err != nil {
		return nil, err
	}
	indent := y.indentOf(dash)
	return insertAt(dash, "- "+strings.TrimLeft(yamlBlock(y.value, indent+"  "), " ")+"\n"+indent), nil
}

// dash returns the offset of the dash before an element of a block sequence.
func (y *yamlEditor) dash(element *yaml.Node) (int, error) {
	at := y.start(element)
	before := strings.TrimRight(y.text[:at], " ")
	if isForeign(element) || element.Anchor != "" || !strings.HasSuffix(before, "-") {
		return 0, errNotWritten
	}
	return len(before) - 1, nil
}

// indentOf returns as many blanks as there are characters before an offset in its line.
func (y *yamlEditor) indentOf(at int) string {
	return strings.Repeat(" ", at-strings.LastIndexByte(y.text[:at], '\n')-1)
}

func (y *yamlEditor) appendTo(array *yaml.Node) ([]source.Edit, error) {
	last := array.Content[len(array.Content)-1]
	if last.Kind != yaml.ScalarNode || isForeign(last) {
		return nil, errNotWritten
	}
	end := y.span(last).End
	var b strings.Builder
	if inFlow(array) {
		for _, e := range y.value.Elements() {
			b.WriteString(", " + e.JSON())
		}
		return insertAt(end, b.String()), nil
	}
	dash, err := y.dash(last)
	if err != nil {
		return nil, err
	}
	for _, e := range y.value.Elements() {
		b.WriteString("\n" + y.indentOf(dash) + "- " + yamlScalar(e))
	}
	return insertAt(y.lineEnd(end), b.String()), nil
}

// lineEnd returns the offset of the end of the line that contains an offset.
func (y *yamlEditor) lineEnd(at int) int {
	if n := strings.IndexByte(y.text[at:], '\n'); n >= 0 {
		return at + n - len(y.text[at:at+n]) + len(strings.TrimRight(y.text[at:at+n], "\r"))
	}
	return len(y.text)
}

func (y *yamlEditor) remove(array *yaml.Node, index int) ([]source.Edit, error) {
	if array.Kind != yaml.SequenceNode || index >= len(array.Content) {
		return nil, errNotWritten
	}
	if inFlow(array) {
		return y.removeFromFlow(array, index)
	}
	dash, err := y.dash(array.Content[index])
	if err != nil {
		return nil, err
	}
	lastLine, ok := lastLineOf(array.Content[index])
	if !ok {
		return nil, errNotWritten
	}
	end := y.lines.Offset(source.Position{Line: lastLine, Column: 1})
	end = y.lineEnd(end)
	if len(array.Content) == 1 { // an empty block is null
		return []source.Edit{{Span: source.Span{Start: dash, End: end}, Text: "[]"}}, nil
	}
	start := strings.LastIndexByte(y.text[:dash], '\n') + 1
	if strings.TrimSpace(y.text[start:dash]) != "" { // the sequence begins behind another dash
		return nil, errNotWritten
	}
	if end < len(y.text) {
		end += strings.IndexByte(y.text[end:], '\n') + 1
	}
	return []source.Edit{{Span: source.Span{Start: start, End: end}}}, nil
}

// lastLineOf returns the number of the last line of a node. ok is false if a scalar of several lines makes it unknown.
func lastLineOf(n *yaml.Node) (line int, ok bool) {
	line, ok = n.Line, n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 && !strings.Contains(n.Value, "\n")
	if inFlow(n) && len(n.Content) > 0 && n.Content[len(n.Content)-1].Line > n.Line {
		ok = false
	}
	for _, c := range n.Content {
		l, sure := lastLineOf(c)
		line, ok = max(line, l), ok && sure
	}
	return line, ok
}

func (y *yamlEditor) removeFromFlow(array *yaml.Node, index int) ([]source.Edit, error) {
	start := y.start(array.Content[index])
	if index+1 < len(array.Content) {
		return []source.Edit{{Span: source.Span{Start: start, End: y.start(array.Content[index+1])}}}, nil
	}
	end := y.flowEnd(array.Content[index])
	if end < 0 {
		return nil, errNotWritten
	}
	if before := strings.TrimRight(y.text[:start], " \r\n"); strings.HasSuffix(before, ",") {
		start = len(before) - 1
	}
	return []source.Edit{{Span: source.Span{Start: start, End: end}}}, nil
}

// flowEnd returns the offset of the end of a node in flow style; -1 if it is not known.
func (y *yamlEditor) flowEnd(n *yaml.Node) int {
	if n.Kind == yaml.ScalarNode {
		return y.span(n).End
	}
	at := y.start(n) + 1
	if len(n.Content) > 0 {
		if at = y.flowEnd(n.Content[len(n.Content)-1]); at < 0 {
			return -1
		}
	}
	rest := strings.TrimLeft(y.text[at:], " \r\n,")
	if rest == "" || rest[0] != '}' && rest[0] != ']' {
		return -1
	}
	return len(y.text) - len(rest) + 1
}

// plainYAML matches strings that are the same in YAML without quotes. Words that mean something else in YAML 1.1 are
// shorter or have no capital letter and dot; yamlScalar checks them.
var plainYAML = lazyregexp.New(`^[A-Z][A-Za-z0-9]+(\.[A-Za-z0-9]+)*$`)

// yamlScalar returns a scalar as YAML.
func yamlScalar(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.String && plainYAML.MatchString(v.Text()) {
		var n yaml.Node
		if yaml.Unmarshal([]byte(v.Text()), &n) == nil && len(n.Content) == 1 && n.Content[0].ShortTag() == "!!str" {
			if _, old := oldBooleans[v.Text()]; !old {
				return v.Text()
			}
		}
	}
	return v.JSON()
}

// yamlMember returns a member of a block mapping whose lines, except for the first, have an indentation.
func yamlMember(name string, v jsonvalue.Value, indent string) string {
	switch {
	case v.Len() == 0 || v.Kind() != jsonvalue.Array && v.Kind() != jsonvalue.Object:
		return name + ": " + yamlScalar(v)
	default:
		return name + ":\n" + yamlBlock(v, indent+"  ")
	}
}

// yamlBlock returns a mapping or a sequence in block style, with an indentation before each line.
func yamlBlock(v jsonvalue.Value, indent string) string {
	var lines []string
	switch v.Kind() {
	case jsonvalue.Object:
		for i, name := range v.Keys() {
			lines = append(lines, indent+yamlMember(name, v.At(i), indent))
		}
	case jsonvalue.Array:
		for _, e := range v.Elements() {
			lines = append(lines, indent+"- "+strings.TrimLeft(yamlBlock(e, indent+"  "), " "))
		}
	default:
		return indent + yamlScalar(v)
	}
	return strings.Join(lines, "\n")
}
