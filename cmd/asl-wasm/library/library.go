// Package library implements the functions of the npm package @stepback/asl. Options and results are JSON, because they
// cross the border between JavaScript and WebAssembly. It reads no files and opens no connections.
package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"stepback/cmd/stepback/definitions"
)

// function implements one function of the package: it reads its options, a JSON object, and a text, and returns the
// result, which becomes JSON.
type function func(options json.RawMessage, text string) (any, error)

// functions lists the functions by name.
var functions = map[string]function{
	"validate":     validate,
	"review":       reviewed,
	"fix":          fix,
	"graph":        drawn,
	"explain":      explain,
	"testState":    testState,
	"aslValidator": aslValidator,
	"path":         checkPath,
	"json":         asJSON,
}

// Call runs a function and returns its result as JSON. It returns an error for an unknown function, for options that
// are not supported, and for text that cannot be reviewed, drawn or run; an *aws.Error if AWS's API refuses the same.
func Call(name, options, text string) (result string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v\n%s", name, p, debug.Stack())
		}
	}()
	f, ok := functions[name]
	if !ok {
		return "", fmt.Errorf("there is no function %s", name)
	}
	if options == "" {
		options = "{}"
	}
	v, err := f(json.RawMessage(options), text)
	if err != nil {
		return "", err
	}
	encoded, err := json.Marshal(v)
	return string(encoded), err
}

// read decodes options. It rejects unknown ones, so that a misspelt option is not ignored.
func read(options json.RawMessage, into any) error {
	decoder := json.NewDecoder(strings.NewReader(string(options)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return errors.New("options: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// source holds the options about the text of a definition.
type source struct {
	File          string            `json:"file"`          // name in messages; the suffix decides whether it is YAML
	Machine       string            `json:"machine"`       // state machine of a template that declares several
	Express       bool              `json:"express"`       // type EXPRESS, whatever a template says
	Substitutions map[string]string `json:"substitutions"` // values of placeholders ${Name}
}

// parse reads the definition in text.
func (s source) parse(text string) (definitions.File, error) {
	file := s.File
	if file == "" {
		file = "definition"
	}
	return definitions.Parse(file, s.Machine, text, s.Substitutions)
}

// lacking rewrites the error of placeholders without a value for callers who have options instead of flags.
func lacking(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), "with --substitute NAME=VALUE", "in the option substitutions"))
}

func validate(options json.RawMessage, text string) (any, error) {
	var o source
	if err := read(options, &o); err != nil {
		return nil, err
	}
	d, err := o.parse(text)
	if err != nil {
		return nil, err
	}
	return definitions.NewValidated(&d, d.Diagnose(o.Express)), nil
}
