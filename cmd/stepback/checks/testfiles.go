package checks

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/terminal"
	"stepback/stepbacktest/machinetest"
)

// testFiles returns the named test files, and all test files in named directories. unread are the names that do not
// exist or hold no test file, and directories that cannot be searched.
func testFiles(named []string) (files []string, unread []definitions.Unread) {
	fails := func(path string, err error, isNamed bool) {
		if of, ok := errors.AsType[*fs.PathError](err); ok {
			err = of.Err
		}
		unread = append(unread, definitions.Unread{Path: path, Err: err, Named: isNamed})
	}
	for _, name := range named {
		info, err := os.Stat(name)
		if err != nil {
			fails(name, err, true)
			continue
		}
		if !info.IsDir() {
			files = append(files, name)
			continue
		}
		before, failed := len(files), len(unread)
		_ = filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				fails(path, err, false)
				if entry != nil && entry.IsDir() {
					return fs.SkipDir
				}
			case entry.IsDir() && path != name && definitions.IsBuilt(entry.Name()):
				return fs.SkipDir
			case !entry.IsDir() && machinetest.IsTestFile(path):
				files = append(files, path)
			}
			return nil
		})
		if len(files) == before && len(unread) == failed {
			fails(name, errors.New("it has no *.test.yaml; stepback init writes an example"), true)
		}
	}
	return files, unread
}

// besideTest returns the path of the definition that lies next to a test file and has the same base name.
func besideTest(path string) string {
	base := filepath.Base(path)
	for _, suffix := range []string{".test.yaml", ".test.yml"} {
		base = strings.TrimSuffix(base, suffix)
	}
	for _, suffix := range definitions.Suffixes {
		if terminal.Exists(filepath.Join(filepath.Dir(path), base+suffix)) {
			return base + suffix
		}
	}
	return base + definitions.Suffixes[0]
}

// beside opens the files that a test file names, relative to its directory.
type beside struct {
	dir string
	std terminal.Streams
	all *tested
}

// path returns the path of a file that is opened.
func (b beside) path(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(b.dir, path)
	}
	file, _ := definitions.PartOf(path)
	b.all.opened = append(b.all.opened, file)
	return path
}

// Definition implements machinetest.Opener.
func (b beside) Definition(path string, values map[string]string) (string, error) {
	d, err := definitions.Read("", b.path(path), values, b.std)
	if err != nil {
		return "", err
	}
	if problems := d.Document.Problems; len(problems) > 0 {
		return "", errors.New(d.Render(problems))
	}
	return d.Text, d.Lacks(false)
}

// Text implements machinetest.Opener.
func (b beside) Text(path string) ([]byte, error) {
	text, err := definitions.ReadText(b.path(path), b.std)
	return terminal.WithoutMark(text), err
}
