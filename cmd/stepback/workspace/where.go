package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"stepback/aws"
	"stepback/aws/client"
	"stepback/aws/loopback"
	"stepback/cmd/stepback/executions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/local"
)

// Where holds the flags that select the data directory, endpoint or account whose executions a verb works on.
type Where struct {
	Data     string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory; it need not be served. Default .stepback."`
	Endpoint string `placeholder:"URL" help:"Use an endpoint such as http://localhost:4566 instead of a data directory."`
	AWS      bool   `name:"aws" help:"Use AWS, with the usual configuration of its SDKs."`
	Account  string `default:"000000000000" help:"Account to read in a data directory. Default 000000000000."`
	Region   string `default:"us-east-1" help:"Region to read in a data directory. Default us-east-1."`
}

// Check returns an error if flags are given that exclude each other.
func (w *Where) Check() error {
	if w.AWS && w.Endpoint != "" {
		return exit.With(exit.Usage, errors.New("--aws and --endpoint exclude each other"))
	}
	return nil
}

// Remote reports whether the flags select AWS or an endpoint instead of a data directory.
func (w *Where) Remote() bool { return w.AWS || w.Endpoint != "" }

// Scope returns the account and region whose data is read in a data directory.
func (w *Where) Scope() aws.Scope { return aws.Scope{Account: w.Account, Region: w.Region} }

// awsEvery is the interval at which AWS is polled.
const awsEvery = 2 * time.Second

// Use calls do with a client of the Step Functions that the flags select. If acts is true and the flags select a data
// directory, a process must be serving it.
func (w *Where) Use(ctx context.Context, acts bool, do func(*executions.Client) error) (err error) {
	if err := w.Check(); err != nil {
		return err
	}
	cfg, every, err := w.Config(ctx)
	if err != nil {
		return err
	}
	if cfg == nil { // no process serves the directory
		if acts {
			return fmt.Errorf("no process serves %s: start stepback serve --data %s, or name one with --endpoint or --aws",
				terminal.ShortPath(w.Data), terminal.Quoted(terminal.ShortPath(w.Data)))
		}
		r, err := local.Read(ctx, w.Data, w.Scope())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		cfg = w.Signed(loopback.URL)
		cfg.HTTPClient = loopback.Client(r.StepFunctions.Handler())
		return UseConfig(ctx, *cfg, every, do)
	}
	return UseConfig(ctx, *cfg, every, do)
}

// UseConfig calls do with a client of the Step Functions at an endpoint or in an account. Histories are followed by
// polling at the interval every; 0 means half a second.
func UseConfig(ctx context.Context, cfg awssdk.Config, every time.Duration, do func(*executions.Client) error) error {
	states, err := client.NewNamed(ctx, cfg, "sfn")
	if err != nil {
		return err
	}
	c := &executions.Client{States: states, Every: every}
	given := cfg.BaseEndpoint != nil
	if given && *cfg.BaseEndpoint == loopback.URL { // it serves Step Functions only
		return do(c)
	}
	if c.Lambda, err = client.NewNamed(ctx, cfg, "lambda"); err != nil {
		return err
	}
	if given {
		c.Index = &executions.Index{Endpoint: *cfg.BaseEndpoint}
	}
	return do(c)
}

// Config returns the configuration of the selected endpoint, and the interval at which to poll it. The
// configuration is nil for a data directory that no process serves.
func (w *Where) Config(ctx context.Context) (*awssdk.Config, time.Duration, error) {
	if w.Remote() {
		cfg, err := AWSConfig(ctx, w.Endpoint)
		if w.AWS {
			return &cfg, awsEvery, err
		}
		return &cfg, 0, err
	}
	server, err := local.Running(ctx, w.Data)
	if server == nil || err != nil {
		return nil, 0, err
	}
	return w.Signed(server.Endpoint), 0, nil
}

// Signed returns the configuration for an endpoint on this machine. Its access key names the account, which the
// endpoint takes from there.
func (w *Where) Signed(endpoint string) *awssdk.Config {
	return &awssdk.Config{
		Region: w.Region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(w.Account, "local", ""),
	}
}

// Flags returns the flags that make a pasted command find the same execution.
func (w *Where) Flags() string {
	switch {
	case w.AWS:
		return " --aws"
	case w.Endpoint != "":
		return " --endpoint " + terminal.Quoted(w.Endpoint)
	case terminal.ShortPath(w.Data) != DefaultData:
		return " --data " + terminal.Quoted(terminal.ShortPath(w.Data))
	default:
		return ""
	}
}
