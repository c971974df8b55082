package pipeline

import (
	"context"
	"strings"

	"stepback/aws/objects"
	"stepback/engine/journal"
	"stepback/local/services/lambda/functions"
)

// The names of the import's functions, as passed to AdjustFunction.
const (
	ValidateFunction  = validateFunction
	ProcessFunction   = processFunction
	AggregateFunction = aggregateFunction
)

// AdjustFunction lets a test change a function before it is registered.
func (c *Config) AdjustFunction(adjust func(string, *functions.Program)) { c.Adjust = adjust }

// Journal returns the pipeline's journal.
func (p *Pipeline) Journal() journal.Journal { return p.journal }

// Failed returns the number of failed attempts, and the name of the latest failure.
func (p *Pipeline) Failed() (n int64, name string) { return p.failures.failed() }

// Upload puts an object into the input bucket, which starts a separate import.
func (p *Pipeline) Upload(ctx context.Context, key, content string) error {
	return p.client.Put(ctx, objects.Put{
		Bucket: inputBucket, Key: key, Body: strings.NewReader(content), Size: int64(len(content)),
	})
}
