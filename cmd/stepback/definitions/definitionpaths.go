package definitions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
)

// Unread is a file, or a state machine of a template, that was not read.
type Unread struct {
	Path string
	// Err is the reason. Its message does not repeat the path.
	Err error
	// Named is true if the command line names the path, and false if it was found in a directory.
	Named bool
}

// Error implements error.
func (u Unread) Error() string { return terminal.NearPath(u.Path) + ": " + u.Err.Error() }

// Unwrap returns the reason.
func (u Unread) Unwrap() error { return u.Err }

// ErrNothing is the reason for which a directory without definitions and templates is unread.
var ErrNothing = errors.New("no template with a state machine")

// Status returns the error with which a command ends that has given its verdict on every definition it could read.
// unread are the others, which it prints, one a line. attention is true if one of the verdicts needs attention. A file
// that the command line names and that cannot be read is wrong usage.
func Status(std terminal.Streams, unread []Unread, attention bool) error {
	code := exit.OK
	if attention || len(unread) > 0 {
		code = exit.Data
	}
	for _, u := range unread {
		fmt.Fprintf(std.Err, "stepback: not read: %v\n", u)
		if u.Named {
			code = exit.Usage
		}
	}
	if code == exit.OK {
		return nil
	}
	return exit.With(code, nil)
}

// All reads the named definitions, the state machines of named templates, and in place of each directory the
// definitions and templates below it, in the order of their names. What cannot be read is in unread and does not
// prevent the others from being read.
func All(named []string, values map[string]string, std terminal.Streams) (read []File, unread []Unread) {
	a := all{values: values, std: std}
	for _, name := range named {
		a.named = true
		a.argument(name)
	}
	return a.read, a.unread
}

// all collects definitions.
type all struct {
	values map[string]string
	std    terminal.Streams
	named  bool // the path at hand is named on the command line
	read   []File
	unread []Unread
}

// fails records that a path was not read.
func (a *all) fails(path string, err error) {
	var of *fs.PathError
	if errors.As(err, &of) && filepath.Clean(of.Path) == filepath.Clean(path) {
		err = of.Err
	}
	words := strings.TrimPrefix(terminal.Words(err), path+": ") // the message does not repeat the path
	a.unread = append(a.unread, Unread{path, &reworded{words, err}, a.named})
}

// reworded is an error in the words of the command.
type reworded struct {
	text string
	err  error
}

func (r *reworded) Error() string { return r.text }
func (r *reworded) Unwrap() error { return r.err }

// argument reads what an argument of the command line names.
func (a *all) argument(name string) {
	if file, machine := PartOf(name); name == "-" || machine != "" && terminal.Exists(file) {
		a.one(name)
		return
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		a.fails(name, err)
	case info.IsDir():
		a.below(name)
	default:
		if !a.template(name, true) {
			a.one(name)
		}
	}
}

// one reads a definition.
func (a *all) one(path string) {
	d, err := Read("", path, a.values, a.std)
	if err != nil {
		a.fails(path, err)
		return
	}
	a.read = append(a.read, d)
}

// template reads the state machines of a template. It returns false if the file is no template. certain is true if a
// file that mentions state machines and cannot be parsed is to be reported.
func (a *all) template(path string, certain bool) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || IsDefinition(path) || isTerraform(path) {
		return false
	}
	text, err := ReadText(path, a.std)
	if err != nil || !Looks(string(text)) {
		return false
	}
	found, err := In(string(text))
	if err != nil {
		if !errors.Is(err, ErrNone) && (certain || namesMachine(string(text))) || errors.Is(err, ErrNone) && a.named {
			a.fails(path, err)
		}
		return true
	}
	for i := range found {
		d, err := File{}.declared(path, string(text), &found[i], a.values, a.std)
		if err != nil {
			a.fails(path+"#"+found[i].Name, err)
			continue
		}
		a.read = append(a.read, d)
	}
	return true
}

// builtDirectories are directories of build output and of code that is not the project's own; they are skipped.
var builtDirectories = []string{"node_modules", ".git", ".aws-sam", ".terraform", ".serverless"}

// IsBuilt reports whether a directory's name is that of build output, or of code that is not the project's own, which
// searches of a directory skip.
func IsBuilt(name string) bool { return slices.Contains(builtDirectories, name) }

// below reads the definitions in a directory: separate files, and the state machines of templates. If a template
// names a file, the file is read only as part of the template, which has the values of its placeholders.
func (a *all) below(directory string) {
	a.named = false
	before, unread := len(a.read), len(a.unread)
	var separate, byTerraform []string
	_ = filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			a.fails(path, err)
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
			if path != directory && IsBuilt(entry.Name()) {
				return fs.SkipDir
			}
		case IsDefinition(path):
			separate = append(separate, path)
		case isTerraform(path):
			files, why := inTerraform(path, a.std)
			byTerraform = append(byTerraform, files...)
			if why != "" {
				a.fails(path, errors.New(why))
			}
		case isTemplate(path):
			a.template(path, true)
		case mayDeclare(path, entry):
			a.template(path, false)
		}
		return nil
	})
	for _, path := range byTerraform {
		if path = filepath.Clean(path); !slices.Contains(separate, path) {
			separate = append(separate, path)
		}
	}
	byTemplate := map[string]bool{}
	for _, d := range a.read[before:] {
		byTemplate[filepath.Clean(d.Path)] = true
	}
	for _, path := range separate {
		if !byTemplate[filepath.Clean(path)] {
			a.one(path)
		}
	}
	slices.SortStableFunc(a.read[before:], func(x, y File) int { return strings.Compare(x.Path, y.Path) })
	if len(a.read) == before && len(a.unread) == unread {
		a.named = true
		a.fails(directory, fmt.Errorf("it has no *%s, and %w", strings.Join(Suffixes, " or *"), ErrNothing))
	}
}
