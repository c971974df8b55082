package manyfiles_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/manyfiles"
	"stepback/csvimport/objectstest"
)

func put(m *objectstest.Memory, key, content string) {
	m.Set(csvimport.Location{Bucket: "in", Key: key}, content, "text/csv")
}

func list(t *testing.T, m *objectstest.Memory, request string) (manyfiles.Report, error) {
	t.Helper()
	return steps(m).List(t.Context(), manyfiles.Input{Request: json.RawMessage(request), Execution: "x",
		Work: aggregate.Place{Bucket: "out", Prefix: "work/files/x"}})
}

// steps returns the steps of an import from the bucket "in", at noon.
func steps(m *objectstest.Memory) *manyfiles.Steps {
	return &manyfiles.Steps{Objects: m, Bucket: "in", Now: func() time.Time { return time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC) }}
}

// added adds up the files of a list, by the results that the Map wrote.
func added(t *testing.T, m *objectstest.Memory, report manyfiles.Report, mapError *aggregate.MapError) (manyfiles.Summary, error) {
	t.Helper()
	return steps(m).Sum(t.Context(), manyfiles.Input{Request: json.RawMessage(`{"prefix":"p/"}`), Execution: "x", List: &report,
		Results: aggregate.Place{Bucket: "out", Prefix: "results/files/x"}, Output: aggregate.Place{Bucket: "out", Prefix: "imports/x"},
		StartTime: "2026-11-27T11:00:00Z", MapError: mapError})
}

const listed = "work/files/x/files.json"

// keys returns the keys in the list.
func keys(t *testing.T, m *objectstest.Memory) []string {
	t.Helper()
	text, ok := m.Content(csvimport.Location{Bucket: "out", Key: listed})
	if !ok {
		return nil
	}
	var items []struct{ Key string }
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, i := range items {
		all = append(all, i.Key)
	}
	return all
}

// TestAPrefix lists the CSV files below a prefix, each with the name that its own event gives its import.
func TestAPrefix(t *testing.T) {
	t.Parallel()
	m := &objectstest.Memory{}
	for _, key := range []string{"staged/11/b.CSV", "staged/11/a.csv", "staged/11/sub/c.tsv", "staged/11/.hidden.csv",
		"staged/11/.git/d.csv", "staged/11/notes.md", "staged/11/sub/", "staged/12/e.csv", "other.csv"} {
		put(m, key, "1,2,3")
	}
	report, err := list(t, m, `{"prefix":"staged/11/"}`)
	if err != nil || report.Files != 3 || report.Bytes != 15 || report.List.String() != "s3://out/"+listed {
		t.Errorf("%+v, %v", report, err)
	}
	if report.Count != 1 || !slices.Equal(report.Keys, []string{"staged/11/notes.md"}) {
		t.Errorf("left out: %+v", report.LeftOut)
	}
	text, _ := m.Content(report.List)
	const first = `[{"bucket":"in","key":"staged/11/a.csv","etag":"55b84a9d317184fe61224bfb4a060fb0","size":5,"execution":"a-csv-`
	if !strings.HasPrefix(text, first) {
		t.Errorf("the list is %s", text)
	}
	if got := fmt.Sprint(keys(t, m)); got != "[staged/11/a.csv staged/11/b.CSV staged/11/sub/c.tsv]" {
		t.Errorf("listed %s", got)
	}
	// An s3:// address in the input bucket, and a prefix within a folder.
	if report, err = list(t, m, `{"prefix":"s3://in/staged/1"}`); err != nil || report.Files != 4 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestAManifest lists files in the manifest's order: relative to it, or as addresses.
func TestAManifest(t *testing.T) {
	t.Parallel()
	m := &objectstest.Memory{}
	for _, key := range []string{"a.csv", "lists/b.csv", "lists/c d.csv"} {
		put(m, key, "1,2,3")
	}
	put(m, "lists/m.manifest", "\ufeff# November\r\nc d.csv\r\n\r\n ../a.csv \nb.csv\n")
	if report, err := list(t, m, `{"manifest":"lists/m.manifest"}`); err != nil || report.Files != 3 {
		t.Fatalf("%+v, %v", report, err)
	}
	if got := fmt.Sprint(keys(t, m)); got != "[lists/c d.csv a.csv lists/b.csv]" {
		t.Errorf("listed %s", got)
	}
	put(m, "lists/m.manifest", "s3://in/a.csv")
	if _, err := list(t, m, `{"manifest":"s3://in/lists/m.manifest"}`); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(keys(t, m)); got != "[a.csv]" {
		t.Errorf("listed %s", got)
	}
}

// TestRequestsWithErrors: a request, prefix or manifest with errors is refused as a whole, by an error that names each
// of them, and nothing is listed.
func TestRequestsWithErrors(t *testing.T) {
	t.Parallel()
	manifest := func(text string) func(*objectstest.Memory) string {
		return func(m *objectstest.Memory) string {
			put(m, "a.csv", "1,2,3")
			put(m, "b.csv", "1,2,3")
			put(m, "m.manifest", text)
			return `{"manifest":"m.manifest"}`
		}
	}
	request := func(text string) func(*objectstest.Memory) string {
		return func(m *objectstest.Memory) string {
			put(m, "staged/readme.md", "")
			return text
		}
	}
	for name, c := range map[string]struct {
		of   func(*objectstest.Memory) string
		want string
	}{
		"nothing":                          {request(`{}`), "InvalidInput: the execution's input has to name either a prefix or a manifest; start the execution with"},
		"both":                             {request(`{"prefix":"a","manifest":"b"}`), "InvalidInput: the execution's input has to name either"},
		"the whole bucket":                 {request(`{"prefix":""}`), "InvalidInput: the execution's input has to name either"},
		"the whole bucket, by its address": {request(`{"prefix":"s3://in/"}`), "InvalidInput: s3://in/ is not in the input bucket in, or is all of it; "},
		"another bucket":                   {request(`{"prefix":"s3://other/x/"}`), "InvalidInput: s3://other/x/ is not in the input bucket in, or is all of it; "},
		"mistyped":                         {request(`{"perfix":"a"}`), `InvalidInput: the execution's input: json: unknown field "perfix"; start`},
		"a text":                           {request(`"staged/"`), "InvalidInput: the execution's input: json: cannot unmarshal string"},
		"no file":                          {request(`{"prefix":"staged/"}`), "CSVFileNotFound: s3://in/staged/: no object with this prefix ends in .csv, .tsv, .txt (found: staged/readme.md); check"},
		"no such prefix":                   {request(`{"prefix":"nowhere/"}`), "CSVFileNotFound: s3://in/nowhere/: no object with this prefix"},
		"no such manifest":                 {request(`{"manifest":"m.manifest"}`), "CSVFileNotFound: s3://in/m.manifest does not exist"},
		"only other files": {func(m *objectstest.Memory) string {
			for i := range 12 {
				put(m, fmt.Sprintf("staged/%02d.csv.gz", i), "")
			}
			return `{"prefix":"staged/"}`
		}, "CSVFileNotFound: s3://in/staged/: no object with this prefix ends in .csv, .tsv, .txt (found: staged/00.csv.gz, staged/01.csv.gz, " +
			"staged/02.csv.gz, staged/03.csv.gz, staged/04.csv.gz, staged/05.csv.gz, staged/06.csv.gz, staged/07.csv.gz, " +
			"staged/08.csv.gz, staged/09.csv.gz and 2 more); check"},
		"replaced manifest": {func(m *objectstest.Memory) string {
			manifest("a.csv")(m)
			return `{"manifest":"m.manifest","etag":"old"}`
		}, "CSVFileChanged: s3://in/m.manifest was replaced"},
		"an empty manifest":       {manifest("\n# none yet\n"), "CSVFileNotFound: s3://in/m.manifest lists no file; write the keys of CSV files, one in a line"},
		"a missing object":        {manifest("a.csv\nmissing.csv\nb.csv\nalso.csv\n"), "InvalidInput: s3://in/m.manifest: line 2: s3://in/missing.csv does not exist; line 4: s3://in/also.csv does not exist; correct the manifest"},
		"a file twice":            {manifest("a.csv\nb.csv\ns3://in/a.csv\n./b.csv"), "InvalidInput: s3://in/m.manifest: line 3: s3://in/a.csv is already in line 1; list each file once; line 4: ./b.csv is already in line 2; list each file once; correct"},
		"another bucket's":        {manifest("s3://other/a.csv"), "InvalidInput: s3://in/m.manifest: line 1: s3://other/a.csv is not in the input bucket in; correct"},
		"many errors":             {manifest(strings.Repeat("a.csv\n", 13)), "(and 2 more lines); correct the manifest"},
		"a binary manifest":       {manifest("a.csv\nPK\x00\x01"), "InvalidInput: s3://in/m.manifest, line 2 is not UTF-8 text; a manifest lists the files"},
		"a manifest of Shift_JIS": {manifest("\x83e.csv"), "InvalidInput: s3://in/m.manifest, line 1 is not UTF-8 text"},
		"a line without end":      {manifest("a.csv\n" + strings.Repeat("x", 5000)), "InvalidInput: s3://in/m.manifest, line 2 is longer than 4096 bytes; a manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &objectstest.Memory{}
			_, err := list(t, m, c.of(m))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if keys(t, m) != nil {
				t.Error("a list was written")
			}
		})
	}
}

// TestAHundredThousandFiles: a manifest of 100,000 files is listed, and one of 100,001 is refused, as is a prefix.
func TestAHundredThousandFiles(t *testing.T) {
	t.Parallel()
	m := &objectstest.Memory{}
	var lines strings.Builder
	for i := range 100_000 {
		key := fmt.Sprintf("staged/%06d.csv", i)
		put(m, key, "1,2,3")
		fmt.Fprintln(&lines, key)
	}
	put(m, "m.manifest", lines.String())
	for _, request := range []string{`{"manifest":"m.manifest"}`, `{"prefix":"staged/"}`} {
		if report, err := list(t, m, request); err != nil || report.Files != 100_000 || report.Bytes != 500_000 {
			t.Errorf("%s: %+v, %v", request, report, err)
		}
	}
	put(m, "staged/more.csv", "1,2,3")
	put(m, "m.manifest", lines.String()+"staged/more.csv\n")
	for request, what := range map[string]string{`{"manifest":"m.manifest"}`: "m.manifest", `{"prefix":"staged/"}`: "staged/"} {
		want := "InvalidInput: s3://in/" + what + " has more than 100000 files; import them in several parts"
		if _, err := list(t, m, request); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The results of a Map Run over five files: imported, imported before, failed with a summary, refused, not started.
const (
	ended = `[
	{"ExecutionArn":"arn","Name":"c1","Input":"{}","Status":"SUCCEEDED","Output":"{\"file\":{\"key\":\"a.csv\",\"execution\":\"%[1]s\"},\"import\":{\"Status\":\"SUCCEEDED\",\"Output\":\"{\\\"rows\\\":10,\\\"applied\\\":7,\\\"alreadyApplied\\\":1,\\\"rejected\\\":2,\\\"deadLettered\\\":0}\"}}"},
	{"Name":"c2","Output":"{\"file\":{\"key\":\"b.csv\",\"execution\":\"%[2]s\"},\"start\":{\"Error\":\"StepFunctions.ExecutionAlreadyExistsException\",\"Cause\":\"x\"},\"import\":{\"Status\":\"SUCCEEDED\",\"Output\":\"{\\\"rows\\\":5,\\\"applied\\\":5}\"}}"},
	{"Name":"c3","Output":"{\"file\":{\"key\":\"c.csv\",\"execution\":\"%[3]s\"},\"start\":{\"Error\":\"States.TaskFailed\",\"Cause\":\"x\"},\"import\":{\"Status\":\"FAILED\",\"Error\":\"ToleratedFailurePercentageExceeded\",\"Cause\":\"3 of 4\"}}"},
	{"Name":"c4","Output":"{\"file\":{\"key\":\"d.csv\",\"execution\":\"%[4]s\"},\"start\":{\"Error\":\"States.TaskFailed\",\"Cause\":\"x\"},\"import\":{\"Status\":\"FAILED\",\"Error\":\"CSVHeaderInvalid\",\"Cause\":\"` + "%[6]s" + `\"}}"}]`
	stopped = `[{"Name":"c5","Input":"{\"file\":{\"key\":\"e.csv\",\"execution\":\"%[1]s\"}}","Status":"ABORTED"}]`
)

// sum lists six files, writes results of five of them, and adds them up.
func sum(t *testing.T, m *objectstest.Memory, mapError *aggregate.MapError) (manyfiles.Summary, error) {
	t.Helper()
	for _, key := range []string{"a.csv", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv"} {
		put(m, "p/"+key, "1,2,3")
	}
	report, err := list(t, m, `{"prefix":"p/"}`)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := m.Content(report.List)
	var items []struct{ Execution string }
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		t.Fatal(err)
	}
	results := func(name, text string) {
		m.Set(csvimport.Location{Bucket: "out", Key: "results/files/x/" + name}, text, "application/json")
	}
	results(
		"run/SUCCEEDED_0.json",
		fmt.Sprintf(ended, items[0].Execution, items[1].Execution, items[2].Execution, items[3].Execution, "",
			strings.Repeat("é", 400)),
	)
	results("run/FAILED_0.json", fmt.Sprintf(stopped, items[4].Execution))
	results(
		"run/manifest.json",
		`{"DestinationBucket":"out","ResultFiles":{"FAILED":[{"Key":"results/files/x/run/FAILED_0.json"}],
		"PENDING":[],"SUCCEEDED":[{"Key":"results/files/x/run/SUCCEEDED_0.json"}]}}`,
	)
	m.Set(csvimport.Location{Bucket: "out", Key: "output/" + items[2].Execution + "/summary.json"},
		`{"rows":4,"applied":1,"alreadyApplied":0,"rejected":1,"deadLettered":2}`, "application/json")
	return added(t, m, report, mapError)
}

// TestTheSummary adds up every outcome that a file can have, and names the files that did not succeed.
func TestTheSummary(t *testing.T) {
	t.Parallel()
	m := &objectstest.Memory{}
	got, err := sum(t, m, &aggregate.MapError{Error: "States.Timeout"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Files != 6 || got.Succeeded != 2 || got.Failed != 4 || got.Unfinished != 2 || got.Earlier != 1 ||
		got.Bytes != 30 {
		t.Errorf("files: %+v", got)
	}
	counts := manyfiles.Counts{Rows: 19, Applied: 13, AlreadyApplied: 1, Rejected: 3, DeadLettered: 2}
	if got.Counts != counts {
		t.Errorf("rows: %+v, want %+v", got.Counts, counts)
	}
	var failed []string
	for _, f := range got.FailedFiles {
		cause := f.Cause
		if len(cause) > 100 {
			cause = fmt.Sprint(len(cause), " bytes, ", strings.HasSuffix(cause, "é…"))
		}
		failed = append(failed, fmt.Sprint(f.Key, " ", f.Status, " ", f.Error, " ", cause, " ", f.Rows))
	}
	const want = `p/c.csv FAILED ToleratedFailurePercentageExceeded 3 of 4 4
p/d.csv FAILED CSVHeaderInvalid 499 bytes, true 0
p/e.csv UNKNOWN ABORTED the child execution c5 ended with status ABORTED 0
p/f.csv NOT_STARTED   0`
	if text := strings.Join(failed, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	lines, _ := m.Content(got.AllFiles)
	if got.AllFiles.Key != "imports/x/files.jsonl" || strings.Count(lines, "\n") != 6 ||
		!strings.HasPrefix(lines, `{"key":"p/a.csv","execution":"a-csv-`) ||
		!strings.Contains(lines, `"status":"SUCCEEDED","earlier":true,"rows":5,"applied":5,"alreadyApplied":0,`) {
		t.Errorf("%s:\n%s", got.AllFiles, lines)
	}
	text, _ := m.Content(csvimport.Location{Bucket: "out", Key: "imports/x/summary.json"})
	for _, part := range []string{`"prefix": "p/"`, `"files": 6`, `"endTime": "2026-11-27T12:00:00Z"`, `"Error": "States.Timeout"`} {
		if !strings.Contains(text, part) {
			t.Errorf("the summary %s lacks %s", text, part)
		}
	}
}

// TestAnEndThatCannotBeRead: an import that was started, and whose end DescribeExecution does not report, is not
// counted as one that was not started. Objects that are no CSV files are named.
func TestAnEndThatCannotBeRead(t *testing.T) {
	t.Parallel()
	m := &objectstest.Memory{}
	put(m, "p/a.csv", "1,2,3")
	put(m, "p/b.csv.gz", "")
	report, err := list(t, m, `{"prefix":"p/"}`)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := m.Content(report.List)
	var items []struct{ Execution string }
	if err := json.Unmarshal([]byte(text), &items); err != nil {
		t.Fatal(err)
	}
	m.Set(csvimport.Location{Bucket: "out", Key: "results/files/x/run/SUCCEEDED_0.json"}, `[{"Name":"c1","Output":"{\"file\":{\"execution\":\"`+
		items[0].Execution+`\"},\"describe\":{\"Error\":\"Sfn.ThrottlingException\",\"Cause\":\"slow down\"}}"}]`, "")
	m.Set(csvimport.Location{Bucket: "out", Key: "results/files/x/run/manifest.json"},
		`{"DestinationBucket":"out","ResultFiles":{"SUCCEEDED":[{"Key":"results/files/x/run/SUCCEEDED_0.json"}]}}`, "")
	got, err := added(t, m, report, nil)
	if err != nil || got.Unfinished != 1 || len(got.FailedFiles) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if f := got.FailedFiles[0]; f.Key != "p/a.csv" || f.Status != manyfiles.Unknown || f.Error != "Sfn.ThrottlingException" || f.Cause != "slow down" {
		t.Errorf("%+v", f)
	}
	if got.Count != 1 || !slices.Equal(got.Keys, []string{"p/b.csv.gz"}) {
		t.Errorf("left out: %+v", got.LeftOut)
	}
}

// TestManyFailedFilesFitIntoAMessage: the summary names the first 20 files that failed, however many there are.
func TestManyFailedFilesFitIntoAMessage(t *testing.T) {
	t.Parallel()
	m := &objectstest.Memory{}
	for i := range 300 {
		put(m, fmt.Sprintf("p/%s%03d.csv", strings.Repeat("x", 1000), i), "1,2,3")
	}
	report, err := list(t, m, `{"prefix":"p/"}`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := added(t, m, report, &aggregate.MapError{Error: "States.ItemReaderFailed"})
	text, _ := json.Marshal(got)
	if err != nil || got.Failed != 300 || len(got.FailedFiles) != 20 || len(text) > 64<<10 {
		t.Errorf("%d failed, %d named, %d bytes, %v", got.Failed, len(got.FailedFiles), len(text), err)
	}
}

// TestResultsThatContradictTheList fail the import instead of being added up.
func TestResultsThatContradictTheList(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*objectstest.Memory){
		`child execution c9 is about "z.csv", which is not in the list`: func(m *objectstest.Memory) {
			m.Set(csvimport.Location{Bucket: "out", Key: "results/files/x/later/SUCCEEDED_0.json"},
				`[{"Name":"c9","Output":"{\"file\":{\"key\":\"z.csv\",\"execution\":\"z\"},\"import\":{\"Status\":\"SUCCEEDED\",\"Output\":\"{}\"}}"}]`, "")
			m.Set(csvimport.Location{Bucket: "out", Key: "results/files/x/later/manifest.json"},
				`{"ResultFiles":{"SUCCEEDED":[{"Key":"results/files/x/later/SUCCEEDED_0.json"}]}}`, "")
		},
		"is not what the Map's ResultWriter writes": func(m *objectstest.Memory) {
			m.Set(csvimport.Location{Bucket: "out", Key: "results/files/x/later/manifest.json"}, `{`, "")
		},
	} {
		m := &objectstest.Memory{}
		if _, err := sum(t, m, nil); err != nil {
			t.Fatal(err)
		}
		change(m)
		text, _ := m.Content(csvimport.Location{Bucket: "out", Key: listed})
		report := manyfiles.Report{
			List:  csvimport.Location{Bucket: "out", Key: listed},
			Files: int64(strings.Count(text, `"key"`)),
		}
		_, err := added(t, m, report, nil)
		var f *csvimport.Failure
		if !errors.As(err, &f) || f.Name != "AggregateMismatch" || !strings.Contains(f.Message, want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
