// Command licences prints the licences of everything that is linked into a command: the Go distribution and the
// modules in the module cache, each with its version. A module without a licence file is an error. The command never
// downloads anything.
//
//	go run ./release/licences ./cmd/stepback > LICENCES
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// systems are the operating systems that releases are built for; modules linked on only one of them are listed, too.
var systems = []string{"linux", "darwin", "windows"}

func main() {
	if err := run(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, packages []string) error {
	if len(packages) == 0 {
		return errors.New("name the packages of the command, such as ./cmd/stepback")
	}
	modules := map[string]string{} // folder by path and version
	for _, system := range systems {
		if err := linked(ctx, modules, system, packages); err != nil {
			return err
		}
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	if err := write(out, "Go "+runtime.Version(), strings.TrimSpace(string(root))); err != nil {
		return err
	}
	names := make([]string, 0, len(modules))
	for name := range modules {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := write(out, name, modules[name]); err != nil {
			return err
		}
	}
	return nil
}

// linked adds the modules that are linked into the packages on a system.
func linked(ctx context.Context, modules map[string]string, system string, packages []string) error {
	const form = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	//nolint:gosec // the packages are those of the developer's own command line
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-deps", "-f", form}, packages...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("listing the packages of %s: %w", system, err)
	}
	for line := range strings.Lines(string(list)) {
		if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			modules[name] = dir
		}
	}
	return nil
}

// write prints the licence files of one folder.
func write(out io.Writer, name, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := false
	for _, e := range entries {
		if e.IsDir() || !isLicence(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		found = true
		if _, err := fmt.Fprintf(out, "%s\n%s: %s\n%[1]s\n%s\n\n", strings.Repeat("=", 80), name, e.Name(),
			bytes.TrimSpace(text)); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("%s has no licence file in %s", name, dir)
	}
	return nil
}

// isLicence reports whether a file name is one used for licences and notices.
func isLicence(name string) bool {
	upper := strings.ToUpper(name)
	for _, begin := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS", "UNLICENSE"} {
		if strings.HasPrefix(upper, begin) && filepath.Ext(upper) != ".GO" {
			return true
		}
	}
	return false
}
