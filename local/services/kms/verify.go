package kms

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	path := filepath.Join(dir, b.file())
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
		k.expire(now)
		for i := range k.Materials {
			if _, err := k.Materials[i].read(dir); err != nil {
				problem(err)
			}
		}
		return nil
	})
}

// Repair removes damaged material from its key. A key without intact material is removed: what was encrypted under it
// cannot be decrypted any more. A key whose material was imported stays, and waits for another import. The damaged
// files are moved below the directory aside, and tell is called for each.
func Repair(dir string, store *documents.Store, files *inventory.Files, aside string, now time.Time, tell func(error)) error {
	var damaged []error
	if err := Check(dir, store, now, func(err error) { damaged = append(damaged, err) }); err != nil ||
		len(damaged) == 0 {
		return err
	}
	table := store.Table(tableName)
	return files.RepairEach(damaged, tell, func(path string) (string, error) {
		b, err := store.Begin()
		if err != nil {
			return "", err
		}
		loss := ""
		err = table.Scan(keyPlace, func(place string, text []byte) error {
			k := &key{}
			if err := json.Unmarshal(text, k); err != nil {
				return err
			}
			damaged := filepath.Base(path)
			i := slices.IndexFunc(k.Materials, func(m backing) bool { return m.file() == damaged })
			switch {
			case i < 0:
				return nil
			case k.Imported != nil:
				loss = "the key " + k.ID + " cannot be used until its material is imported again"
				k.forget()
			case len(k.Materials) == 1:
				loss = "the key " + k.ID + " is lost, and with it everything that was encrypted under it"
				b.Delete(table, place)
				return nil
			default:
				loss = "what was encrypted under this material of the key " + k.ID + " is lost"
				k.Materials = slices.Delete(k.Materials, i, i+1)
			}
			text, err := json.Marshal(k)
			b.Put(table, place, text)
			return err
		})
		if err == nil {
			err = b.Apply()()
		}
		if err == nil {
			err = files.Aside(aside, path)
		}
		return loss, err
	})
}
