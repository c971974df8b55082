package main

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
	"stepback/local"
)

// where holds the flags that select the data directory, endpoint or account whose executions a verb works on.
type where struct {
	Data     string `type:"path" default:".stepback" placeholder:"DIR" help:"Data directory; it need not be served. Default .stepback."`
	Endpoint string `placeholder:"URL" help:"Use an endpoint such as http://localhost:4566 instead of a data directory."`
	AWS      bool   `name:"aws" help:"Use AWS, with the usual configuration of its SDKs."`
	Account  string `default:"000000000000" help:"Account to read in a data directory. Default 000000000000."`
	Region   string `default:"us-east-1" help:"Region to read in a data directory. Default us-east-1."`
}

// check refuses flags that exclude each other.
func (w *where) check() error {
	if w.AWS && w.Endpoint != "" {
		return &exitError{exitUsage, errors.New("--aws and --endpoint exclude each other")}
	}
	return nil
}

// remote reports whether the flags select AWS or an endpoint instead of a data directory.
func (w *where) remote() bool { return w.AWS || w.Endpoint != "" }

func (w *where) scope() aws.Scope { return aws.Scope{Account: w.Account, Region: w.Region} }

// awsEvery is the interval at which AWS is polled.
const awsEvery = 2 * time.Second

// use calls do with a client of the Step Functions that the flags select. If acts is true and the flags select a data
// directory, a process must be serving it.
func (w *where) use(ctx context.Context, acts bool, do func(*executions.Client) error) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	cfg, every, err := w.config(ctx)
	if err != nil {
		return err
	}
	if cfg == nil { // no process serves the directory
		if acts {
			return fmt.Errorf("no process serves %s: start stepback serve --data %s, or name one with --endpoint or --aws",
				shortPath(w.Data), quoted(shortPath(w.Data)))
		}
		r, err := local.Read(ctx, w.Data, w.scope())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		cfg = w.signed(loopback.URL)
		cfg.HTTPClient = loopback.Client(r.StepFunctions.Handler())
		return useConfig(ctx, *cfg, every, do)
	}
	return useConfig(ctx, *cfg, every, do)
}

func useConfig(ctx context.Context, cfg awssdk.Config, every time.Duration, do func(*executions.Client) error) error {
	states, err := client.NewNamed(ctx, cfg, "sfn")
	if err != nil {
		return err
	}
	c := &executions.Client{States: states, Every: every}
	if cfg.BaseEndpoint != nil && *cfg.BaseEndpoint != loopback.URL {
		c.Index = &executions.Index{Endpoint: *cfg.BaseEndpoint}
	}
	return do(c)
}

// config returns the configuration for the selected endpoint and its poll interval; it is nil for a data directory
// that no process serves.
func (w *where) config(ctx context.Context) (*awssdk.Config, time.Duration, error) {
	if w.remote() {
		cfg, err := awsConfig(ctx, w.Endpoint)
		if w.AWS {
			return &cfg, awsEvery, err
		}
		return &cfg, 0, err
	}
	server, err := local.Running(ctx, w.Data)
	if server == nil || err != nil {
		return nil, 0, err
	}
	return w.signed(server.Endpoint), 0, nil
}

// signed returns the configuration for an endpoint on this machine, which takes the account from the access key.
func (w *where) signed(endpoint string) *awssdk.Config {
	return &awssdk.Config{
		Region: w.Region, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(w.Account, "local", ""),
	}
}
