package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"stepback/internal/lazyregexp"
)

// MaxSize is the maximum size of a file in bytes.
const MaxSize = 1 << 20

// Reader collects the problems of one file.
type Reader struct {
	file     string
	problems Problems
}

// Read parses a text that must hold exactly one YAML document without aliases and tags. file is used only in
// problems. If the text is not valid YAML, the value is absent and [Reader.Err] returns the reason.
func Read(file string, text []byte) (*Reader, Value) {
	r := &Reader{file: file}
	root, err := parse(text)
	if err != nil {
		r.problems = append(r.problems, r.unreadable(err))
		return r, Value{r: r}
	}
	v := Value{r: r, node: root}
	v.refuseAliases(root)
	if len(r.problems) > 0 {
		return r, Value{r: r}
	}
	return r, v
}

// Err returns the problems found as [Problems], or nil.
func (r *Reader) Err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b *Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return r.problems
}

func parse(text []byte) (*yaml.Node, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("the file has %d bytes; at most %d are read", len(text), MaxSize)
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root, more yaml.Node
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) || err == nil && len(root.Content) == 0 {
		return nil, errors.New("the file is empty")
	} else if err != nil {
		return nil, err
	}
	switch err := decoder.Decode(&more); {
	case err == nil:
		return nil, errors.New("the file has more than one YAML document; use one file per document, without a line ---")
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return root.Content[0], nil
}

// errorLine finds the line in the YAML library's messages, the only position that they contain.
var errorLine = lazyregexp.New(`^yaml: line (\d+): `)

func (r *Reader) unreadable(err error) *Problem {
	text := err.Error()
	p := &Problem{File: r.file, Message: text}
	if m := errorLine.FindStringSubmatch(text); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		p.Column = 1
		p.Message = "this is not YAML: " + text[len(m[0]):]
	}
	return p
}

// refuseAliases reports aliases, merges and tags as problems, because they make a file hard to understand.
func (v Value) refuseAliases(n *yaml.Node) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge" {
		v.r.add(n, "", "anchors, aliases and merges are not supported; write the value out")
		return
	}
	if n.Style&yaml.TaggedStyle != 0 {
		v.r.add(n, "", "the tag %s is not supported; remove it", n.Tag)
		return
	}
	for _, c := range n.Content {
		v.refuseAliases(c)
	}
}

func (r *Reader) add(n *yaml.Node, path, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		return
	}
	r.problems = append(r.problems, &Problem{
		File: r.file, Line: n.Line, Column: n.Column, Path: path, Message: fmt.Sprintf(format, args...),
	})
}
