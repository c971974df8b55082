// Command announce replaces S3's and EventBridge's event delivery for one object, at an endpoint that delivers no
// events. It passes the object's "Object Created" event to the function that starts imports. If that function
// cannot run, as on moto_server without Docker, the command runs the function's handler itself and says so.
//
//	announce -bucket B -key K -etag E -size N -function csv-import-local-start -state-machine ARN \
//		-files-state-machine ARN
//
// -files-state-machine is for manifests of many files; without it, the handler refuses them.
//
// It prints the name of the execution, and "function" or "here" for where it was started. The endpoint and its
// credentials come from the AWS SDK's own variables.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"stepback/aws"
	"stepback/csvimport/handlers"
	"stepback/csvimport/sfnexecutions"
	"stepback/internal/objectevent"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "announce:", err)
		os.Exit(1)
	}
}

// run announces the object that the arguments name.
func run(ctx context.Context, args []string, out, notes io.Writer) error {
	e := objectevent.Event{
		Version: "0", ID: "00000000-0000-0000-0000-000000000000", DetailType: objectevent.DetailType,
		Source:  objectevent.Source,
		Account: "000000000000", Time: time.Now().UTC().Truncate(time.Second),
		Detail: objectevent.Detail{Version: "0", Reason: objectevent.PutObject},
	}
	var function, machine, files string
	flags := flag.NewFlagSet("announce", flag.ContinueOnError)
	flags.SetOutput(notes)
	flags.StringVar(&e.Detail.Bucket.Name, "bucket", "", "the object's bucket")
	flags.StringVar(&e.Detail.Object.Key, "key", "", "the object's key")
	flags.StringVar(&e.Detail.Object.ETag, "etag", "", "the object's ETag, without quotes")
	flags.Int64Var(&e.Detail.Object.Size, "size", 0, "the object's size in bytes")
	flags.StringVar(&function, "function", "", "the function that starts imports")
	flags.StringVar(&machine, "state-machine", "",
		"the ARN of the state machine, for an endpoint that does not run functions")
	flags.StringVar(&files, "files-state-machine", "", "the ARN of the state machine that imports many files as one, likewise")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	e.Region, e.Resources = cfg.Region, []string{aws.Scope{Region: cfg.Region}.BucketARN(e.Detail.Bucket.Name)}
	by := "function"
	started, err := invoke(ctx, lambda.NewFromConfig(cfg), function, e)
	if err != nil {
		fmt.Fprintf(notes, "%v; running its handler in this process\n", err)
		by = "here"
		executions, err := sfnexecutions.FromEnvironment(ctx, machine)
		if err != nil {
			return err
		}
		var manyFiles handlers.Executions
		if files != "" {
			if manyFiles, err = sfnexecutions.FromEnvironment(ctx, files); err != nil {
				return err
			}
		}
		if started, err = apply(ctx, executions, manyFiles, e); err != nil {
			return err
		}
	}
	if started.Repeated {
		fmt.Fprintln(notes, "this version of the file was already imported; no execution was started")
	}
	_, err = fmt.Fprintln(out, started.Execution, by)
	return err
}

// apply runs the function's handler in this process.
func apply(ctx context.Context, executions, manyFiles handlers.Executions, e objectevent.Event) (handlers.Started, error) {
	event, err := json.Marshal(e)
	if err != nil {
		return handlers.Started{}, err
	}
	return handlers.Start(executions, manyFiles, nil)(ctx, event)
}
