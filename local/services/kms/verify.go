package kms

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stepback/local/services/documents"
	"stepback/local/services/inventory"
)

// materialSum returns the checksum of key material: half of its SHA-256 hash, which reveals nothing about it.
func materialSum(secret []byte) string {
	sum := sha256.Sum256(secret)
	return hex.EncodeToString(sum[:sha256.Size/2])
}

// read reads a key material. The error is an *inventory.DamagedError if it is missing or has changed.
func (b *backing) read(dir string) ([]byte, error) {
	path := filepath.Join(dir, b.ID)
	secret, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &inventory.DamagedError{Path: path, Why: "the material of a KMS key is missing"}
	}
	if err == nil && b.Sum != "" && materialSum(secret) != b.Sum {
		return nil, &inventory.DamagedError{Path: path, Why: "the material of a KMS key has changed"}
	}
	return secret, err
}

// Check reads the material of all keys in a directory and calls problem for each damaged file. store holds the keys.
func Check(dir string, store *documents.Store, now time.Time, problem func(error)) error {
	return store.Table(tableName).Scan(keyPlace, func(_ string, text []byte) error {
		k := &key{}
		if err := json.Unmarshal(text, k); err != nil {
			problem(err)
			return nil
		}
		if !k.Deletion.IsZero() && !now.Before(k.Deletion) {
			return nil
		}
		for i := range k.Materials {
			if _, err := k.Materials[i].read(dir); err != nil {
				problem(err)
			}
		}
		return nil
	})
}
