package configuration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stepback/internal/atomicfile"
	"stepback/internal/sealedjson"
)

// filePattern matches the names of the files.
const filePattern = "retry-configuration-*.json"

// Files stores configurations in a directory, one file for each state machine. The directory must exist.
type Files struct{ Directory string }

func (f Files) path(machine string) string {
	sum := sha256.Sum256([]byte(machine)) // a name may contain any character that an ARN may
	return filepath.Join(f.Directory, strings.Replace(filePattern, "*", hex.EncodeToString(sum[:8]), 1))
}

// Load implements [Source]. The error wraps a *sealedjson.DamagedError if the file differs from what was written.
func (f Files) Load(_ context.Context, machine string) (*Configuration, error) {
	return readFile(f.path(machine))
}

// readFile reads a file. It returns nil if there is none.
func readFile(path string) (*Configuration, error) {
	var c Configuration
	err := sealedjson.ReadFile(path, &c)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &c, nil
}

// Check reads all files of the directory, and calls problem for each that differs from what was written.
func (f Files) Check(problem func(error)) error {
	paths, err := filepath.Glob(filepath.Join(f.Directory, filePattern))
	for _, path := range paths {
		var damage *sealedjson.DamagedError
		if _, err := readFile(path); errors.As(err, &damage) {
			problem(damage)
		} else if err != nil {
			problem(fmt.Errorf("%s: %w", path, err))
		}
	}
	return err
}

// Save replaces the configuration of a state machine atomically.
func (f Files) Save(_ context.Context, c *Configuration) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path(c.Machine), sealedjson.Seal(text, uint64(time.Now().UnixNano())), 0o600)
}
