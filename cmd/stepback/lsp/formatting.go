package lsp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/yamlfmt"
	"github.com/google/yamlfmt/formatters/basic"
	"github.com/tliron/glsp"
	protocol "github.com/tliron/glsp/protocol_3_16"
	"go.yaml.in/yaml/v3"

	"stepback/asl/source"
	"stepback/cmd/stepback/definitions"
	"stepback/jsonvalue"
)

// format indents a file with definitions anew. In YAML, comments, blank lines and the order of fields stay.
func (s *server) format(_ *glsp.Context, p *protocol.DocumentFormattingParams) ([]protocol.TextEdit, error) {
	d, err := s.open.get(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	files, _ := d.read()
	if len(files) == 0 || !slices.EqualFunc(files, files, sameDefinition) {
		return nil, nil // without a definition, or one that cannot be parsed
	}
	width := 2
	if n, ok := p.Options["tabSize"].(float64); ok && n >= 1 && n <= 8 {
		width = int(n)
	}
	spaces, given := p.Options["insertSpaces"].(bool)
	formatted, err := d.formatted(width, spaces || !given)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s cannot be formatted: %w", d.path, err)
	case formatted == d.text:
		return nil, nil
	}
	if again, _ := definitions.InText(d.path, formatted); !slices.EqualFunc(files, again, sameDefinition) {
		return nil, fmt.Errorf("%s is written in a way that formatting cannot keep", d.path)
	}
	return []protocol.TextEdit{{Range: d.span(source.Span{Start: 0, End: len(d.text)}), NewText: formatted}}, nil
}

// formatted returns the text with a new indentation of width characters. Tabs are used only in JSON.
func (d *document) formatted(width int, spaces bool) (string, error) {
	crlf := strings.Contains(d.text, "\r\n")
	if json.Valid([]byte(d.text)) {
		indent := strings.Repeat(" ", width)
		if !spaces {
			indent = "\t"
		}
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(strings.TrimSpace(d.text)), "", indent); err != nil {
			return "", err
		}
		text := b.String() + "\n"
		if crlf {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		return text, nil
	}
	config := map[string]any{"indent": max(width, 2), "retain_line_breaks": true, "trim_trailing_whitespace": true,
		"line_ending": yamlfmt.LineBreakStyleLF}
	if crlf {
		config["line_ending"] = yamlfmt.LineBreakStyleCRLF
	}
	f, err := (&basic.BasicFormatterFactory{}).NewFormatter(config)
	if err != nil {
		return "", err
	}
	text, err := f.Format([]byte(d.text))
	if err != nil {
		return "", err
	}
	before, err := comments(d.text)
	if err != nil {
		return "", err
	}
	after, err := comments(string(text))
	if err != nil {
		return "", err
	}
	if !slices.Equal(before, after) {
		return "", errors.New("comments would be lost")
	}
	return string(text), nil
}

// comments returns the words of the comments of a YAML text, sorted.
func comments(text string) ([]string, error) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return nil, err
	}
	var words []string
	var collect func(n *yaml.Node)
	collect = func(n *yaml.Node) {
		words = append(words, strings.Fields(n.HeadComment+"\n"+n.LineComment+"\n"+n.FootComment)...)
		for _, inner := range n.Content {
			collect(inner)
		}
	}
	collect(&root)
	slices.Sort(words)
	return words, nil
}

// sameDefinition reports whether two definitions have the same JSON.
func sameDefinition(a, b definitions.File) bool {
	x, err := jsonvalue.Parse(a.Text)
	y, wrong := jsonvalue.Parse(b.Text)
	return a.Path == b.Path && err == nil && wrong == nil && jsonvalue.Equal(x, y)
}
