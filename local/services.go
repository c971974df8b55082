package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"

	"stepback/aws"
	"stepback/aws/client"
	"stepback/aws/objects"
	"stepback/engine"
	"stepback/engine/s3objects"
	"stepback/local/endpoint"
	lambdaapi "stepback/local/services/lambda"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/lambda/runner"
	"stepback/local/services/s3"
	"stepback/tasks/lambda"
	"stepback/tasks/lambda/invocation"
)

// listen opens the listener.
func (p *Platform) listen(ctx context.Context) error {
	if p.cfg.Listener == nil {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		p.cfg.Listener = l
		p.onClose(func() error { return ignoreClosed(l.Close()) })
	}
	p.Endpoint = "http://" + reachable(p.cfg.Listener.Addr())
	return nil
}

// reachable returns the address at which programs on this machine reach a listener.
func reachable(a net.Addr) string {
	tcp, ok := a.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return a.String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
}

// S3Client returns a client of the embedded S3.
func (p *Platform) S3Client() *objects.Client { return objects.Local(p.Endpoint, p.Scope.Region) }

// objectsOfMaps returns the object store that Maps use: the embedded S3, or another one with the credentials of the
// environment.
func (p *Platform) objectsOfMaps(ctx context.Context) (engine.Objects, error) {
	switch {
	case p.cfg.S3Endpoint != "":
	case p.cfg.Beside != nil:
		return s3objects.New(objects.Local(p.cfg.Beside.Endpoint, p.Scope.Region)), nil
	default:
		return s3objects.New(p.S3Client()), nil
	}
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	if settings.Region == "" {
		settings.Region = s3.DefaultRegion
	}
	return s3objects.New(objects.New(&client.Client{
		Endpoint: p.cfg.S3Endpoint, Region: settings.Region, Credentials: settings.Credentials,
	}, retry.NewStandard())), nil
}

// closeGrace is the time that functions' processes may take to exit.
const closeGrace = 5 * time.Second

// openFunctions opens the embedded Lambda.
func (p *Platform) openFunctions(ctx context.Context) (err error) {
	packages, ok := p.objects.(functions.Objects)
	if !ok {
		return errors.New("deployment packages cannot be read from the S3 endpoint that Maps use")
	}
	p.Functions, err = functions.Open(ctx, filepath.Join(p.Dir, functionsDir), functions.Options{
		Objects: packages, Env: p.environment(), Environments: p.cfg.Environments, Log: p.cfg.Log,
		FetchPackages: p.cfg.FetchPackages, Total: p.cfg.TotalEnvironments, TotalMemoryMB: p.cfg.TotalLambdaMB,
		BuiltIn: p.cfg.BuiltIn, Ran: p.ran, Sample: p.tracer.SampleFunction, Deliver: p.Targets.Deliver,
		Store: p.Documents, Files: p.files, Clock: p.Clock, Keys: p.functionKeys(),
		LogSink: func(scope aws.Scope) runner.LogSink { return functionLog{p.Logs, scope, p.Metrics()} },
	})
	if err != nil {
		return fmt.Errorf("the functions of %s: %w", p.Dir, err)
	}
	p.offer(served{model: "lambda", store: functionsDir, about: "functions run as processes on this machine",
		Service: endpoint.Service{Name: "Lambda", Signing: "lambda", Host: lambdaapi.IsURLHost,
			Handler: lazily(func() *lambdaapi.Service {
				return lambdaapi.New(lambdaapi.Config{Functions: p.Functions, Mappings: p.mappings, Scope: p.Scope,
					Durable: p.Durable,
					Log:     p.cfg.Log})
			})}})
	p.Targets.Register("lambda", p.Functions)
	p.onClose(func() error { //nolint:contextcheck // closing has a time of its own
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		defer cancel()
		return p.Functions.Close(ctx)
	})
	return nil
}

// environment returns the environment variables of functions, which make AWS's SDKs in them call this platform
// instead of AWS. Endpoints of other services that were configured for this process apply to functions too.
func (p *Platform) environment() map[string]string {
	env := map[string]string{"AWS_ENDPOINT_URL": p.Endpoint, "AWS_EC2_METADATA_DISABLED": "true",
		"AWS_XRAY_CONTEXT_MISSING": "LOG_ERROR"}
	if address := p.tracer.Address(); address != "" {
		env["AWS_XRAY_DAEMON_ADDRESS"] = address
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if value := p.cfg.Getenv(name); strings.HasPrefix(name, "AWS_ENDPOINT_URL_") && value != "" {
			env[name] = value
		}
	}
	return env
}

// invoker returns the invoker for the tasks of an account and region.
func (p *Platform) invoker(scope aws.Scope) invocation.Invoker {
	var in invocation.Invoker
	switch {
	case p.cfg.LambdaEndpoint != "":
		in = lambda.Endpoint{URL: p.cfg.LambdaEndpoint}
	case p.cfg.Beside != nil:
		in = lambda.Endpoint{URL: p.cfg.Beside.Endpoint}
	default:
		in = p.Functions.In(scope)
	}
	if p.cfg.StandIns != nil {
		in = p.cfg.StandIns.Over(in)
	}
	return p.Chaos.Functions(p.Faults.Functions(in))
}
