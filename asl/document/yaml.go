package document

import (
	"errors"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"stepback/asl/source"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// yamlReader converts a YAML text to JSON, and records the position of every name and scalar.
type yamlReader struct {
	text   string
	lines  *source.Lines
	cursor *source.Cursor
	values map[string]string

	out    strings.Builder
	places mapping
	open   names
}

func newYAMLReader(text string, values map[string]string) *yamlReader {
	lines := source.NewLines(text)
	return &yamlReader{text: text, lines: lines, cursor: lines.Cursor(), values: values, places: mapping{}}
}

// read reads exactly one YAML document. If there is none, the result is the empty text.
func (y *yamlReader) read() *problem {
	decoder := yaml.NewDecoder(strings.NewReader(y.text))
	var root, more yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return y.malformed(err)
	}
	if err := decoder.Decode(&more); err == nil {
		return y.wrong(&more, "The file has more than one YAML document",
			"one definition in a file, without a line --- in it")
	} else if !errors.Is(err, io.EOF) {
		return y.malformed(err)
	}
	if member := templateMember(root.Content[0]); member != nil {
		return y.wrong(member, "This is a CloudFormation or SAM template, not a definition",
			"give the files that its state machines' DefinitionUri name")
	}
	return y.value(&root, "")
}

// templateMember returns the Resources node of a CloudFormation template. Templates are full of tags that
// definitions do not have.
func templateMember(root *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(root.Content) && root.Kind == yaml.MappingNode; i += 2 {
		if root.Content[i].Value == "Resources" {
			return root.Content[i]
		}
	}
	return nil
}

func (y *yamlReader) wrong(n *yaml.Node, message, hint string) *problem {
	return &problem{message: message, hint: hint, span: y.span(n)}
}

var yamlError = lazyregexp.New(`^yaml: (?:line (\d+): )?`)

// malformed converts an error of the YAML package, which contains the line, into a problem.
func (y *yamlReader) malformed(err error) *problem {
	message := err.Error()
	p := &problem{message: "The text is not YAML: " + yamlError.ReplaceAllString(message, "")}
	if m := yamlError.FindStringSubmatch(message); m != nil && m[1] != "" {
		number, _ := strconv.Atoi(m[1])
		p.span.Start = y.lines.Offset(source.Position{Line: number, Column: 1})
		line, _, _ := strings.Cut(y.text[p.span.Start:], "\n")
		p.span.End = p.span.Start + len(strings.TrimRight(line, "\r"))
		if strings.Contains(line, "\t") {
			p.hint = "YAML is indented with blanks, not with tabs"
		}
	}
	return p
}

// value writes a node; field is the name of the member whose value it is.
func (y *yamlReader) value(n *yaml.Node, field string) *problem {
	switch n.Kind {
	case yaml.DocumentNode:
		return y.value(n.Content[0], field)
	case yaml.MappingNode:
		return y.object(n, field)
	case yaml.SequenceNode:
		return y.array(n, field)
	case yaml.AliasNode:
		return y.wrong(n, "CloudFormation refuses aliases in YAML", "write out what *"+n.Value+" stands for")
	default:
		return y.scalar(n, field)
	}
}

func (y *yamlReader) object(n *yaml.Node, field string) *problem {
	if isForeign(n) {
		return y.foreign(n, field)
	}
	if len(n.Content) == 0 {
		y.emit(n, "{}", nil)
		return nil
	}
	y.emit(n, "{", nil)
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		switch {
		case name.Kind != yaml.ScalarNode:
			return y.wrong(name, "The name of a member is a string", "")
		case name.ShortTag() == "!!merge":
			return y.wrong(name, "CloudFormation refuses merge keys in YAML", "write out the members")
		}
		if i > 0 {
			y.out.WriteByte(',')
		}
		y.content(name, "", name.Value)
		y.out.WriteByte(':')
		if p := y.value(n.Content[i+1], name.Value); p != nil {
			return p
		}
	}
	y.out.WriteByte('}')
	return nil
}

func (y *yamlReader) array(n *yaml.Node, field string) *problem {
	if isForeign(n) {
		return y.foreign(n, field)
	}
	if len(n.Content) == 0 {
		y.emit(n, "[]", nil)
		return nil
	}
	y.emit(n, "[", nil)
	for i, element := range n.Content {
		if i > 0 {
			y.out.WriteByte(',')
		}
		if p := y.value(element, field); p != nil {
			return p
		}
	}
	y.out.WriteByte(']')
	return nil
}

// emit writes a JSON token for a node. open names the placeholders without a value that it contains.
func (y *yamlReader) emit(n *yaml.Node, json string, open []string) {
	at := y.out.Len()
	y.out.WriteString(json)
	y.places = append(y.places, piece{at: source.Span{Start: at, End: y.out.Len()}, from: y.span(n), open: open})
}

func quoted(s string) string { return string(jsonvalue.AppendQuoted(nil, s)) }

// span returns a node's position in the text. It covers all of a scalar that is on one line. For other nodes it
// covers the part on the first line, but not the end.
func (y *yamlReader) span(n *yaml.Node) source.Span {
	start := y.cursor.Offset(source.Position{Line: n.Line, Column: n.Column})
	if n.Kind != yaml.ScalarNode {
		return source.Span{Start: start, End: min(start+1, len(y.text))}
	}
	// No escape is longer than ten bytes, so this much is enough, and long lines are not scanned for each node.
	rest, _, _ := strings.Cut(y.text[start:min(len(y.text), start+10*len(n.Value)+100)], "\n")
	rest = strings.TrimRight(rest, " \r")
	switch {
	case strings.HasPrefix(rest, `"`):
		rest = rest[:min(endOfString(rest, 0)+1, len(rest))]
	case strings.HasPrefix(rest, "'"):
		rest = rest[:endOfQuoted(rest)]
	case strings.HasPrefix(rest, n.Value):
		rest = rest[:len(n.Value)]
	}
	return source.Span{Start: start, End: start + len(rest)}
}

// endOfQuoted returns the length of a string in single quotes, in which two quotes represent one.
func endOfQuoted(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == '\'' {
			if !strings.HasPrefix(text[i+1:], "'") {
				return i + 1
			}
			i++
		}
	}
	return len(text)
}
