package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/s3objects"
	"stepback/local/endpoint"
	lambdaapi "stepback/services/lambda"
	"stepback/services/lambda/functions"
	lambdalog "stepback/services/lambda/runner"
	logsapi "stepback/services/logs"
	"stepback/services/logs/logstore"
	"stepback/services/s3"
	"stepback/services/sts"
	"stepback/tasks/lambda"
)

// embeddedServices are the flags of the services that are served beside Step Functions.
type embeddedServices struct {
	LambdaEndpoint string `env:"LAMBDA_ENDPOINT,AWS_ENDPOINT_URL_LAMBDA" placeholder:"URL" help:"Where tasks invoke functions, instead of the embedded Lambda."`
	S3Endpoint     string `name:"s3-endpoint" env:"S3_ENDPOINT,AWS_ENDPOINT_URL_S3" placeholder:"URL" help:"Where Maps read and write objects, instead of the embedded S3."`
	Environments   int    `name:"lambda-environments" default:"32" placeholder:"N" help:"Most processes of one function version; further invocations wait. Default 32."`

	starters map[string]string // the function that hears of new objects, by bucket
}

// services are the services beside Step Functions, and where tasks and Maps reach them.
type services struct {
	endpoint       string            // of this server
	lambdaEndpoint string            // empty for the embedded one
	s3Endpoint     string            // empty for the embedded one
	starters       map[string]string // the function that hears of new objects, by bucket
	s3             *s3.Server
	functions      *functions.Service
	logs           *logstore.Store
	objects        engine.Objects
	invokers       *invokers // come first; may be nil
	log            *slog.Logger
}

// open opens the embedded services in the data directory of a server that listens at an address.
func (c *embeddedServices) open(ctx context.Context, data string, listening net.Addr, scope aws.Scope,
	log *slog.Logger) (*services, error) {
	s := &services{
		endpoint: "http://" + reachable(listening), lambdaEndpoint: c.LambdaEndpoint, s3Endpoint: c.S3Endpoint,
		starters: c.starters, log: log,
	}
	var err error
	if s.s3, err = s3.Open(filepath.Join(data, "objects"), s3.Options{Region: scope.Region, Account: scope.Account,
		ObjectCreated: s.objectCreated(scope)}); err != nil {
		return nil, err
	}
	client, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	if s.logs, err = logstore.Open(filepath.Join(data, logGroups), logstore.Options{Log: log}); err != nil {
		return nil, err
	}
	objects := s3objects.New(client)
	s.objects = objects
	s.functions, err = functions.Open(ctx, filepath.Join(data, "lambda"), functions.Options{
		Objects: objects, LogDir: filepath.Join(data, functionLogs), Env: s.environment(), Environments: c.Environments,
		Log:     log,
		LogSink: func(scope aws.Scope) lambdalog.LogSink { return functionLog{s.logs, aws.Scope(scope)} },
	})
	if err != nil {
		return nil, errors.Join(err, s.logs.Close())
	}
	return s, nil
}

// functionLogs is where the logs of functions are in a data directory, logGroups where those of CloudWatch Logs are.
var (
	functionLogs = filepath.Join("logs", "lambda")
	logGroups    = filepath.Join("logs", "groups")
)

// reachable is the address by which this machine's programs reach a listener.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}

// client is the S3 client of Maps: for the embedded S3, or for another one with the credentials of the environment.
func (s *services) client(ctx context.Context) (*awss3.Client, error) {
	if s.s3Endpoint == "" {
		return s3.NewClient(s.endpoint, s3.DefaultRegion), nil
	}
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return awss3.NewFromConfig(settings, func(o *awss3.Options) {
		o.BaseEndpoint, o.UsePathStyle = &s.s3Endpoint, true
		if o.Region == "" {
			o.Region = s3.DefaultRegion
		}
	}), nil
}

// environment is what functions find in theirs, so that AWS's SDKs in them come here and not to AWS. What this process
// was told about other services' endpoints holds for them too.
func (s *services) environment() map[string]string {
	env := map[string]string{"AWS_ENDPOINT_URL": s.endpoint, "AWS_EC2_METADATA_DISABLED": "true"}
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "AWS_ENDPOINT_URL_") {
			env[name] = value
		}
	}
	return env
}

// invoker is how the tasks of an account and region invoke functions.
func (s *services) invoker(scope aws.Scope) lambda.Invoker {
	others := s.lambdaInvoker(scope)
	if s.invokers == nil {
		return others
	}
	return namedInvoker{s.invokers, others}
}

// lambdaInvoker invokes the functions of the embedded Lambda, or of the endpoint that takes its place.
func (s *services) lambdaInvoker(scope aws.Scope) lambda.Invoker {
	if s.lambdaEndpoint != "" || s.functions == nil {
		return lambda.Endpoint{URL: s.lambdaEndpoint}
	}
	return functionInvoker{s.functions, aws.Scope{Account: scope.Account, Region: scope.Region}}
}

// lambda serves the API of the embedded Lambda.
func (s *services) lambda(scope aws.Scope) http.Handler {
	return lambdaapi.New(s.functions, scope, s.log)
}

// cloudWatchLogs serves the API of the embedded CloudWatch Logs.
func (s *services) cloudWatchLogs(scope aws.Scope) http.Handler {
	return logsapi.New(s.logs, scope, time.Now, s.log)
}

// handler serves everything at one address.
func (s *services) handler(stepFunctions http.Handler, scope aws.Scope, public bool) http.Handler {
	h := &endpoint.Handler{
		StepFunctions: stepFunctions, Lambda: s.lambda(scope), S3: s.s3.Handler(), Logs: s.cloudWatchLogs(scope),
		STS: &sts.Service{Default: scope, Log: s.log}, Log: s.log,
		Health: endpoint.Health{Version: version(), Services: map[string]string{"stepfunctions": running,
			"lambda": running, "s3": running, "logs": running, "sts": running}},
	}
	if public { // a machine's names are not known to it
		h.Hosts = []string{"*"}
	}
	return h
}

const running = "running"

// version is that of the module that this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// listing says what is served where.
func (s *services) listing(data string) string {
	used := func(endpoint, here string) string {
		if endpoint != "" {
			return here + "; tasks use " + endpoint
		}
		return here
	}
	return fmt.Sprintf(`stepback: serving on %s
  Step Functions  executions in %s
  Lambda          %s
  S3              %s
  CloudWatch Logs %s
  health          %s%s
Use it with: export AWS_ENDPOINT_URL=%s AWS_REGION=us-east-1 AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
  and, for StartSyncExecution and TestState, AWS_DISABLE_HOST_PREFIX_INJECTION=true
`, s.endpoint, data, used(s.lambdaEndpoint, "functions in "+filepath.Join(data, "lambda")),
		used(s.s3Endpoint, "buckets in "+filepath.Join(data, "objects")), "log groups in "+filepath.Join(data,
			logGroups), s.endpoint, endpoint.HealthPath, s.endpoint)
}

// close ends the functions' processes.
func (s *services) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	return errors.Join(s.functions.Close(ctx), s.logs.Close())
}
