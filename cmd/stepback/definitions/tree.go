package definitions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"stepback/asl/document"
	"stepback/asl/source"
	"stepback/jsonvalue"
)

// node is a value of a template with its position. The nil node represents a missing value.
type node struct {
	kind jsonvalue.Kind
	// text is the decoded text of a string, and the JSON text of a number, a boolean or null.
	text string
	// names are the names of an object's members, and keys their positions. items are their values, or the elements of
	// an array.
	names []string
	keys  []source.Span
	items []*node
	// at is the position of a scalar, or of the beginning of an object or array.
	at source.Span
	// quotes represents the notation of a string.
	quotes document.Quotes
	// pieces are the parts of a string's text, in order, with their positions.
	pieces []textPiece
}

// textPiece is a part of the text of a string. same is true if the file has the same text at its position; otherwise
// the part is decoded, for instance from an escape.
type textPiece struct {
	text string
	at   source.Span
	same bool
}

// deepest is the deepest nesting allowed in a text.
const deepest = 200

// mostNodes is the maximum number of values in a text after its aliases have been expanded.
const mostNodes = 2_000_000

// parse parses a template: JSON, or YAML with CloudFormation's tags, whose short forms become their long forms.
func parse(text string) (*node, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	var wrong error
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "{") {
		r := jsonTree{text: text, decoder: json.NewDecoder(strings.NewReader(text))}
		r.decoder.UseNumber()
		n, err := r.document()
		if err == nil {
			return n, nil
		}
		wrong = err // it may still be YAML in flow style
	}
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		if wrong == nil {
			wrong = fmt.Errorf("it is neither JSON nor YAML: %w", err)
		}
		return nil, wrong
	}
	if len(root.Content) == 0 {
		return nil, ErrNone
	}
	y := yamlTree{text: text, cursor: source.NewLines(text).Cursor()}
	return y.value(root.Content[0], 0)
}

// member returns the value at a path of names; nil if it is missing.
func (n *node) member(path ...string) *node {
	for _, name := range path {
		n, _ = n.get(name)
	}
	return n
}

// get returns a member of an object and the position of its name. Of equal names the last one counts.
func (n *node) get(name string) (*node, source.Span) {
	if n == nil {
		return nil, source.Span{}
	}
	for i := len(n.names) - 1; i >= 0; i-- {
		if n.names[i] == name {
			return n.items[i], n.keys[i]
		}
	}
	return nil, source.Span{}
}

func (n *node) is(kind jsonvalue.Kind) bool { return n != nil && n.kind == kind }

// str returns the text of a string; "" for any other value.
func (n *node) str() string {
	if n.is(jsonvalue.String) {
		return n.text
	}
	return ""
}

// pathTo returns the path from the node to one below it; found is false if there is none.
func (n *node) pathTo(target *node) (at source.Path, found bool) {
	if n == target {
		return source.Path{}, true
	}
	for i, item := range n.items {
		if at, found := item.pathTo(target); found {
			step := source.Element(i)
			if n.kind == jsonvalue.Object {
				step = source.Member(n.names[i])
			}
			return append(source.Path{step}, at...), true
		}
	}
	return nil, false
}

// function returns the name and the argument of an intrinsic function of CloudFormation; "" if the node is none.
func (n *node) function() (name string, argument *node) {
	if n.is(jsonvalue.Object) && len(n.names) == 1 && (n.names[0] == "Ref" || strings.HasPrefix(n.names[0], "Fn::")) {
		return n.names[0], n.items[0]
	}
	return "", nil
}

// jsonTree parses JSON.
type jsonTree struct {
	text    string
	decoder *json.Decoder
	nodes   int
}

func (r *jsonTree) document() (*node, error) {
	n, err := r.value(0)
	if err == nil {
		if _, after := r.decoder.Token(); !errors.Is(after, io.EOF) {
			err = errors.New("there is text after its end")
		}
	}
	if err != nil {
		at := source.NewLines(r.text).Position(int(r.decoder.InputOffset()))
		return nil, fmt.Errorf("it is not valid JSON: line %d: %w", at.Line, err)
	}
	return n, nil
}

// next returns the next token with its position.
func (r *jsonTree) next() (json.Token, source.Span, error) {
	start := int(r.decoder.InputOffset())
	start += len(r.text[start:]) - len(strings.TrimLeft(r.text[start:], " \t\r\n,:"))
	token, err := r.decoder.Token()
	return token, source.Span{Start: start, End: int(r.decoder.InputOffset())}, err
}

func (r *jsonTree) value(depth int) (*node, error) {
	if r.nodes++; depth > deepest || r.nodes > mostNodes {
		return nil, errors.New("it is too long or nested too deep")
	}
	token, at, err := r.next()
	if err != nil {
		return nil, err
	}
	n := &node{at: at}
	switch token := token.(type) {
	case json.Delim:
		n.kind = jsonvalue.Object
		if token == '[' {
			n.kind = jsonvalue.Array
		}
		for r.decoder.More() {
			if n.kind == jsonvalue.Object {
				name, key, err := r.next()
				if err != nil {
					return nil, err
				}
				text, _ := name.(string)
				n.names, n.keys = append(n.names, text), append(n.keys, key)
			}
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err := r.decoder.Token()
		return n, err
	case string:
		n.kind, n.text = jsonvalue.String, token
		n.pieces, n.quotes = inJSON(r.text, at, token), document.DoubleQuotes
	case json.Number:
		n.kind, n.text = jsonvalue.Number, token.String()
	case bool:
		n.kind, n.text = jsonvalue.Bool, strconv.FormatBool(token)
	default:
		n.kind, n.text = jsonvalue.Null, "null"
	}
	return n, nil
}

// inJSON divides the JSON string at a position of a file into its escapes and the text between them. text is the
// decoded string.
func inJSON(file string, at source.Span, text string) []textPiece {
	var pieces []textPiece
	done := 0
	for i := at.Start + 1; i < at.End-1; {
		if n := strings.IndexByte(file[i:at.End-1], '\\'); n != 0 {
			if n < 0 {
				n = at.End - 1 - i
			}
			pieces = append(pieces, textPiece{file[i : i+n], source.Span{Start: i, End: i + n}, true})
			i, done = i+n, done+n
			continue
		}
		_, width := utf8.DecodeRuneInString(text[done:])
		length := len(`\n`)
		if file[i+1] == 'u' {
			if length = len(`\u0000`); width == 4 { // a surrogate pair
				length *= 2
			}
		}
		pieces = append(pieces, textPiece{text[done : done+width], source.Span{Start: i, End: i + length}, false})
		i, done = i+length, done+width
	}
	return pieces
}

// yamlTree converts YAML.
type yamlTree struct {
	text   string
	cursor *source.Cursor
	nodes  int
}

func (y *yamlTree) value(from *yaml.Node, depth int) (*node, error) {
	if y.nodes++; depth > deepest || y.nodes > mostNodes {
		return nil, fmt.Errorf("line %d: it is too long or nested too deep", from.Line)
	}
	if from.Kind == yaml.AliasNode {
		return y.value(from.Alias, depth+1)
	}
	n, err := y.untagged(from, depth)
	if err != nil || !strings.HasPrefix(from.Tag, "!") || strings.HasPrefix(from.Tag, "!!") {
		return n, err
	}
	name := from.Tag[1:]
	if name != "Ref" && name != "Condition" {
		name = "Fn::" + name
	}
	return &node{kind: jsonvalue.Object, names: []string{name}, keys: []source.Span{n.at}, items: []*node{n}, at: n.at},
		nil
}

func (y *yamlTree) untagged(from *yaml.Node, depth int) (*node, error) {
	start := y.cursor.Offset(source.Position{Line: from.Line, Column: from.Column})
	n := &node{at: source.Span{Start: start, End: min(start+1, len(y.text))}}
	switch from.Kind {
	case yaml.MappingNode:
		n.kind = jsonvalue.Object
		for i := 0; i+1 < len(from.Content); i += 2 {
			key, err := y.untagged(from.Content[i], depth+1)
			if err != nil {
				return nil, err
			}
			item, err := y.value(from.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			n.names, n.keys, n.items = append(n.names, from.Content[i].Value), append(n.keys, key.at), append(n.items,
				item)
		}
	case yaml.SequenceNode:
		n.kind = jsonvalue.Array
		for _, one := range from.Content {
			item, err := y.value(one, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	default:
		y.scalar(n, from)
	}
	return n, nil
}

// scalar completes the node of a scalar.
func (y *yamlTree) scalar(n *node, from *yaml.Node) {
	n.text = from.Value
	switch from.ShortTag() {
	case "!!null":
		n.kind = jsonvalue.Null
	case "!!bool":
		n.kind = jsonvalue.Bool
	case "!!int", "!!float":
		n.kind = jsonvalue.Number
	default:
		n.kind = jsonvalue.String
	}
	n.pieces = inYAML(y.text, n.at.Start, from)
	switch {
	case from.Style&yaml.DoubleQuotedStyle != 0:
		n.quotes = document.DoubleQuotes
	case from.Style&yaml.SingleQuotedStyle != 0:
		n.quotes = document.SingleQuotes
	case from.Style&yaml.LiteralStyle != 0:
		n.quotes = document.LiteralBlock
	}
	if len(n.pieces) > 0 {
		n.at = source.Span{Start: n.pieces[0].at.Start, End: n.pieces[0].at.End}
	}
	plain, ok := document.PlainScalar(from)
	switch {
	case ok && n.kind == jsonvalue.String: // a boolean of YAML 1.1
		n.kind, n.text = jsonvalue.Bool, plain
	case ok:
		n.text = plain
	default:
		n.kind = jsonvalue.String
	}
}

// inYAML returns the pieces of the text of a YAML scalar whose node begins at an offset of the file. It matches the
// text with the file character by character: an escape stands for one character, line breaks and indentation for one
// blank, a line break or nothing.
func inYAML(file string, start int, n *yaml.Node) []textPiece {
	i, text := contentOf(file, start, n.Style), n.Value
	double, single := n.Style&yaml.DoubleQuotedStyle != 0, n.Style&yaml.SingleQuotedStyle != 0
	var pieces []textPiece
	add := func(length, width int, same bool) {
		if last := len(pieces) - 1; same && last >= 0 && pieces[last].same && pieces[last].at.End == i {
			pieces[last].text += text[:width]
			pieces[last].at.End += length
		} else {
			pieces = append(pieces, textPiece{text[:width], source.Span{Start: i, End: i + length}, same})
		}
		i, text = i+length, text[width:]
	}
	for text != "" && i < len(file) {
		switch c := file[i]; {
		case double && c == '\\':
			switch length := escapeLength(file[i:]); length {
			case 0: // an escaped line break, and the indentation of the next line
				i += 1 + len(file[i+1:]) - len(strings.TrimLeft(file[i+1:], " \t\r\n"))
			default:
				_, width := utf8.DecodeRuneInString(text)
				add(length, width, false)
			}
		case single && text[0] == '\'' && strings.HasPrefix(file[i:], "''"):
			add(2, 1, false)
		case c == text[0]:
			run := 1
			for !double && !single && run < len(text) && i+run < len(file) && file[i+run] == text[run] &&
				text[run] != '\n' {
				run++
			}
			add(run, run, true)
		case strings.IndexByte(" \t\r\n", c) >= 0:
			if text[0] == ' ' && (c == '\n' || c == '\r') {
				add(1, 1, false)
				continue
			}
			i++
		default: // the text does not correspond to the file, which does not happen for valid YAML
			add(0, len(text), false)
		}
	}
	if text != "" {
		add(0, len(text), false)
	}
	return pieces
}

// contentOf returns the offset at which the content of a scalar begins, after its tag, anchor, opening quote or the
// header of a block scalar.
func contentOf(file string, start int, style yaml.Style) int {
	i := start
	for i < len(file) && (file[i] == '!' || file[i] == '&') {
		i += len(file[i:]) - len(strings.TrimLeft(strings.TrimLeftFunc(file[i:], func(r rune) bool {
			return !strings.ContainsRune(" \t\r\n", r)
		}), " \t\r\n"))
	}
	switch {
	case style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		if end := strings.IndexByte(file[i:], '\n'); end >= 0 {
			return i + end + 1
		}
		return len(file)
	case style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		return min(i+1, len(file))
	}
	return i
}

// escapeLength returns the length of the escape at the start of a text, and 0 for an escaped line break.
func escapeLength(text string) int {
	if len(text) < 2 {
		return len(text)
	}
	switch text[1] {
	case '\n', '\r':
		return 0
	case 'x':
		return min(len(text), len(`\x00`))
	case 'u':
		return min(len(text), len(`\u0000`))
	case 'U':
		return min(len(text), len(`\U00000000`))
	default:
		return 2
	}
}
