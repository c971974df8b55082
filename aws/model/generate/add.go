package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"stepback/aws/model/clientschemas"
)

// add extends the models of an archive by the schemas of AWS's clients for JavaScript, and adds what is new to a
// report: a line for each service and run.
func add(schemas, archive, report string) error {
	text, err := os.ReadFile(schemas)
	if err != nil {
		return err
	}
	var clients []clientschemas.Client
	if err := json.Unmarshal(text, &clients); err != nil {
		return fmt.Errorf("%s: %w", schemas, err)
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	services := map[string]string{}
	for _, f := range z.File {
		if services[f.Name], err = read(f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	before, err := os.ReadFile(report)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(before)), "\n")
	for i := range clients {
		c := &clients[i]
		file, ok := services[c.Service()]
		if !ok {
			return fmt.Errorf("%s: there is no model of %s; `make models` reads it from botocore", c.Package, c.ServiceID)
		}
		made, added, err := clientschemas.Add(file, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Package, err)
		}
		services[c.Service()] = made
		if len(added) > 0 {
			lines = append(lines, c.Service()+" from "+c.Package+" "+c.Version+": "+strings.Join(added, ", "))
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	slices.Sort(lines)
	if err := os.WriteFile(report, []byte(strings.Join(append(lines, ""), "\n")), 0o644); err != nil {
		return err
	}
	return write(archive, services)
}
