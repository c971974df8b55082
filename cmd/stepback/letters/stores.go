package letters

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/google/uuid"

	"stepback/aws/client"
	"stepback/aws/objects"
	"stepback/cmd/stepback/buildinfo"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/cmd/stepback/workspace"
	"stepback/csvimport/pipeline"
	"stepback/local"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/queues"
	"stepback/outbox/deadletters/startevents"
)

// letterPlaces describes where letters can be, for the help of the verbs.
const letterPlaces = `Flags name the sources of letters: an outbox (--db), a data directory on this machine (--data: rows of imports, events that
started no import, failed Map items), or AWS (--import-results: rows; --events-queue: events; --machine: Map items; --queue: an
SQS dead-letter queue), at AWS or at an --endpoint. --endpoint alone, or --data of a directory that stepback serve has open, shows all
kinds of letters of that server. The default source is the data directory .stepback.`

// letterStore holds the flags that say which stores of letters to use, and who acts on the letters.
type letterStore struct {
	DB   string `group:"Sources" name:"db" env:"DATABASE_URL" placeholder:"URL" help:"Database with an outbox: sqlite:/path/file.db or postgres://…"`
	Data string `group:"Sources" type:"path" placeholder:"DIR" help:"Data directory. Default .stepback, if no other source is named."`

	Results     string   `group:"Sources" name:"import-results" placeholder:"s3://BUCKET" help:"Bucket with an import's results, for the rows that were not applied."`
	Import      string   `group:"Sources" name:"import-machine" placeholder:"ARN" help:"State machine of the import, to which rows and events are redriven."`
	Files       string   `group:"Sources" name:"files-machine" placeholder:"ARN" help:"State machine that imports the files of a manifest as one, to which events of manifests are redriven."`
	EventsQueue string   `group:"Sources" placeholder:"URL|ARN" help:"Queue of the events for which no import could be started (needs --import-machine)."`
	Machine     []string `group:"Sources" placeholder:"ARN" help:"State machine whose Map Runs have failed items (repeatable)."`
	Queue       []string `group:"Sources" placeholder:"URL|ARN" help:"Dead-letter queue of SQS (repeatable)."`
	QueueTarget string   `group:"Sources" placeholder:"URL" help:"Queue to redrive the messages of --queue to, instead of the one they came from."`
	Record      string   `group:"Sources" placeholder:"s3://BUCKET/PREFIX/" help:"Where to store the log of redrives, edits and discards of items and messages. Default: dead-letters/ in the bucket of --import-results, where rows always have it."`
	Endpoint    string   `group:"Sources" placeholder:"URL" help:"Endpoint to use instead of AWS, such as http://127.0.0.1:4566."`

	alone bool // no other process serves the data directory

	Who string `name:"by" placeholder:"NAME" help:"Your name, for the log. Default: your user name on this machine."`
}

// enter opens the stores of letters for an operator; leave closes them.
func (r *letterStore) enter(ctx context.Context, std terminal.Streams) (_ *deadletters.Operator, leave func() error, err error) {
	var letterStores deadletters.Stores
	var closers []func() error
	closeAll := func() error {
		var errs []error
		for i := len(closers) - 1; i >= 0; i-- {
			errs = append(errs, closers[i]())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	if r.DB != "" {
		store, err := workspace.OpenOutbox(ctx, r.DB)
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, store.Close)
		letterStores = append(letterStores, deadletters.Part{Kind: deadletters.KindOutbox, Store: store, Owns: isUUID})
	}
	named := r.Results != "" || r.EventsQueue != "" || len(r.Machine) > 0 || len(r.Queue) > 0
	if r.Data != "" || !named && r.DB == "" && r.Endpoint == "" {
		own, leaveData, err := r.dataDirectory(ctx, std)
		if err != nil {
			return nil, nil, err
		}
		closers = append(closers, leaveData)
		letterStores = append(letterStores, own...)
	}
	if named || r.Endpoint != "" {
		own, err := r.remote(ctx, named)
		if err != nil {
			return nil, nil, err
		}
		letterStores = append(letterStores, own...)
	}
	return &deadletters.Operator{Store: letterStores, Who: cmp.Or(r.Who, workspace.Operator())}, closeAll, nil
}

func isUUID(id string) bool { return uuid.Validate(id) == nil }

// dataDirectory returns the letter stores of a data directory. If a process serves the directory, they are accessed
// through that process, otherwise in this one.
func (r *letterStore) dataDirectory(ctx context.Context, std terminal.Streams) (deadletters.Stores, func() error, error) {
	dir := r.Data
	if dir == "" {
		dir = ".stepback"
	}
	if !terminal.Exists(dir) {
		return nil, nil, exit.With(exit.Usage, fmt.Errorf(
			"there is no data directory %s: name one with --data, or another source of letters; see --help", dir))
	}
	leave := func() error { return nil }
	server, err := local.Running(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	endpoint := ""
	if server != nil {
		endpoint = server.Endpoint
	} else {
		p, err := r.openDirectory(ctx, dir, std)
		if err != nil {
			return nil, nil, workspace.InUse(err)
		}
		endpoint, leave, r.alone = p.Endpoint, p.Close, true
	}
	letterStores, err := pipeline.Letters(ctx, aws.Config{Region: local.DefaultRegion, BaseEndpoint: &endpoint,
		RetryMaxAttempts: 1,
		Credentials:      credentials.NewStaticCredentialsProvider(local.DefaultAccount, "local", "")})
	if err != nil {
		return nil, nil, errors.Join(err, leave())
	}
	return letterStores, leave, nil
}

// openDirectory opens a data directory that no process has open.
func (r *letterStore) openDirectory(ctx context.Context, dir string, std terminal.Streams) (*local.Platform, error) {
	p, err := local.Open(ctx, local.Config{Dir: dir, Getenv: os.Getenv, Version: buildinfo.Version(),
		BuiltIn: pipeline.Functions(dir, nil, nil), Resumed: workspace.Resuming(std),
		Control: new(workspace.Errands).Serve})
	if err == nil {
		pipeline.Listen(p) //nolint:contextcheck // what listens lives as long as the platform
	}
	return p, err
}

// remote returns the letter stores on AWS or at the endpoint: those that the flags name, or all of the endpoint.
func (r *letterStore) remote(ctx context.Context, named bool) (deadletters.Stores, error) {
	settings, err := workspace.AWSConfig(ctx, r.Endpoint)
	if err != nil {
		return nil, err
	}
	for _, arn := range append([]string{r.Import}, r.Machine...) {
		if parts := strings.SplitN(arn, ":", 5); len(parts) > 3 && parts[3] != "" {
			settings.Region = parts[3]
			break
		}
	}
	if !named {
		return pipeline.Letters(ctx, settings)
	}
	store, err := client.NewNamed(ctx, settings, "s3")
	if err != nil {
		return nil, err
	}
	messages, err := client.NewNamed(ctx, settings, "sqs")
	if err != nil {
		return nil, err
	}
	c := pipeline.StoresConfig{
		Objects: objects.New(store.Client(), store.Retryer()), States: sfn.NewFromConfig(settings),
		Machine: r.Import, FilesMachine: r.Files, Machines: r.Machine}
	if c.Results, _, err = bucketOf("--import-results", r.Results); err != nil {
		return nil, err
	}
	if c.Record, c.Prefix, err = bucketOf("--record", r.Record); err != nil {
		return nil, err
	}
	switch {
	case c.Results != "" || c.Record != "":
	case r.Endpoint != "":
		c.Keep = pipeline.ServerRecord(store)
	default:
		return nil, exit.With(exit.Usage, errors.New(
			"name a place for the log with --record s3://BUCKET/PREFIX/: without it, two people could redrive the same letter twice"))
	}
	if r.EventsQueue != "" {
		if r.Import == "" {
			return nil, exit.With(exit.Usage, errors.New("--events-queue needs --import-machine, the state machine that the events start"))
		}
		q, err := queues.Open(ctx, messages, r.EventsQueue)
		if err != nil {
			return nil, err
		}
		c.Inbox = &startevents.Queue{Messages: q}
	}
	letterStores := pipeline.LetterStores(c)
	for _, address := range r.Queue {
		q, err := queues.Open(ctx, messages, address)
		if err != nil {
			return nil, usage(err)
		}
		q.Target = r.QueueTarget
		letterStores = append(letterStores, pipeline.Part(q, c.Documents()))
	}
	return letterStores, nil
}

// bucketOf parses an address of the form s3://bucket/prefix/.
func bucketOf(flag, address string) (bucket, prefix string, err error) {
	if address == "" {
		return "", "", nil
	}
	rest, ok := strings.CutPrefix(address, "s3://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", exit.With(exit.Usage, fmt.Errorf("%s %s: write s3://BUCKET or s3://BUCKET/PREFIX/", flag, address))
	}
	if prefix != "" && !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return bucket, prefix, nil
}
