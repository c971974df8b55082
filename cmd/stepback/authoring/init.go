package authoring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/docs/examples"
)

// Init implements the verb init.
type Init struct {
	Dir     string `arg:"" optional:"" default:"." help:"Directory to write to; it is created if missing. Default: the working directory."`
	Example string `default:"order-saga" placeholder:"NAME" help:"order-saga, approval, invoices (JSONata) or csv-rows (distributed Map). Default order-saga."`
	JSON    bool   `name:"json" help:"Print the files as JSON."`
}

// Help shows examples.
func (Init) Help() string {
	return `Examples:
  stepback init orders && stepback test orders
  stepback init --example approval approvals

Writes a state machine with its tests. If any of the files exists already, nothing is written.`
}

// Run writes the example.
func (c *Init) Run(_ context.Context, std terminal.Streams) error {
	of, ok := examples.Of(c.Example)
	if !ok {
		return exit.With(exit.Usage, fmt.Errorf("there is no example %s; there are %s", c.Example,
			strings.Join(examples.Names(), ", ")))
	}
	var names []string
	err := fs.WalkDir(of, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if terminal.Exists(filepath.Join(c.Dir, name)) {
			return fmt.Errorf("%s already exists; name another directory", filepath.Join(c.Dir, name))
		}
	}
	var written []string
	for _, name := range names {
		path := filepath.Join(c.Dir, filepath.FromSlash(name))
		text, err := fs.ReadFile(of, name)
		if err == nil {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644))
		}
		if err != nil {
			return err
		}
		written = append(written, path)
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, map[string]any{"files": written})
	}
	for _, path := range written {
		fmt.Fprintln(std.Out, path)
	}
	fmt.Fprintf(std.Err, "run its tests with: stepback test %s\n", terminal.Quoted(c.Dir))
	return nil
}
