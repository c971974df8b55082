package definitions

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/asl"
	"stepback/asl/document"
	"stepback/asl/source"
	"stepback/cmd/stepback/terminal"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// File is a state machine definition that has been read.
type File struct {
	Name string // of the state machine
	// Path names the definition in messages: a file, or FILE#NAME for a state machine in a template.
	Path string
	// Source is the file to which the lines and columns of diagnostics refer.
	Source string
	Text   string // the JSON for Step Functions
	// Express is true if the template declares a state machine of type EXPRESS.
	Express bool

	Document *document.Document

	// reread reads the definition from another text of Source.
	reread func(text string) (*document.Document, error)
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
	if isTerraform(file) {
		return d, fmt.Errorf("%s: %s", file, terraformAdvice)
	}
	text, err := ReadText(file, std)
	if err != nil {
		return d, err
	}
	return d.parse(file, machine, string(text), values, std)
}

// Parse reads a definition, JSON or YAML, or a template with one, from text. The name of the state machine chooses one
// of a template that declares several, and may be empty. Messages call the text path, whose suffix decides as in Read
// whether it is YAML.
func Parse(path, machine, text string, values map[string]string) (File, error) {
	d := File{Path: path}
	if len(text) > document.MaxText {
		text = text[:document.MaxText+1] // Read reads no more of a file either
	}
	return d.parse(path, machine, text, values, terminal.Streams{})
}

// ParseProperty reads a definition in JSON as CloudFormation reads the property Definition of a template: its
// functions, such as Ref and Fn::GetAtt, stand for values that only the deployment knows. Other text is read as by
// Parse.
func ParseProperty(path, text string) (File, error) {
	root, err := parse(text)
	if err != nil || len(text) > document.MaxText || !root.is(jsonvalue.Object) {
		return Parse(path, "", text, nil)
	}
	f, x := finder{text: text, root: root}, Found{}
	f.inline(&x, root, asObject)
	d := File{Name: MachineName(path), Path: path, Source: path}
	d.use(x.part.Read(document.Options{}))
	return d, nil
}

// parse reads a definition from the text of a file; machine names one of a template.
func (d File) parse(file, machine, text string, values map[string]string, std terminal.Streams) (File, error) {
	if machine != "" || Looks(text) {
		found, err := In(text)
		if err != nil {
			return d, fmt.Errorf("%s: %w", d.Path, err)
		}
		chosen, err := choose(found, file, machine)
		if err != nil {
			return d, err
		}
		return d.declared(file, text, chosen, values, std)
	}
	if d.Name == "" {
		d.Name = MachineName(file)
	}
	d.Source = d.Path
	d.reread = func(text string) (*document.Document, error) {
		return document.Read(text, document.Options{YAML: isYAML(file, text), Values: values}), nil
	}
	read, err := d.reread(text)
	d.use(read)
	return d, err
}

// Reread returns the definition as it is read from another text of its Source, such as one with fixes. The values of
// placeholders stay the same.
func (d *File) Reread(text string) (File, error) {
	again := *d
	read, err := d.reread(text)
	if err != nil {
		return again, err
	}
	again.use(read)
	return again, nil
}

func (d *File) use(read *document.Document) { d.Document, d.Text = read, read.JSON }

// PartOf splits FILE#NAME, which names a state machine of a template.
func PartOf(path string) (file, machine string) {
	i := strings.LastIndexByte(path, '#')
	if i < 0 || terminal.Exists(path) {
		return path, ""
	}
	return path[:i], path[i+1:]
}

// choose returns the named state machine of a template, or its only one.
func choose(found []Found, file, machine string) (*Found, error) {
	var names []string
	for i := range found {
		if found[i].Name == machine || machine == "" && len(found) == 1 {
			return &found[i], nil
		}
		names = append(names, found[i].Name)
	}
	return nil, fmt.Errorf(
		"%s declares %s: name one of them, such as %s#%s",
		file,
		strings.Join(names, ", "),
		file,
		names[0],
	)
}

// declared reads the definition of a state machine declared in a template with the given text. Values of placeholders
// on the command line take precedence over the template's.
func (d File) declared(file, text string, x *Found, values map[string]string, std terminal.Streams) (File, error) {
	all := maps.Clone(x.Values)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, values)
	if d.Name == "" {
		d.Name = MachineName(x.Name)
	}
	d.Path, d.Source, d.Express = file+"#"+x.Name, file, x.Express
	if x.Refused != "" {
		d.use(document.Refuse(text, x.at, x.Refused, ""))
		return d, nil
	}
	if x.part != nil {
		d.reread = func(text string) (*document.Document, error) {
			found, err := In(text)
			if err != nil {
				return nil, err
			}
			again, err := choose(found, file, x.Name)
			if err != nil {
				return nil, err
			}
			if again.part == nil {
				return nil, fmt.Errorf("%s has no definition of %s any more", file, x.Name)
			}
			return again.part.Read(document.Options{Values: all}), nil
		}
		d.use(x.part.Read(document.Options{Values: all}))
		return d, nil
	}
	if x.s3 != "" { // cdk.out has the file beside the template
		if asset := "asset." + x.s3; terminal.Exists(filepath.Join(filepath.Dir(file), asset)) {
			x.File = asset
		}
	}
	if x.File == "" {
		return d, fmt.Errorf("%s: %s", d.Path, x.Missing)
	}
	path := filepath.Join(filepath.Dir(file), x.File)
	inner, err := ReadText(path, std)
	if err != nil {
		return d, fmt.Errorf("%s#%s: %w", file, x.Name, err)
	}
	d.Path, d.Source = path, path
	d.reread = func(text string) (*document.Document, error) { return uploaded(text, all), nil }
	d.use(uploaded(string(inner), all))
	return d, nil
}

// uploaded reads a definition file that a deployment uploads to S3, where CloudFormation reads it as JSON or else as
// YAML, whatever its name is.
func uploaded(text string, values map[string]string) *document.Document {
	part := document.NewPart(text)
	start := len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	part.Copy(source.Span{Start: start, End: len(text)})
	asJSON := part.Read(document.Options{Values: values})
	if _, err := jsonvalue.Parse(asJSON.JSON); len(asJSON.Problems) == 0 && err == nil {
		return asJSON
	}
	asYAML := part.Read(document.Options{Values: values, YAML: true})
	if strings.HasPrefix(strings.TrimSpace(part.Text()), "{") && len(asYAML.Problems) > 0 {
		return asJSON
	}
	return asYAML
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

// unfitForNames matches the characters that are not allowed here in the name of a state machine.
var unfitForNames = lazyregexp.New(`[^A-Za-z0-9_-]+`)

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

// ReplaceText overwrites a text file and keeps its permissions.
func ReplaceText(path, text string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), info.Mode().Perm())
}
