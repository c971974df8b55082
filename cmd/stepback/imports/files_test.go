package imports

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stepback/cmd/stepback/terminal"
)

// folder writes files with their contents and returns their folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	header  = "user_id,login_count,post_count\n"
	twoRows = header + "ann,1,2\nbob,3,4\n"
)

// TestManyFilesAreOneImport: files of the same name and content in two folders count twice, a refused file does not
// keep the others from being imported, and a repetition imports nothing again.
func TestManyFilesAreOneImport(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a/x.csv": twoRows, "b/x.csv": twoRows, "b/bad.csv": "wrong\n", "notes.md": "no",
		".hidden/y.csv": twoRows, "c.TSV": "user_id\tlogin_count\tpost_count\ncid\t5\t6\n"})
	data := t.TempDir()
	for _, earlier := range []bool{false, true} {
		var out, errs bytes.Buffer
		c := Run{Files: dir, Data: data, DB: "sqlite", Lambda: "in-process", Tolerated: 5, JSON: true}
		err := c.Run(t.Context(), terminal.Streams{Out: &out, Err: &errs})
		if err == nil {
			t.Error("a refused file, and no exit status")
		}
		var got struct {
			Files []struct {
				Key, Status, Error string
				Earlier            bool
			}
			Rows struct{ Total, Applied, AlreadyApplied, Rejected, DeadLettered int }
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err, out.String(), errs.String())
		}
		if r := got.Rows; r.Total != 5 || r.Applied != 5 || r.AlreadyApplied+r.Rejected+r.DeadLettered != 0 {
			t.Errorf("%+v", r)
		}
		var lines []string
		for _, f := range got.Files {
			lines = append(lines, f.Key+" "+f.Status+" "+f.Error)
			if f.Earlier != earlier {
				t.Errorf("%s: earlier is %v, want %v", f.Key, f.Earlier, earlier)
			}
		}
		if want := "a/x.csv SUCCEEDED ,b/bad.csv FAILED CSVHeaderInvalid,b/x.csv SUCCEEDED ,c.TSV SUCCEEDED "; strings.Join(lines, ",") != want {
			t.Errorf("%q", lines)
		}
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"in/x.csv": twoRows, "y.data": twoRows,
		"in/list.txt":    "# of today\nx.csv\n\n../y.data\n",
		"in/twice.txt":   "x.csv\n./x.csv\n",
		"in/missing.txt": "x.csv\nz.csv\n",
		"in/empty.txt":   "# nothing\n",
		"in/folder.txt":  "..\n",
		"none/readme.md": "",
	})
	all, err := inputs(filepath.Join(dir, "in/list.txt"))
	if err != nil || len(all) != 2 || all[0].Key != "x.csv" || all[0].Size != 47 ||
		all[1].Path != filepath.Join(dir, "y.data") || all[1].Key != strings.TrimPrefix(filepath.Join(dir, "y.data"), "/") {
		t.Errorf("%+v, %v", all, err)
	}
	for name, want := range map[string]string{
		"in/twice.txt": "line 2: ./x.csv is already in line 1; list each file once", "in/missing.txt": "line 2: stat ",
		"in/empty.txt": "lists no file", "in/folder.txt": "line 1: ", "none": "contains no file that ends in .csv, .tsv, .txt",
		"nothing": "no such file",
	} {
		if _, err := inputs(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.csv": header + strings.Repeat("user-1,1,2\n", 100_000), "b.csv": twoRows})
	var out bytes.Buffer
	if err := (&Run{Files: dir, Estimate: true}).Run(t.Context(), terminal.Streams{Out: &out, Err: &out}); err != nil {
		t.Fatal(err)
	}
	const want = "2 files, 1,100,078 bytes, about 99,975 rows; on AWS 0.04 USD and about 50s\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	if err := (&Run{Estimate: true}).Run(t.Context(), terminal.Streams{Out: &out, Err: &out}); err == nil ||
		err.Error() != "--estimate needs --csv or --files" {
		t.Error(err)
	}
}
