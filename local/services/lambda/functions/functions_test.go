package functions_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go"

	"stepback/aws"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/lambda/runner"
	"stepback/tasks/lambda/invocation"
)

var home = aws.Scope{Account: "000000000000", Region: "us-east-1"}

func open(t testing.TB, dir string, opts functions.Options) *functions.Service {
	t.Helper()
	s, err := functions.Open(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeService(t, s) })
	return s
}

func closeService(t testing.TB, s *functions.Service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

// packed returns a deployment package with the given files; a name that ends in * is executable.
func packed(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range files {
		h := &zip.FileHeader{Name: strings.TrimSuffix(name, "*"), Method: zip.Deflate}
		h.SetMode(0o644)
		if strings.HasSuffix(name, "*") {
			h.SetMode(0o755)
		}
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// python returns a function that consists of one file.
func python(t testing.TB, source string) *functions.CreateInput {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	in := &functions.CreateInput{Code: functions.Code{ZipFile: packed(t, map[string]string{"app.py": source})}}
	in.Runtime, in.Handler, in.Role = new("python3.12"), new("app.handler"), new("arn:aws:iam::000000000000:role/r")
	in.Timeout = new(10)
	return in
}

func create(t testing.TB, s *functions.Service, in *functions.CreateInput) *functions.Configuration {
	t.Helper()
	c, err := s.Create(t.Context(), home, "F", in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func invoke(t testing.TB, s *functions.Service, name, payload string) *invocation.Answer {
	t.Helper()
	out, err := s.Invoke(t.Context(), home, &invocation.Request{FunctionName: name, Payload: []byte(payload),
		LogType: "Tail"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func code(t testing.TB, err error) string {
	t.Helper()
	var api *aws.Error
	if !errors.As(err, &api) {
		t.Fatalf("no error of the API: %v", err)
	}
	return api.Code + ": " + api.Message
}

const says = "def handler(event, context):\n    return '%s ' + context.function_version\n"

func source(word string) string { return strings.Replace(says, "%s", word, 1) }

func TestAFunctionSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, functions.Options{})
	in := python(t, source("one"))
	in.Environment = &functions.Environment{Variables: map[string]string{"AA": "b"}}
	in.Tags = map[string]string{"team": "x"}
	before := create(t, s, in)
	closeService(t, s)
	s = open(t, dir, functions.Options{})
	after, err := s.Get(home, "F", "")
	if err != nil || after.Configuration.RevisionID != before.RevisionID || after.Tags["team"] != "x" ||
		after.Configuration.Environment.Variables["AA"] != "b" {
		t.Errorf("%+v, %v", after, err)
	}
	if out := invoke(t, s, "F", `{}`); string(out.Payload) != `"one $LATEST"` {
		t.Errorf("%s\n%s", out.Payload, out.LogTail)
	}
}

func TestVersionsAndAliases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, functions.Options{})
	create(t, s, python(t, source("one")))
	if c, err := s.Publish(t.Context(), home, "F", &functions.PublishInput{}); err != nil || c.Version != "1" ||
		!strings.HasSuffix(c.FunctionArn, ":F:1") {
		t.Fatalf("%+v, %v", c, err)
	}
	if c, err := s.Publish(t.Context(), home, "F", &functions.PublishInput{}); err != nil || c.Version != "1" {
		t.Errorf("nothing has changed: %+v, %v", c, err)
	}
	update := &functions.UpdateCodeInput{Code: functions.Code{ZipFile: packed(t,
		map[string]string{"app.py": source("two")})}, Publish: true}
	if c, err := s.UpdateCode(t.Context(), home, "F", update); err != nil || c.Version != "2" {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := s.CreateAlias(t.Context(), home, "F", &functions.AliasInput{Name: "live",
		FunctionVersion: new("1")}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"F": `"two $LATEST"`, "F:1": `"one 1"`, "F:2": `"two 2"`,
		"F:live": `"one 1"`} {
		if out := invoke(t, s, name, `{}`); string(out.Payload) != want {
			t.Errorf("%s: %s, want %s\n%s", name, out.Payload, want, out.LogTail)
		}
	}
	routing := &functions.RoutingConfig{AdditionalVersionWeights: map[string]float64{"2": 1}}
	if _, err := s.UpdateAlias(t.Context(), home, "F", &functions.AliasInput{Name: "live",
		RoutingConfig: routing}); err != nil {
		t.Fatal(err)
	}
	if out := invoke(t, s, "F:live", `{}`); string(out.Payload) != `"two 2"` || out.ExecutedVersion != "2" {
		t.Errorf("%s %s", out.Payload, out.ExecutedVersion)
	}
	if err := s.Delete(t.Context(), home, "F", "2"); err == nil || !strings.Contains(code(t, err),
		"referenced by the aliases: live") {
		t.Errorf("%v", err)
	}
	if err := s.DeleteAlias(t.Context(), home, "F", "live"); err != nil {
		t.Error(err)
	}
	if err := s.Delete(t.Context(), home, "F", "1"); err != nil {
		t.Error(err)
	}
	if _, err := s.Invoke(t.Context(), home, &invocation.Request{FunctionName: "F:1"}); err == nil {
		t.Error("a deleted version was invoked")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, home.Account, home.Region, "F", "code", "*.zip")); len(left) != 1 {
		t.Errorf("packages left: %v", left)
	}
	if err := s.Delete(t.Context(), home, "F", ""); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, home.Account, home.Region, "F")); !os.IsNotExist(err) {
		t.Errorf("the directory of a deleted function: %v", err)
	}
}

func TestReservedConcurrency(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	create(t, s, python(t, source("one")))
	if err := s.Reserve(t.Context(), home, "F", new(0)); err != nil {
		t.Fatal(err)
	}
	_, err := s.Invoke(t.Context(), home, &invocation.Request{FunctionName: "F"})
	if err == nil || code(t, err) != "TooManyRequestsException: Rate Exceeded." {
		t.Errorf("%v", err)
	}
	if err := s.Reserve(t.Context(), home, "F", new(901)); err == nil || !strings.Contains(code(t, err),
		"minimum value of [100]") {
		t.Errorf("%v", err)
	}
	if err := s.Reserve(t.Context(), home, "F", nil); err != nil {
		t.Fatal(err)
	}
	if out := invoke(t, s, "F", ""); out.FunctionError != "" {
		t.Errorf("%s", out.Payload)
	}
}

func TestScopesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	create(t, s, python(t, source("one")))
	other := aws.Scope{Account: "111111111111", Region: "us-east-1"}
	if _, err := s.Get(other, "F", ""); err == nil ||
		code(t, err) != "ResourceNotFoundException: Function not found: arn:aws:lambda:us-east-1:111111111111:function:F" {
		t.Errorf("%v", err)
	}
	if list := s.List(other, true); len(list) != 0 {
		t.Errorf("%v", list)
	}
	if out, err := s.Invoke(t.Context(), other,
		&invocation.Request{FunctionName: "arn:aws:lambda:us-east-1:000000000000:function:F"}); err != nil ||
		string(out.Payload) != `"one $LATEST"` {
		t.Errorf("by its ARN: %s, %v", out.Payload, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	for name, c := range map[string]struct {
		change func(*functions.CreateInput)
		want   string
	}{
		"runtime": {func(in *functions.CreateInput) { in.Runtime = new("java21") },
			"Functions of the runtime java21 do not run in stepback serve"},
		"handler": {func(in *functions.CreateInput) { in.Handler = nil }, "Runtime and Handler are mandatory"},
		"no code": {func(in *functions.CreateInput) { in.Code = functions.Code{} }, "source for function code"},
		"no zip": {func(in *functions.CreateInput) { in.Code.ZipFile = []byte("x") },
			"Could not unzip uploaded file"},
		"empty zip": {func(in *functions.CreateInput) { in.Code.ZipFile = packed(t, nil) }, "non-empty zip"},
		"no S3": {func(in *functions.CreateInput) { in.Code = functions.Code{S3Bucket: "bucket", S3Key: "k"} },
			"There is no S3 here"},
		"image":  {func(in *functions.CreateInput) { in.PackageType = "Image" }, "Container images do not run here"},
		"layers": {func(in *functions.CreateInput) { in.Layers = []string{"arn"} }, "Layer version arn does not exist."},
		"variables": {func(in *functions.CreateInput) {
			in.Environment = &functions.Environment{Variables: map[string]string{"AWS_REGION": "x", "BB": "y"}}
		}, "Reserved keys used in this request: AWS_REGION"},
		"variable name": {func(in *functions.CreateInput) {
			in.Environment = &functions.Environment{Variables: map[string]string{"A=B": "x"}}
		}, `The environment variable "A=B"`},
		"many variables": {func(in *functions.CreateInput) {
			in.Environment = &functions.Environment{Variables: map[string]string{"AA": strings.Repeat("x", 4096)}}
		}, "exceeded the 4KB limit"},
	} {
		in := python(t, source("one"))
		c.change(in)
		if _, err := s.Create(t.Context(), home, "F", in); err == nil || !strings.HasPrefix(code(t, err),
			"InvalidParameterValueException: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	create(t, s, python(t, source("one")))
	if _, err := s.Create(t.Context(), home, "F", python(t, source("one"))); err == nil ||
		code(t, err) != "ResourceConflictException: Function already exist: F" {
		t.Errorf("%v", err)
	}
}

// bucket is an S3 client with a single object.
type bucket struct{ body []byte }

func (b bucket) Get(_ context.Context, name, key, _, _ string) (io.ReadCloser, int64, error) {
	if name != "bucket" || key != "f.zip" {
		return nil, 0, &smithy.GenericAPIError{Code: "NoSuchKey", Message: "The specified key does not exist."}
	}
	return io.NopCloser(bytes.NewReader(b.body)), int64(len(b.body)), nil
}

// logged stores what functions log.
type logged struct {
	mu   sync.Mutex
	kept []byte
}

// WriteLog implements runner.LogSink.
func (l *logged) WriteLog(_ runner.LogStream, lines []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, lines...)
}

func (l *logged) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.kept)
}

func TestCodeEnvironmentAndLogsComeFromTheOptions(t *testing.T) {
	t.Parallel()
	var logs logged
	in := python(t, "")
	in.Code = functions.Code{S3Bucket: "bucket", S3Key: "f.zip"}
	in.Environment = &functions.Environment{Variables: map[string]string{"BB": "own"}}
	s := open(t, t.TempDir(), functions.Options{
		Objects: bucket{packed(t, map[string]string{"app.py": "import os\ndef handler(e, c):\n    print('noted')\n    return [os.environ['AA'], os.environ['BB']]\n"})},
		Env:     map[string]string{"AA": "given", "BB": "given"},
		LogSink: func(aws.Scope) runner.LogSink { return &logs },
	})
	create(t, s, in)
	if out := invoke(t, s, "F", `{}`); string(out.Payload) != `["given", "own"]` {
		t.Errorf("%s\n%s", out.Payload, out.LogTail)
	}
	if text := logs.text(); !strings.Contains(text, "\nnoted\n") {
		t.Error(text)
	}
	_, err := s.UpdateCode(t.Context(), home, "F", &functions.UpdateCodeInput{Code: functions.Code{S3Bucket: "bucket",
		S3Key: "g.zip"}})
	if err == nil || !strings.HasSuffix(code(t, err),
		"S3 Error Code: NoSuchKey. S3 Error Message: The specified key does not exist.") {
		t.Errorf("%v", err)
	}
}

func TestUpdatesAreChecked(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	before := create(t, s, python(t, source("one")))
	in := &functions.UpdateCodeInput{Code: functions.Code{ZipFile: packed(t,
		map[string]string{"app.py": source("two")})}, DryRun: true}
	if c, err := s.UpdateCode(t.Context(), home, "F", in); err != nil || c.CodeSha256 == before.CodeSha256 {
		t.Errorf("a dry run shows what would be: %+v, %v", c, err)
	}
	if out := invoke(t, s, "F", `{}`); string(out.Payload) != `"one $LATEST"` {
		t.Errorf("a dry run changed the function: %s", out.Payload)
	}
	in.DryRun, in.RevisionID = false, "another"
	if _, err := s.UpdateCode(t.Context(), home, "F", in); err == nil || !strings.HasPrefix(code(t, err),
		"PreconditionFailedException: ") {
		t.Errorf("%v", err)
	}
	in.RevisionID = before.RevisionID
	if c, err := s.UpdateCode(t.Context(), home, "F", in); err != nil || c.RevisionID == before.RevisionID {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestManyChangesAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	create(t, s, python(t, source("one")))
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := s.Tag(t.Context(), home, "F", map[string]string{string(rune('a' + i)): "x"}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if f, err := s.Get(home, "F", ""); err != nil || len(f.Tags) != 8 {
		t.Errorf("%v, %v", f.Tags, err)
	}
}

func TestTagsAndDeletionsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	many := map[string]string{}
	for i := range 51 {
		many[strconv.Itoa(i)] = "x"
	}
	in := python(t, source("one"))
	in.Tags = many
	_, err := s.Create(t.Context(), home, "F", in)
	if got := code(t, err); got != "InvalidParameterValueException: Number of tags exceeds function tag limit." {
		t.Error(got)
	}
	in.Tags = nil
	create(t, s, in)
	for _, tags := range []map[string]string{{strings.Repeat("k", 129): "v"}, {"k": strings.Repeat("v", 257)}, {"": "v"}} {
		if got := code(t, s.Tag(t.Context(), home, "F", tags)); !strings.HasPrefix(got,
			"InvalidParameterValueException: A tag's key must have 1 to 128 characters, and its value at most 256: ") {
			t.Error(got)
		}
	}
	if _, err := s.Publish(t.Context(), home, "F", &functions.PublishInput{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateAlias(t.Context(), home, "F", &functions.AliasInput{Name: "live", FunctionVersion: new("1")}); err != nil {
		t.Fatal(err)
	}
	if got := code(t, s.Delete(t.Context(), home, "F", "live")); got !=
		"InvalidParameterValueException: Deletion of aliases is not currently supported." {
		t.Error(got)
	}
}

// TestLevelsOfLogs: levels belong to the format JSON, where both are INFO unless they are given.
func TestLevelsOfLogs(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	in := python(t, source("one"))
	in.LoggingConfig = &functions.LoggingConfig{LogFormat: "Text", SystemLogLevel: "WARN"}
	_, err := s.Create(t.Context(), home, "F", in)
	if got := code(t, err); got != "InvalidParameterValueException: ApplicationLogLevel and SystemLogLevel can be set only with the "+
		"LogFormat JSON." {
		t.Error(got)
	}
	in.LoggingConfig = &functions.LoggingConfig{LogFormat: "JSON", SystemLogLevel: "WARN"}
	if made := create(t, s, in); made.LoggingConfig != (functions.LoggingConfig{LogFormat: "JSON", ApplicationLogLevel: "INFO",
		SystemLogLevel: "WARN", LogGroup: "/aws/lambda/F"}) {
		t.Errorf("%+v", made.LoggingConfig)
	}
	change := &functions.UpdateConfigurationInput{}
	change.LoggingConfig = &functions.LoggingConfig{LogFormat: "Text"}
	if made, err := s.UpdateConfiguration(t.Context(), home, "F", change); err != nil || made.LoggingConfig !=
		(functions.LoggingConfig{LogFormat: "Text", LogGroup: "/aws/lambda/F"}) {
		t.Errorf("%+v, %v", made, err)
	}
}

func TestADamagedRecordIsNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, home.Account, home.Region, "F", "function.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := functions.Open(t.Context(), dir, functions.Options{}); err == nil || !strings.Contains(err.Error(),
		path+" is damaged") {
		t.Errorf("%v", err)
	}
}

// TestWhatPublicSamplesName: runtimes that AWS has ended run with the interpreter of this machine, and AWS's public
// layers of Powertools are accepted without content.
func TestWhatPublicSamplesName(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), functions.Options{})
	const layer = "arn:aws:lambda:us-east-1:017000801446:layer:AWSLambdaPowertoolsPython:22"
	in := python(t, source("one"))
	in.Runtime, in.Layers = new("python3.7"), []string{layer}
	made := create(t, s, in)
	if len(made.Layers) != 1 || made.Layers[0] != (functions.Layer{Arn: layer}) || made.Runtime != "python3.7" {
		t.Errorf("%+v", made)
	}
	out, err := s.Invoke(t.Context(), home, &invocation.Request{FunctionName: "F"})
	if err != nil || string(out.Payload) != `"one $LATEST"` {
		t.Errorf("%+v, %v", out, err)
	}
}
