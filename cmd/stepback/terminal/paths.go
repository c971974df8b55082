package terminal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Exists reports whether a file exists, or may exist because it cannot be reached. In the latter case, opening the
// file reports the reason.
func Exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// NearPath returns a path relative to the working directory if it lies below it, and other paths unchanged.
func NearPath(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	near, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(near) {
		return path
	}
	return near
}

const sqliteScheme = "sqlite:"

// ShortPath returns a path relative to the working directory if it lies below it; path may also be an SQLite
// address with such a path. Others are returned unchanged.
func ShortPath(path string) string {
	file, isDatabase := strings.CutPrefix(path, sqliteScheme)
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(file) {
		return path
	}
	rel, err := filepath.Rel(dir, file)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		return path
	case isDatabase:
		return sqliteScheme + rel
	default:
		return rel
	}
}

// Quoted quotes an argument for the shell where necessary.
func Quoted(a string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_./:=,@%+", r)
	}
	if a != "" && strings.IndexFunc(a, func(r rune) bool { return !plain(r) }) < 0 {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
