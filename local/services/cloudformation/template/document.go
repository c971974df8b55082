package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// MaxBytes is the maximum length of a template from S3. MaxBodyBytes is the maximum length of a template in the
// request itself.
const (
	MaxBytes     = 1 << 20
	MaxBodyBytes = 51_200
)

// Error reports an invalid template, in AWS's wording.
type Error struct{ Message string }

// Error implements error.
func (e *Error) Error() string { return e.Message }

func wrong(format string, args ...any) *Error { return &Error{fmt.Sprintf(format, args...)} }

// Position is a position in the text of a template. Both numbers count from 1; 0 is unknown.
type Position struct{ Line, Column int }

// Document is a parsed but not yet interpreted template. Transforms work on it.
type Document struct {
	// Root holds the sections.
	Root map[string]any
	// YAML is true if the text is YAML instead of JSON.
	YAML bool
	// order holds the keys of each section in the order of the text. positions holds the position of each key.
	order     map[string][]string
	positions map[string]map[string]Position
}

// Keys returns the keys of a section in the order of the text; keys added by a transform come last, sorted.
func (d *Document) Keys(section string) []string {
	m, _ := d.Root[section].(map[string]any)
	keys := make([]string, 0, len(m))
	for _, k := range d.order[section] {
		if _, ok := m[k]; ok {
			keys = append(keys, k)
		}
	}
	var added []string
	for k := range m {
		if !slices.Contains(d.order[section], k) {
			added = append(added, k)
		}
	}
	slices.Sort(added)
	return append(keys, added...)
}

// Position returns the position of a section's key.
func (d *Document) Position(section, key string) Position { return d.positions[section][key] }

// Parse parses the text of a template: JSON if it starts with a brace, otherwise YAML. The error is an *Error.
func Parse(text string) (*Document, error) {
	d := &Document{order: map[string][]string{}, positions: map[string]map[string]Position{}}
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, wrong("Template format error: unsupported structure.")
	}
	if !utf8.ValidString(text) {
		return nil, wrong("Template format error: the template is not valid UTF-8.")
	}
	var root *node
	var err error
	if strings.HasPrefix(trimmed, "{") {
		root, err = readJSON(text)
	} else {
		d.YAML = true
		root, err = readYAML(text)
	}
	if err != nil {
		return nil, err
	}
	if root.kind != object {
		return nil, wrong("Template format error: unsupported structure.")
	}
	if path := root.null(""); path != "" {
		return nil, wrong("[%s] 'null' values are not allowed in templates", path)
	}
	d.Root, _ = root.plain().(map[string]any)
	for i, section := range root.keys {
		n := root.items[i]
		if n.kind != object {
			continue
		}
		d.positions[section] = map[string]Position{}
		for j, k := range n.keys {
			d.order[section] = append(d.order[section], k)
			d.positions[section][k] = n.at[j]
		}
	}
	return d, nil
}

type kind uint8

const (
	scalar kind = iota
	list
	object
)

// node is a value with the order and the positions of its keys.
type node struct {
	kind  kind
	value any
	keys  []string
	at    []Position // of the keys
	items []*node    // elements of a list, or values of the keys
}

func (n *node) plain() any {
	switch n.kind { //nolint:exhaustive // scalars are below
	case list:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.plain()
		}
		return l
	case object:
		m := make(map[string]any, len(n.items))
		for i, item := range n.items {
			m[n.keys[i]] = item.plain()
		}
		return m
	}
	return n.value
}

// null returns the path of the first null value; empty if there is none.
func (n *node) null(path string) string {
	switch {
	case n.kind == scalar && n.value == nil:
		return path
	case n.kind == list:
		for i, item := range n.items {
			if p := item.null(fmt.Sprintf("%s/%d", path, i)); p != "" {
				return p
			}
		}
	case n.kind == object:
		for i, item := range n.items {
			if p := item.null(path + "/" + n.keys[i]); p != "" {
				return p
			}
		}
	}
	return ""
}

// maxDepth is the maximum nesting depth of a template.
const maxDepth = 200

func tooDeep(at Position) *Error {
	return wrong("Template format error: the template nests deeper than %d levels. (line %d, column %d)", maxDepth,
		at.Line, at.Column)
}

func duplicate(key string, at Position) *Error {
	return wrong("Template format error: Duplicate key %q. (line %d, column %d)", key, at.Line, at.Column)
}

type jsonReader struct {
	text    string
	decoder *json.Decoder
	// counted is the offset up to which lines have been counted. line and start are the number and the offset of
	// the line there.
	line, start, counted int
}

func readJSON(text string) (*node, error) {
	r := &jsonReader{text: text, decoder: json.NewDecoder(strings.NewReader(text)), line: 1}
	r.decoder.UseNumber()
	n, err := r.value(0)
	if err == nil {
		if _, e := r.decoder.Token(); !errors.Is(e, io.EOF) {
			err = r.malformed(e)
		}
	}
	return n, err
}

func (r *jsonReader) position(offset int) Position {
	for ; r.counted < offset && r.counted < len(r.text); r.counted++ {
		if r.text[r.counted] == '\n' {
			r.line, r.start = r.line+1, r.counted+1
		}
	}
	return Position{r.line, offset - r.start + 1}
}

func (r *jsonReader) malformed(err error) *Error {
	offset := int(r.decoder.InputOffset())
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = max(offset, int(syntax.Offset)-1)
	}
	at := r.position(offset + 1) // after the character that could not be parsed, as AWS counts
	return wrong("Template format error: JSON not well-formed. (line %d, column %d)", at.Line, at.Column)
}

func (r *jsonReader) value(depth int) (*node, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, r.malformed(err)
	}
	if depth > maxDepth {
		return nil, tooDeep(r.position(int(r.decoder.InputOffset())))
	}
	switch token {
	case json.Delim('{'):
		return r.object(depth)
	case json.Delim('['):
		n := &node{kind: list}
		for r.decoder.More() {
			item, err := r.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		return n, r.end()
	}
	return &node{value: token}, nil
}

func (r *jsonReader) object(depth int) (*node, error) {
	n := &node{kind: object}
	seen := map[string]bool{}
	for r.decoder.More() {
		token, err := r.decoder.Token()
		if err != nil {
			return nil, r.malformed(err)
		}
		key, _ := token.(string)
		at := r.position(int(r.decoder.InputOffset()) - len(key) - len(`""`))
		if seen[key] {
			return nil, duplicate(key, at)
		}
		seen[key] = true
		item, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.keys, n.at, n.items = append(n.keys, key), append(n.at, at), append(n.items, item)
	}
	return n, r.end()
}

func (r *jsonReader) end() error {
	if _, err := r.decoder.Token(); err != nil {
		return r.malformed(err)
	}
	return nil
}

func readYAML(text string) (*node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, wrong("Template format error: YAML not well-formed. (%s)",
			strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\n", " "), "yaml: "))
	}
	if len(document.Content) == 0 {
		return nil, wrong("Template format error: unsupported structure.")
	}
	return ofYAML(document.Content[0], 0)
}

func ofYAML(y *yaml.Node, depth int) (*node, error) {
	at := Position{y.Line, y.Column}
	if depth > maxDepth {
		return nil, tooDeep(at)
	}
	n, err := untagged(y, depth)
	if err != nil || !strings.HasPrefix(y.Tag, "!") || strings.HasPrefix(y.Tag, "!!") {
		return n, err
	}
	name := y.Tag[1:]
	key, ok := shortForms[name]
	if !ok {
		return nil, wrong("Template format error: YAML not well-formed. (line %d, column %d): the tag !%s is not known",
			at.Line, at.Column, name)
	}
	if text, isText := n.value.(string); name == "GetAtt" && isText {
		id, attribute, _ := strings.Cut(text, ".")
		n = &node{kind: list, items: []*node{{value: id}, {value: attribute}}}
	}
	return &node{kind: object, keys: []string{key}, at: []Position{at}, items: []*node{n}}, nil
}

// shortForms maps YAML tags to the functions that they abbreviate.
var shortForms = map[string]string{
	"Ref": "Ref", "Condition": "Condition", "And": "Fn::And", "Base64": "Fn::Base64", "Cidr": "Fn::Cidr",
	"Equals": "Fn::Equals", "FindInMap": "Fn::FindInMap", "GetAtt": "Fn::GetAtt", "GetAZs": "Fn::GetAZs",
	"If": "Fn::If", "ImportValue": "Fn::ImportValue", "Join": "Fn::Join", "Length": "Fn::Length", "Not": "Fn::Not",
	"Or": "Fn::Or", "Select": "Fn::Select", "Split": "Fn::Split", "Sub": "Fn::Sub",
	"ToJsonString": "Fn::ToJsonString", "Transform": "Fn::Transform", "Contains": "Fn::Contains",
	"RefAll": "Fn::RefAll", "ValueOf": "Fn::ValueOf", "EachMemberIn": "Fn::EachMemberIn",
	"EachMemberEquals": "Fn::EachMemberEquals", "ValueOfAll": "Fn::ValueOfAll",
}

func untagged(y *yaml.Node, depth int) (*node, error) {
	switch y.Kind { //nolint:exhaustive // the others are below
	case yaml.AliasNode:
		return nil, wrong("Template error: YAML aliases are not allowed in CloudFormation templates. (line %d, column %d)",
			y.Line, y.Column)
	case yaml.SequenceNode:
		n := &node{kind: list}
		for _, item := range y.Content {
			i, err := ofYAML(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, i)
		}
		return n, nil
	case yaml.MappingNode:
		n := &node{kind: object}
		seen := map[string]bool{}
		for i := 0; i+1 < len(y.Content); i += 2 {
			k := y.Content[i]
			at := Position{k.Line, k.Column}
			if k.Kind != yaml.ScalarNode {
				return nil, wrong("Template format error: [line %d, column %d] map keys must be strings.", at.Line, at.Column)
			}
			if seen[k.Value] {
				return nil, duplicate(k.Value, at)
			}
			seen[k.Value] = true
			item, err := ofYAML(y.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			n.keys, n.at, n.items = append(n.keys, k.Value), append(n.at, at), append(n.items, item)
		}
		return n, nil
	}
	return &node{value: scalarOf(y)}, nil
}

// scalarOf returns the value of a scalar: dates stay text, as do numbers that JSON would write differently, such as
// the account 012345678901.
func scalarOf(y *yaml.Node) any {
	switch y.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(y.Value, "true")
	case "!!int", "!!float":
		if json.Valid([]byte(y.Value)) {
			return json.Number(y.Value)
		}
	}
	return y.Value
}

// ParseValue parses JSON to a value.
func ParseValue(text string) (any, error) {
	n, err := readJSON(text)
	if err != nil {
		return nil, err
	}
	return n.plain(), nil
}
