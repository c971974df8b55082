package logstore

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"stepback/local/services/inventory"
)

// Check reads the descriptions and the events of all groups in a directory and calls problem for each damaged file.
// files is the inventory that has them.
func Check(dir string, files *inventory.Files, problem func(error)) error {
	known, err := files.Below(dir)
	if err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "*", "*", aboutFile))
	if err != nil {
		return err
	}
	all := slices.Concat(known, found)
	slices.Sort(all)
	for _, path := range slices.Compact(all) {
		if err := verify(files, path); err != nil {
			problem(err)
		}
	}
	return nil
}

func verify(files *inventory.Files, path string) error {
	if filepath.Base(path) != aboutFile {
		return files.Verify(path)
	}
	text, err := files.ReadFile(path)
	if err == nil && json.Unmarshal(text, new(kept)) != nil {
		err = &inventory.DamagedError{Path: path, Why: "it does not describe a log group"}
	}
	return err
}

// Repair moves the groups with damaged descriptions and the files with damaged events below the directory aside, and
// calls tell for each.
func Repair(dir string, files *inventory.Files, aside string, tell func(error)) error {
	var damaged []error
	if err := Check(dir, files, func(err error) { damaged = append(damaged, err) }); err != nil {
		return err
	}
	return files.RepairEach(damaged, tell, func(path string) (string, error) {
		if filepath.Base(path) == aboutFile {
			return "the log group is lost", files.Aside(aside, filepath.Dir(path))
		}
		return "its events are lost; what can be read is in " + aside, files.Aside(aside, path)
	})
}
