package imports

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stepback/cmd/stepback/terminal"
	"stepback/csvimport/pipeline"
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
			Rows        struct{ Total, Applied, AlreadyApplied, Rejected, DeadLettered int }
			LeftOut     int
			LeftOutKeys []string
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err, out.String(), errs.String())
		}
		if r := got.Rows; r.Total != 5 || r.Applied != 5 || r.AlreadyApplied+r.Rejected+r.DeadLettered != 0 {
			t.Errorf("%+v", r)
		}
		if got.LeftOut != 1 || !slices.Equal(got.LeftOutKeys, []string{"notes.md"}) {
			t.Errorf("left out: %d %v", got.LeftOut, got.LeftOutKeys)
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
		"in/list.txt":    "\ufeff# of today\r\nx.csv\r\n\r\n../y.data\r\n",
		"in/many.txt":    strings.Repeat("x.csv\n", 12) + "z.csv\n",
		"in/twice.txt":   "x.csv\n./x.csv\n",
		"in/missing.txt": "x.csv\nz.csv\n",
		"in/empty.txt":   "# nothing\n",
		"in/folder.txt":  "..\n",
		"none/readme.md": "",
	})
	all, _, err := inputs(filepath.Join(dir, "in/list.txt"))
	if err != nil || len(all) != 2 || all[0].Key != "x.csv" || all[0].Size != 47 ||
		all[1].Path != filepath.Join(dir, "y.data") || all[1].Key != strings.TrimPrefix(filepath.Join(dir, "y.data"), "/") {
		t.Errorf("%+v, %v", all, err)
	}
	for name, want := range map[string]string{
		"in/twice.txt": "line 2: ./x.csv is already in line 1; list each file once", "in/missing.txt": "z.csv: no such file or directory; correct the manifest: no file was imported",
		"in/empty.txt": "lists no file", "in/folder.txt": "line 1: ",
		"in/many.txt": "line 11: x.csv is already in line 1; list each file once (and 2 more lines); correct",
		"none":        "contains no file that ends in .csv, .tsv, .txt; it contains readme.md",
		"nothing":     "no such file",
	} {
		if _, _, err := inputs(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestAFileThatIsGone: a file that is deleted between the listing and its import, or cannot be used, is named, and the
// others are imported.
func TestAFileThatIsGone(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"a.csv": twoRows, "b\n\x1b[2J.csv": twoRows, "c.csv": twoRows, "list.manifest": twoRows,
		"list.txt": "a.csv\nb\nlist.manifest\nc.csv\n", "b": ""})
	var out, errs bytes.Buffer
	c := Run{Files: filepath.Join(dir, "list.txt"), Data: t.TempDir(), DB: "sqlite", Lambda: "in-process", Tolerated: 5}
	p, err := c.config(t.Context(), terminal.Streams{Out: &out, Err: &errs})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := pipeline.Open(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	gone := filepath.Join(dir, "b")
	many, err := c.importFiles(t.Context(), opened, terminal.Streams{Out: &out, Err: deleting{&errs, gone}})
	if err != nil {
		t.Fatal(err)
	}
	printMany(&out, many)
	for _, want := range []string{
		"a.csv          SUCCEEDED       2", "b              NOT_STARTED     0", "c.csv          SUCCEEDED       2",
		"\nb\n  CSVFileNotFound: " + gone + ": no such file or directory\n  Correct that and run the same command again; the other files are not imported twice.\n",
		"\nlist.manifest\n  InvalidInput: list.manifest is a manifest, and the import on this machine",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %q", out.String(), want)
		}
	}
	out.Reset()
	c.Files = dir
	many, err = c.importFiles(t.Context(), opened, terminal.Streams{Out: &out, Err: &errs})
	if err != nil {
		t.Fatal(err)
	}
	printMany(&out, many)
	if want := `b\n\x1b[2J.csv  SUCCEEDED`; !strings.Contains(out.String(), want) || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%q lacks %q", out.String(), want)
	}
}

// deleting deletes a file at the first write.
type deleting struct {
	io.Writer
	file string
}

func (d deleting) Write(p []byte) (int, error) {
	_ = os.Remove(d.file)
	return d.Writer.Write(p)
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
