package pipeline

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/smithy-go"

	"stepback/aws/client"
	"stepback/aws/objects"
	"stepback/csvimport/importrows"
	"stepback/csvimport/s3objects"
	"stepback/engine/history"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/mapitems"
	"stepback/outbox/deadletters/s3documents"
	"stepback/outbox/deadletters/startevents"
)

// Letters returns the sources of dead letters at a server: rows of imports and events for which no import could be
// started, if the bucket of the import's results exists; failed Map items of all state machines; and the messages in
// the dead-letter queues of SQS. The Map items of the import's own state machine are left out, because their rows are
// already letters. settings has the server's endpoint.
func Letters(ctx context.Context, settings aws.Config) (deadletters.Stores, error) {
	buckets, err := client.NewNamed(ctx, settings, "s3")
	if err != nil {
		return nil, err
	}
	messages, err := client.NewNamed(ctx, settings, "sqs")
	if err != nil {
		return nil, err
	}
	store := objects.New(buckets.Client(), buckets.Retryer())
	imports, err := hasBucket(ctx, store, resultBucket)
	if err != nil {
		return nil, err
	}
	c := StoresConfig{Objects: store, States: sfn.NewFromConfig(settings), Machine: importMachine(), AllMachines: true,
		Keep: ServerRecord(buckets)}
	if imports {
		c.Results, c.Inbox = resultBucket, &startevents.Bucket{Store: store, Name: resultBucket}
	}
	letterStores := LetterStores(c)
	dead, err := deadLetterQueues(ctx, messages)
	if err != nil {
		return nil, err
	}
	for _, arn := range dead {
		q, err := openQueue(ctx, messages, arn)
		if err != nil {
			return nil, err
		}
		if q != nil {
			letterStores = append(letterStores, Part(q, c.Documents()))
		}
	}
	return letterStores, nil
}

// ServerRecord returns the record of acts on dead letters that a server's console uses, too. Its bucket is created when
// the first act is recorded.
//
//nolint:contextcheck,nolintlint // see below
func ServerRecord(buckets *client.Named) deadletters.Documents {
	return &record{
		&s3documents.Documents{Store: objects.New(buckets.Client(), buckets.Retryer()), Bucket: resultBucket,
			Prefix: importrows.RecordPrefix},
		func() error {
			// Its bucket is needed once an operator's act has begun, which a cut connection does not undo.
			err := buckets.Call(context.Background(), "CreateBucket", map[string]any{"Bucket": resultBucket}, nil)
			if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "BucketAlreadyOwnedByYou" {
				return nil
			}
			return err
		}}
}

// importMachine returns the ARN of the import's state machine on a platform.
func importMachine() string {
	return "arn:aws:states:" + region + ":" + account + ":stateMachine:" + machineName
}

// StoresConfig describes where the dead letters of a deployed import are.
type StoresConfig struct {
	Objects objects.Store
	States  *sfn.Client
	Results string // the bucket of results; without it there are no rows, and Record is required
	Record  string // the bucket of the record of acts on items and messages; empty means Results
	Prefix  string // prefix of the record; empty means dead-letters/
	Machine string // ARN of the import's state machine, or of its alias; without it there are no events
	// FilesMachine is the ARN of the state machine that imports the files of a manifest as one, or of its alias.
	// Without it, events of manifests are refused.
	FilesMachine string
	Inbox        startevents.Inbox // nil means no events
	Machines     []string          // ARNs of other state machines, whose failed Map items are letters
	AllMachines  bool              // all state machines except the import's
	// Executions iterates over the executions with failed items; see mapitems.Items.
	Executions func(ctx context.Context, visit func(arn string) error) error
	Keep       deadletters.Documents // store of the record; nil means Record and Prefix
}

// Documents returns the store of the record.
func (c *StoresConfig) Documents() deadletters.Documents {
	if c.Keep != nil {
		return c.Keep
	}
	d := &s3documents.Documents{Store: c.Objects, Bucket: c.Record, Prefix: c.Prefix}
	if d.Bucket == "" {
		d.Bucket = c.Results
	}
	if d.Prefix == "" {
		d.Prefix = importrows.RecordPrefix
	}
	return d
}

// LetterStores returns the sources of dead letters.
func LetterStores(c StoresConfig) deadletters.Stores {
	var letterStores deadletters.Stores
	if c.Results != "" {
		rows := &importrows.Rows{Objects: s3objects.New(c.Objects), Bucket: c.Results}
		if c.Machine != "" {
			rows.ARN = func(name string) string {
				return history.ExecutionARN(c.Machine, name)
			}
			rows.Executions = importrows.StatesExecutions{Client: c.States, ARN: rows.ARN}
		}
		// Imports claim the letters of corrections files in this record, so it is always the one of operators, too.
		letterStores = append(letterStores, Part(rows, &s3documents.Documents{Store: c.Objects, Bucket: c.Results,
			Prefix: importrows.RecordPrefix}))
	}
	if c.Inbox != nil {
		letterStores = append(letterStores, Part(
			&startevents.Events{Inbox: c.Inbox, Client: c.States, Machine: c.Machine, FilesMachine: c.FilesMachine},
			c.Documents()))
	}
	if len(c.Machines) > 0 || c.AllMachines {
		letterStores = append(letterStores, Part(
			&mapitems.Items{Client: c.States, Machines: c.Machines, Except: []string{history.Unqualified(c.Machine)},
				Executions: c.Executions}, c.Documents()))
	}
	return letterStores
}

// Part returns a source as a part of them.
func Part(s deadletters.Source, d deadletters.Documents) deadletters.Part {
	return deadletters.Part{Kind: s.Kind(), Owns: s.Owns, Store: &deadletters.SourceStore{Source: s, Documents: d}}
}
