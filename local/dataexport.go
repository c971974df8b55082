package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"stepback/local/services/documents"
)

// ExportData writes what can be read of the stores besides the journal into the directory to, which must not exist: a
// file of JSON lines with the keys and values of each Pebble store, and copies of all other files. It calls problem for
// each place that cannot be read, and continues with the next. No process may have the data directory open.
func ExportData(ctx context.Context, dir, to string, problem func(error)) error {
	if err := hasData(dir); err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, name := range databases {
		from := filepath.Join(dir, name)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := exportStore(ctx, from, filepath.Join(to, strings.ReplaceAll(name, string(filepath.Separator), "-")+".jsonl"), problem); err != nil {
			return err
		}
	}
	return copyFiles(ctx, dir, to, problem)
}

// exportStore writes the keys and values of a Pebble store as JSON lines.
func exportStore(ctx context.Context, from, to string, problem func(error)) (err error) {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	err = documents.Salvage(ctx, from, func(key, value []byte) error {
		line, err := json.Marshal(exported{shownBytes(key), shownValue(value)})
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		return err
	}, problem)
	return errors.Join(err, w.Flush())
}

// exported is a line of an exported store.
type exported struct {
	Key   any `json:"key"`
	Value any `json:"value"`
}

// binary is a text that is not UTF-8.
type binary struct {
	Base64 string `json:"base64"`
}

// shownBytes returns the JSON value for bytes: a string, or an object with their Base64 form.
func shownBytes(b []byte) any {
	if utf8.Valid(b) {
		return string(b)
	}
	return binary{base64.StdEncoding.EncodeToString(b)}
}

// shownValue returns JSON texts of objects and arrays as they are, and other bytes as shownBytes does.
func shownValue(b []byte) any {
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid(b) {
		return json.RawMessage(b)
	}
	return shownBytes(b)
}

// copyFiles copies all files that are not those of Pebble stores.
func copyFiles(ctx context.Context, dir, to string, problem func(error)) error {
	skipped := map[string]bool{journalDir: true, filepath.Join(functionsDir, "runtimes"): true,
		filepath.Join(functionsDir, "packages"): true, filepath.Join(functionsDir, "tmp"): true}
	for _, name := range databases {
		skipped[name] = true
	}
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			problem(err)
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		below, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && (skipped[below] || strings.HasPrefix(below, "damaged-") || strings.Contains(below, ".damaged-")):
			return filepath.SkipDir
		case d.IsDir() && below != ".":
			return os.MkdirAll(filepath.Join(to, below), 0o700)
		case !d.Type().IsRegular(), below == lockFile, below == serverFile:
			return nil
		}
		if err := copyFile(path, filepath.Join(to, below)); err != nil {
			problem(fmt.Errorf("%s: %w", path, err))
		}
		return nil
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
