package main

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"stepback/csvimport/postgresstore/postgrestest"
)

// TestStages deploys dev, stg and prod, with their databases replaced, with the CDK command line to one server. It
// uploads a file to each and stops the database while all three are imported. Each environment must page, resume when
// the database is back, apply every row once, and report that it is OK again. Then the state machine of many files
// is tried, see manyFiles. The test takes three quarters of an hour; make stages-trial builds what it needs and sets
// STEPBACK_STAGES.
func TestStages(t *testing.T) {
	t.Parallel()
	if os.Getenv("STEPBACK_STAGES") == "" {
		t.Skip("it takes three quarters of an hour, Node.js, npm and PostgreSQL: make stages-trial runs it")
	}
	l := newLaptopFolder(t)
	l.stages = true
	ctx, server := t.Context(), postgrestest.Start(t)
	server.NeedsControl(t)
	stages := []string{"dev", "stg", "prod"}
	databases, stacks := map[string]string{}, []string{}
	for _, name := range stages {
		databases[name] = server.Database(t)
		stacks = append(stacks, "stepback-"+name)
		l.settingsOfStage(name, nil)
	}
	l.begin("--enforce-iam")
	for _, name := range stages {
		l.put("/stepback/"+name+"/database", databases[name])
	}
	l.cdk(0, "bootstrap", "aws://000000000000/us-east-1")
	l.cdk(0, append([]string{"deploy"}, stacks...)...)
	l.says(0, "There were no differences", append([]string{"diff", "--fail"}, stacks...)...)

	file := l.sample()
	for _, stack := range stacks {
		l.upload(stack, file, "uploads/a.csv")
	}
	l.until(3*time.Minute, "rows are in all databases", func() bool {
		for _, database := range databases {
			if l.rows(ctx, database) == 0 {
				return false
			}
		}
		return true
	})
	for _, stack := range stacks {
		if s := l.execution(stack).Status; s != sfntypes.ExecutionStatusRunning {
			t.Fatalf("the import of %s is %s before the fault", stack, s)
		}
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	all := func(most time.Duration, what string, so func(i int) bool) {
		t.Helper()
		done := map[int]bool{}
		l.until(most, what, func() bool {
			for i, name := range stages {
				if !done[i] && so(i) {
					done[i] = true
					t.Logf("%s: %s %.0f s after the fault began", name, what, time.Since(began).Seconds())
				}
			}
			return len(done) == len(stages)
		})
	}
	all(6*time.Minute, "the page is in the inbox", func(i int) bool {
		return l.inbox(`ALARM: \"csv-import-` + stages[i] + `-page-callee\"`)
	})
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	t.Logf("the database is back after %.0f s", time.Since(began).Seconds())
	all(20*time.Minute, "the import has ended", func(i int) bool {
		return l.execution(stacks[i]).Status == sfntypes.ExecutionStatusSucceeded
	})
	all(10*time.Minute, "the recovery is in the inbox", func(i int) bool {
		return l.inbox("csv-import-" + stages[i] + "-page-callee is OK again")
	})
	for i, name := range stages {
		l.counts(ctx, databases[name], file)
		if s := l.summary(stacks[i]); s.Applied+s.AlreadyApplied != laptopRows || s.DeadLettered != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		l.draws(name, "Retry Statistics")
	}
	l.manyFiles(stages, stacks)
	if out := l.cdk(1, "destroy", "stepback-prod", "--force"); !strings.Contains(out, "TerminationProtection") {
		t.Errorf("prod was not protected: %s", out)
	}
	l.kill()
}

// counted is the part of an import's summary that the trial checks.
type counted struct{ Applied, AlreadyApplied, DeadLettered int64 }

// summary returns the summary of a stack's only import.
func (l *laptop) summary(stack string) (s counted) {
	l.t.Helper()
	bucket, key := l.output(stack, "ResultBucketName"), "output/"+*l.execution(stack).Name+"/summary.json"
	got, err := l.objects().GetObject(l.t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		l.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}
