package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// words is what an error says to whoever gave the command: of a file that could not be used, its name as it was
// probably typed and what is the matter with it, without the name of the system's call.
func words(err error) string {
	said := err.Error()
	var of *fs.PathError
	if !errors.As(err, &of) {
		return said
	}
	return strings.Replace(said, of.Error(), nearPath(of.Path)+": "+of.Err.Error(), 1)
}

// nearPath is a path as seen from the working directory, where it is below that, and otherwise as it is.
func nearPath(path string) string {
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
