package controller_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stepback/adaptive/controller"
	"stepback/internal/sealedjson"
)

// TestNoChangedByteOfARowIsSilent changes each byte of a row's file: neither Load nor Save accepts it, and Check
// reports it. A file of an earlier version, without a seal, is read and gets one.
func TestNoChangedByteOfARowIsSilent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := &controller.FileRows{Directory: dir}
	saved, err := rows.Save(t.Context(), controller.Row{Machine: "m", Base: "{}", Hash: "h", MapRuns: map[string]int{"run": 7},
		Until: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)})
	if err != nil || saved.Version != 1 {
		t.Fatalf("%+v, %v", saved, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	sealed, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(files[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for at := range sealed {
		changed := bytes.Clone(sealed)
		changed[at] ^= 1 << (at % 8)
		write(changed)
		_, loading := rows.Load(t.Context(), "m")
		_, saving := rows.Save(t.Context(), saved)
		var found error
		if err := rows.Check(func(err error) { found = err }); err != nil {
			t.Error(err)
		}
		for _, err := range []error{loading, saving, found} {
			var damage *sealedjson.DamagedError
			if !errors.As(err, &damage) || damage.Path != files[0] {
				t.Errorf("byte %d changed: %v", at, err)
			}
		}
	}
	earlier, err := json.MarshalIndent(saved, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	write(earlier)
	r, err := rows.Load(t.Context(), "m")
	if err != nil || r.Version != 1 || r.MapRuns["run"] != 7 {
		t.Errorf("of an earlier version: %+v, %v", r, err)
	}
	if _, err := rows.Save(t.Context(), r); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(files[0]); err != nil || !bytes.Contains(text, []byte(`"sealed":"`)) {
		t.Errorf("the file has no seal: %s, %v", text, err)
	}
}
