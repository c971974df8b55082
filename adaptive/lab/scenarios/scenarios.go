// Package scenarios holds the laboratory's built-in scenarios as files, and finds scenarios and policies by name or
// path.
package scenarios

import (
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stepback/adaptive/lab/policy"
	"stepback/adaptive/lab/scenario"
	"stepback/internal/strictyaml"
)

//go:embed files/*.yaml
var files embed.FS

// order lists the scenarios in the order in which they are shown: scenarios in which retries do harm, scenarios of
// Maps, and scenarios in which adapting must do no harm.
var order = []string{
	"outage-30s", "outage-300s", "brown-out", "map-outage", "map-crowded", "flapping", "slow-drift", "gusts",
	"cold-cache", "pauses", "hot-partition", "late-capacity", "map-and-stream", "two-streams", "ordinary-retry",
	"two-tiers", "hot-key", "autoscaler", "emptied-cache", "durable-steps",
	"calm", "nearly-calm", "independent-errors", "partial-outage", "half-outage", "quota-bursts", "poison-records",
	"permanent-errors", "false-alarm",
}

// Names returns the names of the built-in scenarios.
func Names() []string { return slices.Clone(order) }

// Text returns the file of a built-in scenario, which can serve as a template for a new one.
func Text(name string) ([]byte, error) {
	if !slices.Contains(order, name) {
		return nil, fmt.Errorf("there is no scenario %q; use %s, or a file that ends in .yaml", name,
			strings.Join(order, ", "))
	}
	return files.ReadFile("files/" + name + ".yaml")
}

// Named returns a built-in scenario.
func Named(name string) (*scenario.Scenario, error) {
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	return scenario.Parse(name+".yaml", text, scenario.Options{})
}

// Open returns a scenario by name or from a file. Paths in the file are relative to the file.
func Open(nameOrPath string) (*scenario.Scenario, error) {
	if !isPath(nameOrPath) {
		return Named(nameOrPath)
	}
	text, err := read(nameOrPath, strictyaml.MaxSize+1)
	if err != nil {
		return nil, err
	}
	return scenario.Parse(nameOrPath, text, scenario.Options{ReadFile: func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(nameOrPath), name)
		}
		return read(name, maxFile)
	}})
}

// OpenPolicy returns a policy by name or from a file.
func OpenPolicy(nameOrPath string) (*policy.Policy, error) {
	if !isPath(nameOrPath) {
		return policy.Named(nameOrPath)
	}
	text, err := read(nameOrPath, strictyaml.MaxSize+1)
	if err != nil {
		return nil, err
	}
	return policy.Parse(nameOrPath, text)
}

func isPath(s string) bool {
	return strings.ContainsRune(s, filepath.Separator) || strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml")
}

// maxFile is the maximum size of a trace or a file of samples, in bytes.
const maxFile = 256 << 20

// read reads a file of at most limit bytes.
func read(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit))
	if err == nil && int64(len(text)) == limit {
		err = fmt.Errorf("%s is larger than %d bytes", name, limit-1)
	}
	return text, err
}
