package definitions

import (
	"errors"
	"strings"

	"stepback/asl/document"
	"stepback/cmd/stepback/terminal"
)

// InText returns the definitions that a text declares, as an editor holds the text of the file at path; the file itself
// is not read. Definitions in other files, which a template names, are left out. A text that is neither a definition
// nor a template with state machines has none. unread reports a template that cannot be parsed.
func InText(path, text string) (read []File, unread []Unread) {
	switch {
	case isTerraform(path):
		return nil, nil
	case IsDefinition(path), !Looks(text) && strings.Contains(text, "StartAt") && strings.Contains(text, "States"):
		d := File{Name: MachineName(path), Path: path, Source: path}
		d.reread = func(text string) (*document.Document, error) {
			return document.Read(text, document.Options{YAML: isYAML(path, text)}), nil
		}
		again, err := d.Reread(text)
		if err != nil {
			return nil, []Unread{{Path: path, Err: err, Named: true}}
		}
		return []File{again}, nil
	case !Looks(text):
		return nil, nil
	}
	found, err := In(text)
	switch {
	case errors.Is(err, ErrNone):
		return nil, nil
	case err != nil:
		return nil, []Unread{{Path: path, Err: err, Named: true}}
	}
	for i := range found {
		x := &found[i]
		if x.part == nil && x.Refused == "" {
			continue
		}
		d, err := File{}.declared(path, text, x, nil, terminal.Streams{})
		if err != nil {
			unread = append(unread, Unread{Path: path + "#" + x.Name, Err: err, Named: true})
			continue
		}
		read = append(read, d)
	}
	return read, unread
}
