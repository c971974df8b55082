package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"stepback/csvimport"
	"stepback/csvimport/manyfiles"
	"stepback/csvimport/sqlitestore"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/objectevent"
	"stepback/lambdas/internal/devstack"
	"stepback/local"
)

// imports is the state machine that imports single files.
const imports = "arn:aws:states:us-east-1:000000000000:stateMachine:csv-import-dev"

// deployed lists the logical IDs, by prefix, of the resources taken from the template, and left those that are not: the
// function metrics has no part in an import.
var (
	deployed = []string{
		"InputBucket",
		"ResultBucket",
		"Imports",
		"UndeliveredEvents",
		"CircuitBreakers",
		"Validate",
		"Process",
		"Aggregate",
		"Start",
		"StateMachine",
		"Files",
		"ObjectCreated",
	}
	left = []string{"StateMachineLogSubscription", "StateMachineLogMayInvoke", "FilesStateMachineLogSubscription",
		"FilesStateMachineLogMayInvoke"}
)

// template returns the dev template with its roles, but with a SQLite database instead of Aurora, and with a queue that
// receives the messages of the topic of imports.
func template(t *testing.T, database string) devstack.Resources {
	t.Helper()
	taken := devstack.Of(t, func(id string) bool {
		return devstack.Begins(id, deployed...) && !devstack.Begins(id, left...)
	})
	var topic string
	for id, r := range taken {
		switch r["Type"] {
		case "AWS::Lambda::Function":
			properties := r["Properties"].(map[string]any)
			delete(properties, "VpcConfig")
			variables := properties["Environment"].(map[string]any)["Variables"].(map[string]any)
			if variables["DATABASE_URL"] != nil {
				variables["DATABASE_URL"] = database
			}
		case "AWS::SNS::Topic":
			topic = id
		}
	}
	arn := map[string]any{"Fn::GetAtt": []string{"Sent", "Arn"}}
	taken["Sent"] = map[string]any{"Type": "AWS::SQS::Queue", "Properties": map[string]any{"QueueName": "sent"}}
	taken["SentPolicy"] = map[string]any{"Type": "AWS::SQS::QueuePolicy", "Properties": map[string]any{
		"Queues": []any{map[string]any{"Ref": "Sent"}},
		"PolicyDocument": map[string]any{"Version": "2012-10-17", "Statement": []any{
			map[string]any{
				"Effect": "Allow",
				"Principal": map[string]string{
					"Service": "sns.amazonaws.com",
				},
				"Action":   "sqs:SendMessage",
				"Resource": arn,
			},
		}}}}
	taken["Sending"] = map[string]any{"Type": "AWS::SNS::Subscription", "DependsOn": []string{"SentPolicy"},
		"Properties": map[string]any{"TopicArn": map[string]any{"Ref": topic}, "Protocol": "sqs", "Endpoint": arn,
			"RawMessageDelivery": true}}
	return taken
}

// stack is the deployed stack.
type stack struct {
	t        *testing.T
	platform *local.Platform
	cfg      aws.Config
	database string                  // the path of the SQLite file
	ended    chan *journal.Execution // of both state machines, without the children of Maps
	input    string                  // the name of the input bucket
	results  string
}

func deploy(t *testing.T) *stack {
	t.Helper()
	s := &stack{t: t, database: filepath.Join(t.TempDir(), "users.db"), ended: make(chan *journal.Execution, 100)}
	var err error
	s.platform, err = local.Open(t.Context(), local.Config{Dir: t.TempDir(), EnforceIAM: true,
		Observe: func(x *journal.Execution, _ []history.Event) {
			if x.MapRunARN == "" && x.Status != history.Running {
				s.ended <- x
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.platform.Close(); err != nil {
			t.Error(err)
		}
	})
	s.cfg = devstack.Config(s.platform.Endpoint)
	template(t, "sqlite:"+s.database).Deploy(t, s.platform.Endpoint)
	buckets, err := s.objects().ListBuckets(t.Context(), &s3.ListBucketsInput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range buckets.Buckets {
		switch {
		case strings.Contains(*b.Name, "inputbucket"):
			s.input = *b.Name
		case strings.Contains(*b.Name, "resultbucket"):
			s.results = *b.Name
		}
	}
	return s
}

func (s *stack) objects() *s3.Client {
	return s3.NewFromConfig(s.cfg, func(o *s3.Options) { o.UsePathStyle = true })
}

func (s *stack) put(bucket, key, content string) {
	s.t.Helper()
	if _, err := s.objects().PutObject(s.t.Context(), &s3.PutObjectInput{Bucket: &bucket, Key: &key,
		Body: strings.NewReader(content)}); err != nil {
		s.t.Fatal(err)
	}
}

// end waits until the execution with this name has ended.
func (s *stack) end(name string) *journal.Execution {
	s.t.Helper()
	for {
		select {
		case x := <-s.ended:
			if x.Name == name {
				return x
			}
		case <-s.t.Context().Done():
			s.t.Fatal(s.t.Context().Err())
		}
	}
}

// start starts an import of many files and waits for its end.
func (s *stack) start(name, input string) *journal.Execution {
	s.t.Helper()
	devstack.Call(
		s.t,
		s.cfg,
		"sfn",
		"StartExecution",
		map[string]any{"stateMachineArn": imports + "-files:live", "name": name, "input": input},
		nil,
	)
	return s.end(name)
}

// summary returns the summary of an import of many files.
func (s *stack) summary(execution string) (out manyfiles.Summary) {
	s.t.Helper()
	key := "imports/" + execution + "/summary.json"
	got, err := s.objects().GetObject(s.t.Context(), &s3.GetObjectInput{Bucket: &s.results, Key: &key})
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	if err := json.NewDecoder(got.Body).Decode(&out); err != nil {
		s.t.Fatal(err)
	}
	return out
}

// imported returns the number of imports of single files.
func (s *stack) imported() int {
	s.t.Helper()
	list, err := sfn.NewFromConfig(
		s.cfg,
	).ListExecutions(
		s.t.Context(),
		&sfn.ListExecutionsInput{StateMachineArn: aws.String(imports)},
	)
	if err != nil {
		s.t.Fatal(err)
	}
	return len(list.Executions)
}

// users returns the sums in the database, by user.
func (s *stack) users() string {
	s.t.Helper()
	r, err := sqlitestore.OpenReader(s.t.Context(), s.database)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	var all []string
	if err := r.Export(s.t.Context(), func(u csvimport.User) error {
		all = append(all, fmt.Sprintf("%s %d %d", u.UserID, u.LoginCount, u.PostCount))
		return nil
	}); err != nil {
		s.t.Fatal(err)
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// sent returns the status and the execution of each message to the topic of imports.
func (s *stack) sent() string {
	s.t.Helper()
	var all []string
	for {
		out, err := sqs.NewFromConfig(
			s.cfg,
		).ReceiveMessage(
			s.t.Context(),
			&sqs.ReceiveMessageInput{MaxNumberOfMessages: 10,
				QueueUrl: aws.String(s.platform.Endpoint + "/" + devstack.Account + "/sent"), WaitTimeSeconds: 1},
		)
		if err != nil {
			s.t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			slices.Sort(all)
			return strings.Join(all, ", ")
		}
		for _, m := range out.Messages {
			var message struct{ Status, Execution string }
			if err := json.Unmarshal([]byte(*m.Body), &message); err != nil {
				s.t.Fatal(err)
			}
			all = append(all, message.Status+" "+message.Execution)
		}
	}
}

const head = "user_id,login_count,post_count\n"

// TestManyFilesInTheStack deploys dev's template onto the platform, with the real bootstraps and with every role
// enforced, and imports files as one: by a manifest that is uploaded, and again by a prefix. One of the files is
// refused, and one was imported by its own upload before. Each row counts once; there is one summary and one message.
func TestManyFilesInTheStack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds five bootstraps")
	}
	if runtime.GOOS == "windows" {
		t.Skip("bootstraps of provided.al2023 do not run on Windows")
	}
	s := deploy(t)
	const direct = head + "u1,100,0\n"
	s.put(s.input, "direct.csv", direct)
	etag := s.etag("direct.csv")
	alone := s.end(objectevent.ExecutionName(s.input, "direct.csv", etag))
	if alone.Status != history.Succeeded {
		t.Fatalf("the upload's import is %s: %s %s", alone.Status, alone.Failure.Name, alone.Failure.Cause)
	}
	s.put(s.input, "staged/11/a.csv", head+"u1,1,2\nu2,3,4\nu1,5,6\n")
	s.put(s.input, "staged/11/sub/b.csv", head+"u2,10,20\nu3,30,40\n")
	s.put(s.input, "staged/11/bad.csv", "who,what\nu1,1000\n")
	s.put(s.input, "staged/11/rows.csv", head+strings.Repeat("u4,1,1\n", 39)+"u4,many,1\n")
	const manifest = "# November\nstaged/11/a.csv\nstaged/11/sub/b.csv\nstaged/11/bad.csv\nstaged/11/rows.csv\ndirect.csv\n"
	s.put(s.input, "november.manifest", manifest)
	name := objectevent.ExecutionName(s.input, "november.manifest", s.etag("november.manifest"))
	x := s.end(name)
	const sums = "u1 106 8, u2 13 24, u3 30 40, u4 39 39"
	if x.Status != history.Failed || x.Failure.Name != "FilesFailed" || x.Failure.Cause !=
		"1 of 5 files were not imported, or not completely. Summary: s3://"+s.results+"/imports/"+name+"/summary.json" {
		t.Errorf("the manifest's import is %s: %s %s", x.Status, x.Failure.Name, x.Failure.Cause)
	}
	got := s.summary(name)
	if want := (manyfiles.Counts{Rows: 46, Applied: 45, Rejected: 1}); got.Counts != want || got.Files != 5 ||
		got.Succeeded != 4 ||
		got.Failed != 1 ||
		got.Earlier != 1 {
		t.Errorf("summary %+v", got)
	}
	if len(got.FailedFiles) != 1 || got.FailedFiles[0].Key != "staged/11/bad.csv" ||
		got.FailedFiles[0].Status != "FAILED" ||
		got.FailedFiles[0].Error != "CSVHeaderInvalid" {
		t.Errorf("failed files %+v", got.FailedFiles)
	}
	if users := s.users(); users != sums {
		t.Errorf("the database has %s, want %s", users, sums)
	}
	if n := s.imported(); n != 5 {
		t.Errorf("%d imports of files, want 5: staged files start none by themselves", n)
	}
	if messages, want := s.sent(), "FAILED "+name+", SUCCEEDED "+alone.Name; messages != want {
		t.Errorf("messages %s, want %s", messages, want)
	}

	// Again, by the prefix: every file has an import already, and nothing is counted twice.
	if x := s.start("again", `{"prefix":"staged/11/"}`); x.Failure.Name != "FilesFailed" {
		t.Errorf("again: %s %s %s", x.Status, x.Failure.Name, x.Failure.Cause)
	}
	if got := s.summary("again"); got.Files != 4 || got.Earlier != 4 || got.Succeeded != 3 || got.Applied != 44 {
		t.Errorf("again: %+v", got)
	}
	if users := s.users(); users != sums || s.imported() != 5 {
		t.Errorf("again: the database has %s after %d imports", users, s.imported())
	}

	// A manifest that names an object that does not exist is refused before any file is imported.
	s.put(s.input, "staged/11/new.csv", head+"u9,1,1\n")
	s.put(s.input, "december.manifest", "staged/11/new.csv\nstaged/12/missing.csv\n")
	name = objectevent.ExecutionName(s.input, "december.manifest", s.etag("december.manifest"))
	x = s.end(name)
	if !strings.Contains(
		x.Failure.Cause,
		"december.manifest: line 2: s3://"+s.input+"/staged/12/missing.csv does not exist",
	) ||
		x.Failure.Name != "FilesRejected" || !strings.HasPrefix(x.Failure.Cause, "InvalidInput: ") ||
		s.imported() != 5 {
		t.Errorf("a missing object: %s %s after %d imports", x.Failure.Name, x.Failure.Cause, s.imported())
	}
	if x := s.start("nothing", `{"prefix":"staged/12/"}`); x.Failure.Name != "FilesRejected" ||
		!strings.HasPrefix(x.Failure.Cause, "CSVFileNotFound: ") {
		t.Errorf("an empty prefix: %s %s", x.Failure.Name, x.Failure.Cause)
	}

	// The file is corrected, and a new version of it is a new file.
	s.put(s.input, "staged/11/bad.csv", head+"u1,1000,0\n")
	if x := s.start("corrected", `{"prefix":"staged/11/"}`); x.Status != history.Succeeded {
		t.Errorf("corrected: %s %s %s", x.Status, x.Failure.Name, x.Failure.Cause)
	}
	if got := s.summary("corrected"); got.Files != 5 || got.Earlier != 3 || got.Succeeded != 5 || got.Applied != 46 {
		t.Errorf("corrected: %+v", got)
	}
	if users, want := s.users(), "u1 1106 8, u2 13 24, u3 30 40, u4 39 39, u9 1 1"; users != want || s.imported() != 7 {
		t.Errorf("corrected: the database has %s, want %s, after %d imports", users, want, s.imported())
	}
	if messages, want := s.sent(), "FAILED again, REJECTED "+name+", REJECTED nothing, SUCCEEDED corrected"; messages != want {
		t.Errorf("messages %s, want %s", messages, want)
	}
}

// etag returns the ETag of an object of the input bucket.
func (s *stack) etag(key string) string {
	s.t.Helper()
	out, err := s.objects().HeadObject(s.t.Context(), &s3.HeadObjectInput{Bucket: &s.input, Key: &key})
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Trim(*out.ETag, `"`)
}
