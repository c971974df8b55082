package s3

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// walker visits the objects of a bucket in S3's order, the byte order of keys, and skips directories that cannot
// contain a wanted key.
type walker struct {
	prefix string // visit only keys that start with it
	after  string // and are greater than it
	skip   string // and, unless it is empty, do not start with it; visit may set it
	visit  func(key, path string) (more bool, err error)
}

// element is one decoded name in a directory. The names of directories end in a slash, so that sorting the elements
// also sorts the keys below them.
type element struct {
	name, path string
}

func (w *walker) dir(path, keyPrefix string) (more bool, err error) {
	elements, err := readElements(path, "")
	if err != nil {
		return false, err
	}
	slices.SortFunc(elements, func(a, b element) int { return strings.Compare(a.name, b.name) })
	for _, e := range elements {
		key := keyPrefix + e.name
		more := true
		if strings.HasSuffix(e.name, "/") {
			if w.mayHold(key) {
				more, err = w.dir(e.path, key)
			}
		} else if w.wants(key) {
			more, err = w.visit(key, e.path)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

func (w *walker) wants(key string) bool {
	return strings.HasPrefix(key, w.prefix) && key > w.after && !w.skipped(key)
}

// mayHold reports whether keys that start with dir may be wanted.
func (w *walker) mayHold(dir string) bool {
	overlaps := strings.HasPrefix(dir, w.prefix) || strings.HasPrefix(w.prefix, dir)
	past := dir < w.after && !strings.HasPrefix(w.after, dir)
	return overlaps && !past && !w.skipped(dir)
}

func (w *walker) skipped(key string) bool {
	return w.skip != "" && strings.HasPrefix(key, w.skip)
}

// readElements reads a directory. begun is the first part of the name if it started in the parent directory.
func readElements(dir, begun string) ([]element, error) {
	entries, err := os.ReadDir(dir)
	if isMissing(err) {
		return nil, nil // deleted during the walk
	}
	if err != nil {
		return nil, err
	}
	elements := make([]element, 0, len(entries))
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		encoded, goesOn := strings.CutSuffix(entry.Name(), continuation)
		encoded, _ = strings.CutSuffix(encoded, objectSuffix)
		name, ok := decodeElement(encoded)
		if !ok {
			continue // not one of our names
		}
		name = begun + name
		switch {
		case goesOn && entry.IsDir():
			rest, err := readElements(path, name)
			if err != nil {
				return nil, err
			}
			elements = append(elements, rest...)
		case entry.IsDir():
			elements = append(elements, element{name + "/", path})
		default:
			elements = append(elements, element{name, path})
		}
	}
	return elements, nil
}
