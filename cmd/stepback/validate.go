package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
)

type validateCmd struct {
	Files   []string `arg:"" help:"State machine definitions (Amazon States Language in JSON or YAML), - for standard input, templates that declare them (SAM, CloudFormation, cdk.out, Terraform's JSON, serverless.yml; FILE#NAME is one of them), or directories, which are searched for *.asl.json, *.asl.yaml, *.asl.yml and templates."`
	Express bool     `help:"Check as state machines of type EXPRESS."`
	JSON    bool     `name:"json" help:"Print the diagnostics of all files as JSON."`

	substitutions
}

// Help shows an example.
func (validateCmd) Help() string {
	return `Examples:
  stepback validate statemachine.asl.json
  stepback validate definitions/ --json
  stepback validate template.yaml cdk.out
  stepback validate order.asl.yaml --substitute PayFunctionArn=arn:aws:lambda:us-east-1:123456789012:function:pay --substitute Days=30
  aws stepfunctions describe-state-machine --state-machine-arn ARN --query definition --output text | stepback validate -

Exit status: 0 if all definitions are accepted, with or without warnings; 2 if a file cannot be read; 3 if a definition would be refused.`
}

// validated is the JSON form of the result for one definition.
type validated struct {
	File        string       `json:"file"`
	Result      string       `json:"result"` // OK or FAIL, as in ValidateStateMachineDefinition
	Diagnostics []diagnostic `json:"diagnostics"`
	// Placeholders are the names of placeholders without a value; the text they stand for is not checked.
	Placeholders []string `json:"placeholders,omitempty"`
}

// diagnostic is one finding, with its position.
type diagnostic struct {
	Severity asl.Severity `json:"severity"`
	Code     asl.Code     `json:"code"`
	Message  string       `json:"message"`
	Location string       `json:"location,omitempty"`
	Line     int          `json:"line"`
	Column   int          `json:"column"`
	Hint     string       `json:"hint,omitempty"`
}

// Run prints the errors of each definition, with the line and a caret.
func (c *validateCmd) Run(_ context.Context, std streams) error {
	files, err := definitionPaths(c.Files, std.err)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	values, err := c.values()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	all, refused := make([]validated, 0, len(files)), false
	read := make([]definitionFile, 0, len(files))
	for _, path := range files {
		d, err := readDefinition("", path, values, std)
		if err != nil {
			return &exitError{exitUsage, err}
		}
		read = append(read, d)
	}
	if err := c.unknown(read...); err != nil {
		return &exitError{exitUsage, err}
	}
	for _, d := range read {
		found := d.diagnose(c.Express)
		v := newValidated(&d, found)
		all, refused = append(all, v), refused || v.Result == "FAIL"
		if c.JSON {
			continue
		}
		text := d.render(found)
		if std.colour {
			text = coloured(text)
		}
		if v.Result == "OK" {
			text += d.path + ": accepted" + whatever(v.Placeholders) + "\n"
		}
		fmt.Fprint(std.out, text)
	}
	if c.JSON {
		if err := printJSON(std.out, all); err != nil {
			return err
		}
	}
	if refused {
		return &exitError{code: exitData}
	}
	return nil
}

// whatever returns the part of a message that lists the placeholders without a value, or "" if there are none.
func whatever(open []string) string {
	if len(open) == 0 {
		return ""
	}
	return ", whatever the values of " + placeholders(open) + " are"
}

func newValidated(d *definitionFile, found []asl.Diagnostic) validated {
	v := validated{File: d.path, Placeholders: d.document.Open, Result: "OK", Diagnostics: make([]diagnostic, 0,
		len(found))}
	if asl.HasErrors(found) {
		v.Result = "FAIL"
	}
	for _, d := range found {
		v.Diagnostics = append(v.Diagnostics, diagnostic{d.Severity, d.Code, d.Message, d.Location, d.Line, d.Column,
			d.Hint})
	}
	return v
}

// definitionPaths replaces each directory by the definitions below it, in the order of their names. It prints to note
// which definitions in a directory cannot be read.
func definitionPaths(named []string, note io.Writer) ([]string, error) {
	var paths []string
	for _, name := range named {
		if name == "-" {
			paths = append(paths, name)
			continue
		}
		if file, machine := partOf(name); machine != "" && exists(file) {
			paths = append(paths, name)
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			inside, err := definitionsBelow(name, note)
			if err != nil {
				return nil, err
			}
			paths = append(paths, inside...)
			continue
		}
		found, err := declaredIn(name)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			paths = append(paths, name+"#"+f.Name)
		}
		if len(found) == 0 {
			paths = append(paths, name)
		}
	}
	return paths, nil
}

// builtDirectories are directories of build output and of code that is not the project's own; they are skipped.
var builtDirectories = []string{"node_modules", ".git", ".aws-sam", ".terraform", ".serverless"}

// definitionsBelow returns the definitions in a directory: separate files, and the state machines of templates. A
// file that a template names is returned as part of the template, which has the values of its placeholders.
func definitionsBelow(directory string, note io.Writer) ([]string, error) {
	var paths []string
	byTemplate := map[string]bool{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != directory && slices.Contains(builtDirectories, entry.Name()) {
				return fs.SkipDir
			}
		case isDefinition(path):
			paths = append(paths, path)
		case isTemplate(path), mayDeclare(path, entry):
			found, err := declaredIn(path)
			if err != nil && !errors.Is(err, definitions.ErrNone) && isTemplate(path) {
				return err
			}
			for _, f := range found {
				if f.Missing != "" {
					fmt.Fprintf(note, "%s#%s is skipped: %s\n", path, f.Name, f.Missing)
					continue
				}
				paths = append(paths, path+"#"+f.Name)
				if f.File != "" {
					byTemplate[filepath.Join(filepath.Dir(path), f.File)] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return byTemplate[filepath.Clean(path)] })
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s has no *%s, and no template with a state machine", directory,
			strings.Join(definitionSuffixes, " or *"))
	}
	return paths, nil
}
