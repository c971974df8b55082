package configuration

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"stepback/internal/atomicfile"
)

// Files stores configurations in a directory, one file for each state machine. The directory must exist.
type Files struct{ Directory string }

func (f Files) path(machine string) string {
	sum := sha256.Sum256([]byte(machine)) // a name may contain any character that an ARN may
	return filepath.Join(f.Directory, "retry-configuration-"+hex.EncodeToString(sum[:8])+".json")
}

// Load implements [Source].
func (f Files) Load(_ context.Context, machine string) (*Configuration, error) {
	text, err := os.ReadFile(f.path(machine))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Decode(text)
}

// Save replaces the configuration of a state machine atomically.
func (f Files) Save(_ context.Context, c *Configuration) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(f.path(c.Machine), text, 0o600)
}
