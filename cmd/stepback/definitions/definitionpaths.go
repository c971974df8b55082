package definitions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/cmd/stepback/terminal"
)

// Paths replaces each directory by the definitions below it, in the order of their names. It prints to note
// which definitions in a directory cannot be read.
func Paths(named []string, note io.Writer) ([]string, error) {
	var paths []string
	for _, name := range named {
		if name == "-" {
			paths = append(paths, name)
			continue
		}
		if file, machine := PartOf(name); machine != "" && terminal.Exists(file) {
			paths = append(paths, name)
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, err
		}
		if info.IsDir() {
			inside, err := below(name, note)
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

// below returns the definitions in a directory: separate files, and the state machines of templates. If a template
// refers to a file, the file is returned only as part of the template, which has the values of its placeholders.
func below(directory string, note io.Writer) ([]string, error) {
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
		case IsDefinition(path):
			paths = append(paths, path)
		case isTemplate(path), mayDeclare(path, entry):
			found, err := declaredIn(path)
			if err != nil && !errors.Is(err, ErrNone) && isTemplate(path) {
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
			strings.Join(Suffixes, " or *"))
	}
	return paths, nil
}
