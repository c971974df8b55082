package manyfiles_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stepback"
	"stepback/engine"
	"stepback/jsonvalue"
	"stepback/statemachine"
	"stepback/stepbacktest"
)

// TestEnds runs the state machine with a function that fails, or that adds up files in different ways. The error of the
// execution tells whether the list, the files or the system are to blame, and the message says the same.
func TestEnds(t *testing.T) {
	t.Parallel()
	const summary = `{"files":3,"failed":%d,"unfinished":%d,"summary":{"bucket":"results","key":"imports/test/summary.json"}}`
	for name, c := range map[string]struct {
		list, sum  error
		summary    string
		want       string // the execution's error and cause
		message    string // the beginning of the message
		blamesFile bool
	}{
		"the list is wrong": {
			list: stepback.Errorf("InvalidInput", "line 2 is no file"), want: `FilesRejected: InvalidInput: {"errorMessage":"line 2 is no file","errorType":"InvalidInput"}`,
			message: `{"status":"REJECTED",`, blamesFile: true,
		},
		"S3 fails while the files are listed": {
			list: stepback.Errorf("S3.ServiceUnavailable", "try later"), want: `S3.ServiceUnavailable: {"errorMessage":"try later","errorType":"S3.ServiceUnavailable"}`,
			message: `{"status":"FAILED",`,
		},
		"files fail": {
			summary: fmt.Sprintf(summary, 1, 0), message: `{"status":"FAILED",`, blamesFile: true,
			want: "FilesFailed: 1 of 3 files were not imported, or not completely. Summary: s3://results/imports/test/summary.json",
		},
		"a file fails, and the import of another one was not started": {
			summary: fmt.Sprintf(summary, 2, 1), message: `{"status":"FAILED",`,
			want: "FilesUnfinished: 1 of 3 files have no import, or none whose end is known. Summary: s3://results/imports/test/summary.json",
		},
		"the files cannot be added up": {
			sum: stepback.Errorf("AggregateMismatch", "one is missing"), want: `AggregateMismatch: {"errorMessage":"one is missing","errorType":"AggregateMismatch"}`,
			message: `{"status":"FAILED",`,
		},
		"all files are imported": {summary: fmt.Sprintf(summary, 0, 0), want: ": ", message: `{"status":"SUCCEEDED",`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.MkdirAll(filepath.Join(folder, "results", "work"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, "results", "work", "files.json"), []byte("[]"), 0o644); err != nil {
				t.Fatal(err)
			}
			objects, err := stepback.OpenFiles(folder)
			if err != nil {
				t.Fatal(err)
			}
			defer objects.Close()
			var messages []string
			o := statemachine.FilesSubstitutions()
			o.FilesFunction, o.ResultBucket, o.TopicARN = "files", "results", "arn:aws:sns:us-east-1:000000000000:imports"
			o.ImportMachine, o.ImportExecutions = "arn:aws:states:us-east-1:000000000000:stateMachine:m:live",
				"arn:aws:states:us-east-1:000000000000:execution:m"
			definition, err := statemachine.FilesDefinition(statemachine.FilesTable(time.Hour), o)
			if err != nil {
				t.Fatal(err)
			}
			run := stepbacktest.Run(t, string(definition), json.RawMessage(`{"prefix":"p/"}`), stepbacktest.Options{
				Objects: objects,
				Functions: stepback.Functions{"files": stepback.Func(func(_ context.Context, in struct{ List any }) (json.RawMessage, error) {
					if in.List != nil {
						return json.RawMessage(c.summary), c.sum
					}
					return json.RawMessage(`{"list":{"bucket":"results","key":"work/files.json"},"files":0,"bytes":0}`), c.list
				})},
				Integrations: new(stepback.Integrations).Handle("sns", "publish", engine.Around(nil,
					func(_ context.Context, task *stepback.Task, _ stepback.Integration) (stepback.Result, error) {
						var of struct{ Message json.RawMessage }
						err := json.Unmarshal([]byte(task.Parameters), &of)
						messages = append(messages, string(of.Message))
						return jsonvalue.TextDocument(`{"MessageId":"1"}`), err
					})),
			})
			if got := run.Failure.Name + ": " + run.Failure.Cause; got != c.want {
				t.Errorf("the execution ends with %s, want %s", got, c.want)
			}
			if len(messages) != 1 || !strings.HasPrefix(messages[0], c.message) {
				t.Errorf("messages %q, want one that begins with %s", messages, c.message)
			}
			if got := run.Failure.Name != "" && statemachine.BlamesInput(run.Failure.Name); got != c.blamesFile {
				t.Errorf("%s blames the input: %v", run.Failure.Name, got)
			}
		})
	}
}
