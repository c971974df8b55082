package corruption_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/adaptive/controller"
	"stepback/local"
)

// TestADamagedRowOfAdapt changes a byte of the record that `stepback adapt` keeps in a data directory. The check names
// the file; the repair moves it aside, and the controller starts over.
func TestADamagedRowOfAdapt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	copyTo(t, directoriesOf(t).closed, dir)
	rows := &controller.FileRows{Directory: dir}
	if _, err := rows.Save(t.Context(), controller.Row{Machine: "m", Base: "{}", Hash: "written"}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "adapt-*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	check := func() (told []string) {
		t.Helper()
		_, err := local.CheckData(t.Context(), dir, func(err error) { told = append(told, err.Error()) })
		if err != nil {
			t.Fatal(err)
		}
		return told
	}
	if told := check(); len(told) > 0 {
		t.Errorf("the sound directory: %q", told)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], []byte(strings.Replace(string(text), "written", "writtem", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if told := check(); len(told) != 1 || !strings.Contains(told[0], files[0]+" is damaged: its checksum is ") {
		t.Errorf("a changed byte: %q", told)
	}
	if r, err := rows.Load(t.Context(), "m"); err == nil {
		t.Errorf("the damaged row is read: %+v", r)
	}
	var lost []string
	done, err := local.RepairData(t.Context(), dir, func(err error) { lost = append(lost, err.Error()) })
	if err != nil || len(lost) != 1 || done.Aside == "" {
		t.Errorf("the repair: %+v, %q, %v", done, lost, err)
	}
	if told := check(); len(told) > 0 {
		t.Errorf("after the repair: %q", told)
	}
	if r, err := rows.Load(t.Context(), "m"); err != nil || r.Version != 0 {
		t.Errorf("after the repair: %+v, %v", r, err)
	}
	exported := filepath.Join(t.TempDir(), "exported")
	if _, err := rows.Save(t.Context(), controller.Row{Machine: "m"}); err != nil {
		t.Fatal(err)
	}
	if err := local.ExportData(t.Context(), dir, exported, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(exported, filepath.Base(files[0]))); err != nil {
		t.Error(err)
	}
}
