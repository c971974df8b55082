// Command generate writes shapes.zip, the shapes of what the actions of AWS services answer, from the API models that
// come with the AWS SDK for Go, version 1 (Apache-2.0): a folder with one folder for each service and version. It never
// runs with the engine.
package main

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	models := flag.String("models", "", "the folder models/apis of the module github.com/aws/aws-sdk-go")
	out := flag.String("out", "shapes.zip", "the file to write")
	flag.Parse()
	if err := run(*models, *out); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run reads all models and writes one file of the archive for each service.
func run(folder, out string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*", "*", "api-2.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no API models (SERVICE/VERSION/api-2.json) in %q", folder)
	}
	newest := map[string]*model{}
	for _, file := range files {
		m, err := read(file)
		if err != nil {
			return err
		}
		if old := newest[m.service()]; old == nil || old.Metadata.Version < m.Metadata.Version {
			newest[m.service()] = m
		}
	}
	return write(out, newest)
}

func read(file string) (*model, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m := &model{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}

// write writes the same bytes for the same models.
func write(out string, models map[string]*model) (err error) {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, f.Close()) }()
	z := zip.NewWriter(f)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		w, err := z.Create(name)
		if err != nil {
			return err
		}
		text, err := json.Marshal(models[name].table())
		if err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return z.Close()
}

// service is the service's name in the Resource of an AWS SDK integration.
func (m *model) service() string {
	id := cmp.Or(m.Metadata.ID, m.Metadata.Prefix)
	name := strings.ToLower(strings.NewReplacer(" ", "", "-", "").Replace(id))
	return strings.TrimSuffix(name, "service") // as in the SDK for Java: config, databasemigration
}
