// Package examples holds state machines with their tests, which stepback init writes into a directory: an order saga
// with compensation, an approval by callback, invoices in JSONata with a Map in a Map, and a distributed Map over the
// rows of a CSV file. It runs nothing.
package examples

import (
	"embed"
	"io/fs"
	"slices"
)

//go:embed order-saga approval invoices csv-rows
var files embed.FS

// Names returns the names of the examples, sorted.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil // cannot happen: the files are in the binary
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	return names
}

// Of returns the files of an example. It returns false if there is no example with this name.
func Of(name string) (fs.FS, bool) {
	if !slices.Contains(Names(), name) {
		return nil, false
	}
	of, err := fs.Sub(files, name)
	return of, err == nil
}
