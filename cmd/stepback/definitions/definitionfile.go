package definitions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/aws/model"
	"stepback/cmd/stepback/terminal"
	"stepback/engine"
	"stepback/jsonvalue"
)

// File is a state machine definition that has been read.
type File struct {
	Name string // of the state machine
	Path string // for messages
	Text string // the JSON for Step Functions

	Document *document.Document
}

// Suffixes lists the suffixes of the names of definition files.
var Suffixes = []string{".asl.json", ".asl.yaml", ".asl.yml"}

// IsDefinition reports whether a file's name is that of a definition.
func IsDefinition(name string) bool {
	return slices.ContainsFunc(Suffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// Read reads a definition, JSON or YAML, from a file, or from standard input. Without a name the state
// machine is named after the file.
func Read(name, path string, values map[string]string, std terminal.Streams) (File, error) {
	d := File{Name: name, Path: path}
	if path == "-" {
		d.Path = "standard input"
	}
	file, machine := PartOf(path)
	if filepath.Ext(file) == ".tf" {
		return d, fmt.Errorf("%s: Terraform's own language is not supported; give the definition's file, or a plan: "+
			"terraform plan -out plan && terraform show -json plan > plan.json", file)
	}
	text, err := ReadText(file, std)
	if err != nil {
		return d, err
	}
	if machine != "" || Looks(string(text)) {
		return d.declared(file, machine, string(text), values, std)
	}
	if d.Name == "" {
		d.Name = MachineName(path)
	}
	d.Document = document.Read(string(text), document.Options{YAML: isYAML(path, string(text)), Values: values})
	d.Text = d.Document.JSON
	return d, nil
}

// PartOf splits FILE#NAME, which names a state machine of a template.
func PartOf(path string) (file, machine string) {
	i := strings.LastIndexByte(path, '#')
	if i < 0 || terminal.Exists(path) {
		return path, ""
	}
	return path[:i], path[i+1:]
}

// declared reads the definition of a state machine declared in a template: the named one, or the only one. Values of
// placeholders on the command line take precedence over the template's.
func (d File) declared(file, machine, text string, values map[string]string, std terminal.Streams) (File, error) {
	found, err := In(text)
	if err != nil {
		return d, fmt.Errorf("%s: %w", d.Path, err)
	}
	var names []string
	var chosen *Found
	for i := range found {
		names = append(names, found[i].Name)
		if found[i].Name == machine || machine == "" && len(found) == 1 {
			chosen = &found[i]
		}
	}
	if chosen == nil {
		return d, fmt.Errorf("%s declares %s: name one of them, such as %s#%s", file, strings.Join(names, ", "), file,
			names[0])
	}
	all := maps.Clone(chosen.Values)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, values)
	if d.Name == "" {
		d.Name = MachineName(chosen.Name)
	}
	d.Path = file + "#" + chosen.Name
	if chosen.Missing != "" {
		return d, fmt.Errorf("%s: %s", d.Path, chosen.Missing)
	}
	if chosen.File == "" {
		d.Document = document.Read(chosen.Text, document.Options{YAML: document.IsYAML(chosen.Text), Values: all})
		d.Text = d.Document.JSON
		return d, nil
	}
	d.Path = filepath.Join(filepath.Dir(file), chosen.File)
	inner, err := ReadText(d.Path, std)
	if err != nil {
		return d, fmt.Errorf("%s#%s: %w", file, chosen.Name, err)
	}
	d.Document = document.Read(string(inner), document.Options{YAML: isYAML(d.Path, string(inner)), Values: all})
	d.Text = d.Document.JSON
	return d, nil
}

// declaredIn returns the state machines of a template; none if the file is not a template.
func declaredIn(path string) ([]Found, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || IsDefinition(path) || filepath.Ext(path) == ".tf" {
		return nil, nil //nolint:nilerr // whoever reads it says why it cannot be read
	}
	text, err := ReadText(path, terminal.Streams{})
	if err != nil || !Looks(string(text)) {
		return nil, nil //nolint:nilerr // likewise
	}
	found, err := In(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// isTemplate reports whether a file's name is that of a template.
func isTemplate(name string) bool {
	for _, suffix := range []string{".template.json", ".tf.json", "template.yaml", "template.yml", "template.json",
		"serverless.yml", "serverless.yaml"} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// mayDeclare reports whether a file in a directory may contain state machines although its name does not say so: JSON
// or YAML, and no longer than the maximum for a CloudFormation template.
func mayDeclare(path string, entry fs.DirEntry) bool {
	const longest = 1 << 20
	switch filepath.Ext(path) {
	case ".json", ".yaml", ".yml", ".template":
		info, err := entry.Info()
		return err == nil && info.Mode().IsRegular() && info.Size() <= longest
	}
	return false
}

// isYAML reports whether a definition is YAML. It decides by the file's name, or by the text if the name's
// extension is neither YAML's nor JSON's.
func isYAML(path, text string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return true
	case ".json":
		return false
	default:
		return document.IsYAML(text)
	}
}

// Diagnose returns errors and warnings, at their positions in the file.
func (d *File) Diagnose(express bool) []asl.Diagnostic {
	return d.Document.Diagnose(func(definition string) []asl.Diagnostic { return validate(definition, express) })
}

// Render formats diagnostics with their lines of the file.
func (d *File) Render(found []asl.Diagnostic) string {
	return asl.Render(found, d.Document.Text, d.Path)
}

// Tasks returns the names of the definition's Task states, at any depth.
func (d *File) Tasks() []string {
	root, err := jsonvalue.Parse(d.Text)
	if err != nil {
		return nil
	}
	return tasksIn(nil, root)
}

// tasksIn appends the names of the Task states in a machine, or in a state's iterator or branches.
func tasksIn(names []string, machine jsonvalue.Value) []string {
	states, _ := machine.Get("States")
	for i, name := range states.Keys() {
		state := states.At(i)
		if kind, _ := state.Get("Type"); kind.Text() == "Task" {
			names = append(names, name)
		}
		for _, inner := range []string{"Iterator", "ItemProcessor"} {
			if m, ok := state.Get(inner); ok {
				names = tasksIn(names, m)
			}
		}
		branches, _ := state.Get("Branches")
		for k := range branches.Len() {
			names = tasksIn(names, branches.At(k))
		}
	}
	return names
}

// Lacks returns an error if an accepted definition cannot run yet because placeholders have no values, and nil
// otherwise.
func (d *File) Lacks(express bool) error {
	needed := d.Document.Needed
	if found := validate(d.Text, express); len(needed) == 0 && asl.HasErrors(found) &&
		!asl.HasErrors(d.Document.Place(found)) {
		if needed = d.Document.Blamed(found); len(needed) == 0 {
			needed = d.Document.Open
		}
	}
	if len(needed) == 0 {
		return nil
	}
	return fmt.Errorf("%s: give %s a value with --substitute NAME=VALUE", d.Path, Placeholders(needed))
}

// unfitForNames matches the characters that are not allowed here in the name of a state machine.
var unfitForNames = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// maxName is the maximum length of a state machine's name.
const maxName = 80

// MachineName returns the name of the state machine that a file defines: the file's name, with hyphens for characters
// that are not allowed.
func MachineName(path string) string {
	base := filepath.Base(path)
	for _, suffix := range append(slices.Clone(Suffixes), ".json", ".yaml", ".yml", ".asl") {
		if cut, found := strings.CutSuffix(base, suffix); found {
			base = cut
			break
		}
	}
	name := strings.Trim(unfitForNames.ReplaceAllString(base, "-"), "-")
	if name == "" {
		return "machine"
	}
	return name[:min(len(name), maxName)]
}

// Nested reads the definitions of --nested.
func Nested(flags []string, values map[string]string, std terminal.Streams) ([]File, error) {
	var read []File
	for _, flag := range flags {
		name, path, ok := strings.Cut(flag, "=")
		if !ok || name == "" || path == "" || path == "-" {
			return nil, fmt.Errorf("--nested %s: give NAME=FILE", flag)
		}
		d, err := Read(name, path, values, std)
		if err != nil {
			return nil, err
		}
		read = append(read, d)
	}
	return read, nil
}

// ReadInput reads the input of an execution: literal JSON, @FILE, or - for standard input.
func ReadInput(flag string, std terminal.Streams) (string, error) {
	text, from := []byte(flag), "--input"
	var err error
	if path, isFile := strings.CutPrefix(flag, "@"); isFile || flag == "-" {
		if from = path; path == "-" {
			from = "standard input"
		}
		text, err = ReadText(path, std)
	}
	if err != nil {
		return "", fmt.Errorf("--input: %w", err)
	}
	if len(text) > document.MaxText {
		return "", fmt.Errorf("--input: %s is longer than 8 MiB; an execution accepts at most 262,144 bytes", from)
	}
	text = bytes.TrimSpace(text)
	if _, err := jsonvalue.Parse(string(text)); err != nil {
		if from == "--input" && terminal.Exists(flag) {
			return "", fmt.Errorf("--input is not JSON; did you mean the file @%s?", flag)
		}
		return "", fmt.Errorf("%s is not JSON: %w", from, err)
	}
	return string(text), nil
}

// errInterrupted reports that reading a file was aborted before its end.
var errInterrupted = errors.New("interrupted while reading")

// ReadText reads a file, or standard input if path is -. It reads at most one byte beyond document.MaxText, because
// a longer file is too long for every purpose, and might be an endless device. If the command is interrupted while
// it waits for a pipe, reading is aborted.
func ReadText(path string, std terminal.Streams) ([]byte, error) {
	type outcome struct {
		text []byte
		err  error
	}
	read := make(chan outcome, 1)
	go func() { // it lives as long as the process if the pipe is never written to
		text, err := readAll(path, std)
		read <- outcome{text, err}
	}()
	select {
	case o := <-read:
		return o.text, o.err
	case <-std.Interrupted:
		return nil, fmt.Errorf("%s: %w", path, errInterrupted)
	}
}

func readAll(path string, std terminal.Streams) ([]byte, error) {
	in := std.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	if in == nil {
		return nil, errors.New("there is no standard input")
	}
	return io.ReadAll(io.LimitReader(in, document.MaxText+1))
}

// validate returns all errors and warnings that Step Functions would report about a definition.
func validate(definition string, express bool) []asl.Diagnostic {
	return engine.Validate(definition, express, model.CheckAction)
}

// VisitStates calls visit with every state of a graph, including nested ones.
func VisitStates(g *asl.Graph, visit func(*asl.State)) {
	for _, s := range g.States {
		visit(s)
		for _, b := range s.Branches {
			VisitStates(b, visit)
		}
		if s.Map != nil && s.Map.Processor != nil {
			VisitStates(s.Map.Processor, visit)
		}
	}
}
