package pipeline

import (
	"context"
	"strings"

	"stepback/aws/objects"
	"stepback/engine/journal"
	"stepback/local/services/lambda/functions"
)

// The functions of the import, as AdjustFunction sees them.
const (
	ValidateFunction  = validateFunction
	ProcessFunction   = processFunction
	AggregateFunction = aggregateFunction
)

// AdjustFunction lets a test change a function before it is registered.
func (c *Config) AdjustFunction(adjust func(string, *functions.Program)) { c.Adjust = adjust }

// Journal is the pipeline's journal.
func (p *Pipeline) Journal() journal.Journal { return p.journal }

// Failed returns how many invocations have failed, and the name of the latest failure.
func (p *Pipeline) Failed() (n int64, name string) { return p.failures.failed() }

// Upload puts an object into the input bucket, which starts an import of its own.
func (p *Pipeline) Upload(ctx context.Context, key, content string) error {
	return p.client.Put(ctx, objects.Put{
		Bucket: inputBucket, Key: key, Body: strings.NewReader(content), Size: int64(len(content)),
	})
}
