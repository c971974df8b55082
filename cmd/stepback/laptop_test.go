package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/jackc/pgx/v5"

	"stepback/aws/client"
	"stepback/cmd/stepback/exit"
	"stepback/csvimport/postgresstore/postgrestest"
)

// TestLaptop deploys the CSV import with the CDK command line to a server in a separate process, with an empty
// directory and a PostgreSQL database: bootstrap, deploy, deploy again, diff, drift, a changed deployment and
// destroy, by both deployment methods. The real bootstraps import an upload with their roles enforced, while tasks
// fail, and through a SIGKILL; the alarm of the retries arrives in the inbox. The test takes some minutes; make
// laptop-trial builds what it needs and sets STEPBACK_LAPTOP.
func TestLaptop(t *testing.T) {
	t.Parallel()
	if os.Getenv("STEPBACK_LAPTOP") == "" {
		t.Skip("it takes minutes, Node.js, npm and PostgreSQL: make laptop-trial runs it")
	}
	l := newLaptop(t)
	l.begin("--fault", "ApplyBatch:throttle:35%", "--enforce-iam")
	l.put("/stepback/laptop/database", l.database)
	l.cdk(0, "bootstrap", "aws://000000000000/us-east-1")

	before := l.remaining()
	l.cdk(0, "deploy", laptopStack, "--method=direct")
	l.says(0, "(no changes)", "deploy", laptopStack, "--method=direct")
	l.cdk(0, "destroy", laptopStack, "--force")
	l.nothingElse(before)

	l.cdk(0, "deploy", laptopStack)
	l.says(0, "(no changes)", "deploy", laptopStack)
	l.says(0, "There were no differences", "diff", laptopStack, "--fail")
	l.says(0, "No drift detected", "drift", laptopStack, "--fail")
	l.imports()
	l.settings("laptop", map[string]any{"recordValueUSD": 0.25})
	l.says(1, "RECORD_VALUE", "diff", laptopStack, "--fail")
	l.cdk(0, "deploy", laptopStack)
	l.says(0, "There were no differences", "diff", laptopStack, "--fail")
	l.empty()
	l.cdk(0, "destroy", laptopStack, "--force")
	if s := l.stackOf(laptopStack); s != "" {
		t.Errorf("the stack is %s still", s)
	}
	l.nothingElse(before)
}

// remaining returns the names of all resources of the services that the stack uses, as "service name".
func (l *laptop) remaining() []string {
	l.t.Helper()
	var all []string
	for _, q := range []struct {
		service, operation, list, name string
		in                             map[string]any
	}{
		{"dynamodb", "ListTables", "TableNames", "", nil},
		{"lambda", "ListFunctions", "Functions", "FunctionName", nil},
		{"sfn", "ListStateMachines", "stateMachines", "name", nil},
		{"sqs", "ListQueues", "QueueUrls", "", nil},
		{"sns", "ListTopics", "Topics", "TopicArn", nil},
		{"cloudwatchlogs", "DescribeLogGroups", "logGroups", "logGroupName", nil},
		{"eventbridge", "ListRules", "Rules", "Name", nil},
		{"cloudwatch", "DescribeAlarms", "MetricAlarms", "AlarmName", map[string]any{"AlarmTypes": []string{"MetricAlarm", "CompositeAlarm"}}},
		{"cloudwatch", "DescribeAlarms", "CompositeAlarms", "AlarmName", map[string]any{"AlarmTypes": []string{"MetricAlarm", "CompositeAlarm"}}},
		{"cloudwatch", "ListDashboards", "DashboardEntries", "DashboardName", nil},
		{"s3", "ListBuckets", "Buckets", "Name", nil},
		{"iam", "ListRoles", "Roles", "RoleName", nil},
		{"secretsmanager", "ListSecrets", "SecretList", "Name", nil},
	} {
		c, err := client.NewNamed(l.t.Context(), l.config(), q.service)
		var out map[string]any
		if err == nil {
			err = c.Call(l.t.Context(), q.operation, q.in, &out)
		}
		if err != nil {
			l.t.Fatal(err)
		}
		found, _ := out[q.list].([]any)
		for _, x := range found {
			name, ok := x.(string)
			if o, isObject := x.(map[string]any); isObject {
				name, ok = o[q.name].(string)
			}
			if !ok {
				l.t.Fatalf("%s: %v has no %s", q.operation, x, q.name)
			}
			all = append(all, q.service+" "+name)
		}
	}
	return all
}

// nothingElse fails the test if there are other resources than before.
func (l *laptop) nothingElse(before []string) {
	l.t.Helper()
	for _, r := range l.remaining() {
		if !slices.Contains(before, r) {
			l.t.Errorf("the destroyed stack has left %s", r)
		}
	}
}

const laptopStack = "stepback-laptop"

// laptop is the server that the stack is deployed to.
type laptop struct {
	t              *testing.T
	root, work     string
	data, database string
	address        string
	server         *exec.Cmd
	stages         bool // deploys dev, stg and prod instead of the environment laptop
}

func newLaptop(t *testing.T) *laptop {
	t.Helper()
	l := newLaptopFolder(t)
	l.database = postgrestest.Start(t).Database(t)
	l.settings("laptop", nil)
	return l
}

// newLaptopFolder returns a laptop without settings and without a database.
func newLaptopFolder(t *testing.T) *laptop {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, needed := range []string{"cdk/node_modules/.bin/cdk", "bin/cdk", "dist/local/process/bootstrap"} {
		if _, err := os.Stat(filepath.Join(root, needed)); err != nil {
			t.Skipf("%s is not there: make laptop-trial makes it", needed)
		}
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("the CDK command line needs Node.js: ", err)
	}
	return &laptop{t: t, root: root, work: t.TempDir(), data: t.TempDir()}
}

// begin starts the server, and waits until it serves.
func (l *laptop) begin(args ...string) {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	listen := l.address
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	l.server = exec.Command(self, append([]string{"serve", "-q", "--data", l.data, "--listen", listen}, args...)...)
	l.server.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1")
	said, err := l.server.StderrPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := l.server.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = l.server.Process.Kill() }) // unless it has been killed already
	lines := bufio.NewReader(said)
	for before := ""; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			l.t.Fatalf("the server has not come up: %s", before)
		}
		before += line
		if m := regexp.MustCompile(`serving on http://(\S+)`).FindStringSubmatch(line); m != nil {
			l.address = m[1]
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // it ends with the server
}

// kill ends the server with SIGKILL.
func (l *laptop) kill() {
	_ = l.server.Process.Kill()
	_ = l.server.Wait()
}

// settings writes the settings file of an environment, overridden by the given values.
func (l *laptop) settings(name string, given map[string]any) {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.root, "cdk/environments", name+".json"))
	if err != nil {
		l.t.Fatal(err)
	}
	all := map[string]any{}
	if err := json.Unmarshal(text, &all); err != nil {
		l.t.Fatal(err)
	}
	maps.Copy(all, given)
	if text, err = json.Marshal(all); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(l.work, name+".json"), text, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// cdk runs the CDK command line, checks that it exits with status, and returns what it printed.
func (l *laptop) cdk(status int, args ...string) string {
	l.t.Helper()
	if args[0] == "deploy" {
		args = append(args, "--require-approval", "never", "--outputs-file", filepath.Join(l.work, "outputs.json"))
	}
	cmd := l.cdkCommand(args...)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != status {
		l.t.Fatalf("cdk %s ended with %d (%v):\n%s", strings.Join(args[:2], " "), got, err, out)
	}
	l.t.Logf("cdk %s: %.1f s", strings.Join(args[:2], " "), time.Since(began).Seconds())
	return string(out)
}

// cdkCommand returns a command that runs the CDK command line.
func (l *laptop) cdkCommand(args ...string) *exec.Cmd {
	architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	args = append(
		args,
		"--no-notices",
		"--app",
		filepath.Join(l.root, "bin/cdk"),
		"--output",
		filepath.Join(l.work, "out"),
		"-c",
		"laptop="+architecture,
		"-c",
		"bootstraps=../dist/local",
		"-c",
		"settings="+l.work,
	)
	if l.stages {
		args = append(args, "-c", "stages=yes")
	}
	cmd := exec.CommandContext(l.t.Context(), "node_modules/.bin/cdk", args...)
	cmd.Dir = filepath.Join(l.root, "cdk")
	cmd.Env = append(
		os.Environ(),
		"AWS_ENDPOINT_URL=http://localhost"+l.address[strings.LastIndexByte(l.address, ':'):],
		"AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=test",
		"AWS_SECRET_ACCESS_KEY=test",
		"AWS_EC2_METADATA_DISABLED=true",
		"CI=true",
		"CDK_VALIDATION=false",
		"CDK_HOME="+filepath.Join(l.work, "home"),
	)
	return cmd
}

// says runs the CDK command line and checks that it prints text.
func (l *laptop) says(status int, text string, args ...string) {
	l.t.Helper()
	if out := l.cdk(status, args...); !strings.Contains(out, text) {
		l.t.Errorf("cdk %s does not say %q:\n%s", args[0], text, out)
	}
}

func (l *laptop) config() aws.Config {
	endpoint := "http://" + l.address
	return aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

func (l *laptop) objects() *s3.Client {
	return s3.NewFromConfig(l.config(), func(o *s3.Options) { o.UsePathStyle = true })
}

func (l *laptop) put(name, value string) {
	l.t.Helper()
	if _, err := ssm.NewFromConfig(l.config()).PutParameter(l.t.Context(), &ssm.PutParameterInput{Name: &name,
		Value: &value, Type: "String"}); err != nil {
		l.t.Fatal(err)
	}
}

// output returns an output of a stack.
func (l *laptop) output(stack, name string) string {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.work, "outputs.json"))
	if err != nil {
		l.t.Fatal(err)
	}
	var all map[string]map[string]string
	if err := json.Unmarshal(text, &all); err != nil || all[stack][name] == "" {
		l.t.Fatalf("the output %s is not in %s: %v", name, text, err)
	}
	return all[stack][name]
}

// The rows of a trial's file: 600 batches, of which more than 300 attempts are throttled at a rate of 35 %, far above
// the threshold of the alarm excessive-retries.
const laptopRows = 150_000

// sample writes a CSV file of laptopRows rows and returns its path.
func (l *laptop) sample() string {
	l.t.Helper()
	file := filepath.Join(l.work, "a.csv")
	asProcess(l.t, "sample", "--rows", strconv.Itoa(laptopRows), "--seed", "7", "-o", file).ends(l.t, exit.OK)
	return file
}

// upload puts a file into the input bucket of a stack. A key in uploads/ starts an import.
func (l *laptop) upload(stack, file, key string) {
	l.t.Helper()
	body, err := os.Open(file)
	if err != nil {
		l.t.Fatal(err)
	}
	defer body.Close()
	bucket := l.output(stack, "InputBucketName")
	if _, err := l.objects().PutObject(
		l.t.Context(),
		&s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: body},
	); err != nil {
		l.t.Fatal(err)
	}
}

// execution returns the only execution of a stack's state machine. The test fails if there are others, or if it has
// failed.
func (l *laptop) execution(stack string) sfntypes.ExecutionListItem {
	l.t.Helper()
	machine := l.output(stack, "StateMachineArn")
	list, err := sfn.NewFromConfig(l.config()).ListExecutions(l.t.Context(),
		&sfn.ListExecutionsInput{StateMachineArn: &machine})
	if err != nil || len(list.Executions) != 1 {
		l.t.Fatalf("%s: %+v, %v", stack, list, err)
	}
	if s := list.Executions[0].Status; s != sfntypes.ExecutionStatusRunning && s != sfntypes.ExecutionStatusSucceeded {
		l.t.Fatalf("the import of %s is %s", stack, s)
	}
	return list.Executions[0]
}

// inbox reports whether a mail contains text.
func (l *laptop) inbox(text string) bool {
	l.t.Helper()
	return strings.Contains(asProcess(l.t, "inbox", "list", "--json", "--data", l.data).out, text)
}

// imports uploads a file, kills the server during the import, and checks the result.
func (l *laptop) imports() {
	l.t.Helper()
	ctx := l.t.Context()
	file := l.sample()
	l.upload(laptopStack, file, "uploads/a.csv")
	l.until(time.Minute, "a row is in the database", func() bool { return l.rows(ctx, l.database) > 0 })
	l.kill()
	l.begin("--fault", "ApplyBatch:throttle:35%", "--enforce-iam")
	// A batch that Lambda throttles six times in a row has waited for five minutes.
	l.until(18*time.Minute, "the import has ended", func() bool {
		return l.execution(laptopStack).Status == sfntypes.ExecutionStatusSucceeded
	})
	l.counts(ctx, l.database, file)
	l.until(7*time.Minute, "the alarm is in the inbox", func() bool {
		return l.inbox(`ALARM: \"csv-import-laptop-excessive-retries\"`)
	})
	if l.inbox("console.aws.amazon.com") || !l.inbox("/_stepback/alarms/csv-import-laptop-excessive-retries") {
		l.t.Error("the mail links the AWS Management Console instead of the console of the server")
	}
	l.draws("laptop", "Retry Statistics")
}

// draws renders the dashboard of an environment, logs the result, and fails if the widget named title has no data.
func (l *laptop) draws(environment, title string) {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	cmd := exec.CommandContext(l.t.Context(), self, "dashboard", "render", "--json", "--endpoint", "http://"+l.address,
		"--name", "CSV-Processing-Retry-Monitor-"+environment, "-o", filepath.Join(l.work, environment+".html"))
	cmd.Env = append(os.Environ(), "STEPBACK_TEST_AS_COMMAND=1", "AWS_REGION=us-east-1")
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatal(err)
	}
	var page struct {
		Widgets     []struct{ Title string }
		WithoutData []string
	}
	if err := json.Unmarshal(out, &page); err != nil {
		l.t.Fatal(err)
	}
	l.t.Logf(
		"the dashboard of %s has %d widgets; without data are %q",
		environment,
		len(page.Widgets),
		page.WithoutData,
	)
	shown := slices.ContainsFunc(page.Widgets, func(w struct{ Title string }) bool { return w.Title == title })
	if !shown || slices.Contains(page.WithoutData, title) {
		l.t.Errorf("the widget %q has no data", title)
	}
}

// rows counts the users in a database; 0 before the table exists.
func (l *laptop) rows(ctx context.Context, database string) (n int64) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close(ctx)
	_ = conn.QueryRow(ctx, "SELECT count(*) FROM users").Scan(&n) // the first import creates the table
	return n
}

// counts compares the sums in a database with those of the file.
func (l *laptop) counts(ctx context.Context, database, file string) {
	l.t.Helper()
	f, err := os.Open(file)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		l.t.Fatal(err)
	}
	var want, got [2]int64
	for _, r := range records[1:] {
		for i := range want {
			n, err := strconv.ParseInt(r[1+i], 10, 64)
			if err != nil {
				l.t.Fatal(err)
			}
			want[i] += n
		}
	}
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := conn.QueryRow(
		ctx,
		"SELECT sum(login_count), sum(post_count) FROM users",
	).Scan(
		&got[0],
		&got[1],
	); err != nil ||
		got != want {
		l.t.Errorf("the sums in the database are %v, those of the file %v (%v)", got, want, err)
	}
}

// until waits until so returns true.
func (l *laptop) until(most time.Duration, what string, so func() bool) {
	l.t.Helper()
	for began := time.Now(); !so(); rest(200 * time.Millisecond) {
		if time.Since(began) > most {
			l.t.Fatalf("after %v it is not so that %s", most, what)
		}
	}
}

// empty deletes every version of every object of the stack's buckets.
func (l *laptop) empty() {
	l.t.Helper()
	for _, name := range []string{"InputBucketName", "ResultBucketName"} {
		bucket := l.output(laptopStack, name)
		for {
			list, err := l.objects().ListObjectVersions(l.t.Context(), &s3.ListObjectVersionsInput{Bucket: &bucket})
			if err != nil {
				l.t.Fatal(err)
			}
			all := &s3types.Delete{}
			for _, v := range list.Versions {
				all.Objects = append(all.Objects, s3types.ObjectIdentifier{Key: v.Key, VersionId: v.VersionId})
			}
			for _, m := range list.DeleteMarkers {
				all.Objects = append(all.Objects, s3types.ObjectIdentifier{Key: m.Key, VersionId: m.VersionId})
			}
			if len(all.Objects) == 0 {
				break
			}
			if _, err := l.objects().DeleteObjects(l.t.Context(), &s3.DeleteObjectsInput{Bucket: &bucket,
				Delete: all}); err != nil {
				l.t.Fatal(err)
			}
		}
	}
}

// stackOf returns the status of a stack, or "" if the stack does not exist.
func (l *laptop) stackOf(name string) string {
	l.t.Helper()
	text := l.form("cloudformation", "DescribeStacks", "StackName", name)
	if strings.Contains(text, "does not exist") {
		return ""
	}
	m := regexp.MustCompile(`<StackStatus>(.*?)</StackStatus>`).FindStringSubmatch(text)
	if m == nil {
		l.t.Fatal(text)
	}
	return m[1]
}

// form calls an operation in the Query protocol, or in JSON if that is the service's protocol, and returns the
// response.
func (l *laptop) form(service, operation string, members ...string) string {
	l.t.Helper()
	values, kind, target := url.Values{
		"Action":  {operation},
		"Version": {"2010-05-15"},
	}, "application/x-www-form-urlencoded", ""
	for i := 0; i < len(members); i += 2 {
		values.Set(members[i], members[i+1])
	}
	body := values.Encode()
	if service == "sqs" {
		body, kind, target = "{}", "application/x-amz-json-1.0", "AmazonSQS."+operation
	}
	r, err := http.NewRequestWithContext(l.t.Context(), http.MethodPost, "http://"+l.address, strings.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if target != "" {
		r.Header.Set("X-Amz-Target", target)
	}
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20261122/us-east-1/"+service+"/aws4_request, "+
		"SignedHeaders=host, Signature=0")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return string(text)
}
