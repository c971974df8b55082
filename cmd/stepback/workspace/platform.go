package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/aws/loopback"
	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/terminal"
	"stepback/local"
	"stepback/tasks/faults"
	"stepback/tasks/mock"
)

// EmbeddedServices holds the flags of the services that are served besides Step Functions.
type EmbeddedServices struct {
	LambdaEndpoint string `env:"LAMBDA_ENDPOINT,AWS_ENDPOINT_URL_LAMBDA" placeholder:"URL" help:"Lambda endpoint for tasks, instead of the embedded one."`
	S3Endpoint     string `name:"s3-endpoint" env:"S3_ENDPOINT,AWS_ENDPOINT_URL_S3" placeholder:"URL" help:"S3 endpoint for Maps, instead of the embedded one."`
	Environments   int    `name:"lambda-environments" default:"32" placeholder:"N" help:"Maximum number of processes per function version; further invocations wait. Default 32."`
	Total          int    `name:"lambda-total" default:"256" placeholder:"N" help:"Maximum number of processes of all functions; idle ones are ended to start others. Default 256."`
	Offline        bool   `help:"Download nothing. By default, libraries that AWS's runtimes include (@aws-sdk/…, boto3) are downloaded from npm or PyPI when a function first imports them."`
	TotalMemory    int    `name:"lambda-memory" placeholder:"MB" help:"Maximum total MemorySize of the functions' processes. Default: no limit."`
}

// Apply sets the platform's configuration from the flags, with the external services that the environment names.
func (s *EmbeddedServices) Apply(cfg *local.Config) {
	cfg.LambdaEndpoint, cfg.S3Endpoint, cfg.Environments = s.LambdaEndpoint, s.S3Endpoint, s.Environments
	cfg.FetchPackages = !s.Offline
	cfg.TotalEnvironments, cfg.TotalLambdaMB = s.Total, s.TotalMemory
	cfg.Getenv, cfg.Version = os.Getenv, buildinfo.Version()
}

// Injection holds the flags for faults injected into the tasks of any state machine.
type Injection struct {
	Fault []string `sep:"none" placeholder:"STATE:ERROR:RATE" help:"Share of a state's tasks that fail (repeatable). ERROR is an error name, hang, crash or throttle."`
	Seed  uint64   `default:"1" help:"Seed of the choice of tasks that fail."`
}

// Apply parses the faults into cfg. If states are given, a fault must name one of them.
func (i *Injection) Apply(cfg *local.Config, states ...string) error {
	cfg.Seed = i.Seed
	for _, text := range i.Fault {
		spec, err := faults.ParseSpec(text, states...)
		if err != nil {
			return err
		}
		cfg.Faults = append(cfg.Faults, spec)
	}
	return nil
}

// LogGroups is the folder of a data directory that holds the log groups of CloudWatch Logs.
var LogGroups = filepath.Join("logs", "groups")

// OpenMocks loads the mock configuration; it returns nil if path is empty.
func OpenMocks(path string) (*mock.File, error) {
	if path == "" {
		return nil, nil //nolint:nilnil // there are no test cases
	}
	return mock.Open(terminal.NearPath(path))
}

// mostResuming is the number of resumed executions that are printed.
const mostResuming = 100

// Resuming returns a function that prints which interrupted executions of an earlier process are resumed, up to
// mostResuming of them.
func Resuming(std terminal.Streams) func(local.Resumed) {
	var printed atomic.Int64
	return func(x local.Resumed) {
		switch n := printed.Add(1); {
		case n == mostResuming+1:
			fmt.Fprintln(std.Err, "resuming more executions; stepback executions lists them")
			return
		case n > mostResuming:
			return
		}
		fmt.Fprintf(std.Err, "resuming execution %s, interrupted at %s\n", x.Name,
			x.Interrupted.Local().Format(time.DateTime))
	}
}

// StatesClient returns the AWS SDK's Step Functions client, connected to the platform without a network.
func StatesClient(p *local.Platform) *sfn.Client {
	return sfn.New(sfn.Options{
		Region: p.Scope.Region, BaseEndpoint: aws.String(loopback.URL),
		HTTPClient: loopback.Client(p.StepFunctions.Handler()), Retryer: aws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider(p.Scope.Account, "local", ""),
	})
}

// Documents is the folder of a data directory in which services keep their documents.
const Documents = "documents"
