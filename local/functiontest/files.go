package functiontest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostFiles is the maximum number of files and directories of a function that Files returns.
const mostFiles = 5000

// Files returns the files and directories that decide what the tests do: the directory with the code, the code in it,
// and the function's sources. Packages that npm and pip have installed, caches and hidden files are left out. If there
// are more than 5,000, only the directory and the sources are returned.
func (f *File) Files() []string {
	all := append([]string{f.Function.Folder}, f.Function.Sources...)
	own := len(all)
	installed := installedPackages(f.Function.Folder)
	err := filepath.WalkDir(f.Function.Folder, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case path == f.Function.Folder:
			return err
		case err != nil || strings.HasPrefix(name, "."):
			return skip(d)
		case d.IsDir() && (name == "node_modules" || name == "__pycache__" || strings.HasSuffix(name, ".dist-info")):
			return fs.SkipDir
		case filepath.Dir(path) == filepath.Clean(f.Function.Folder) && slices.Contains(installed, name):
			return skip(d)
		}
		if len(all) == mostFiles {
			all = all[:own]
			return fs.SkipAll
		}
		all = append(all, path)
		return nil
	})
	if err != nil { // the directory is away for a moment: its return is a change
		return all[:own]
	}
	return all
}

// skip leaves out a file, or a directory with what is in it.
func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// installedPackages returns the names of the files and directories that pip has installed in a directory, as the
// records of its packages list them.
func installedPackages(dir string) []string {
	records, err := filepath.Glob(filepath.Join(dir, "*.dist-info", "RECORD"))
	if err != nil {
		return nil
	}
	var names []string
	for _, record := range records {
		text, err := os.ReadFile(record)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			path, _, _ := strings.Cut(line, ",")
			if name, _, _ := strings.Cut(path, "/"); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}
