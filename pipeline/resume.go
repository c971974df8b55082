package pipeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/engine"
	"stepback/engine/journal"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// Resumed returns the executions that Open found unfinished, because their process had died, and goes on with.
func (p *Pipeline) Resumed() []engine.Resumed { return p.resumed }

// recovered takes note of the executions that go on. Their child executions that have ended were counted by a process
// that did not live to publish its metrics.
func (p *Pipeline) recovered(ctx context.Context, found *engine.Recovered) error {
	p.resumed = found.Executions
	for _, x := range found.Executions {
		for m, err := range p.journal.MapRuns(ctx, x.ARN) {
			if err != nil {
				return err
			}
			if err := p.observeEnded(ctx, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// observeEnded observes the child executions of a Map Run that have ended.
func (p *Pipeline) observeEnded(ctx context.Context, m *journal.MapRun) error {
	for x, err := range p.journal.Executions(ctx, m.Children) {
		if err != nil {
			return err
		}
		if !x.Ended() {
			continue
		}
		events, err := p.journal.History(ctx, x.ARN)
		if err != nil {
			return err
		}
		p.observe(x, events)
	}
	return nil
}

// counted returns the retries of an execution that has just ended: those that were observed, or, when several
// executions may have been under way, those that its histories tell of.
func (p *Pipeline) counted(ctx context.Context, x *journal.Execution) (*retrymetrics.Counter, error) {
	if len(p.resumed) == 0 {
		return &p.retries, nil
	}
	return p.recount(ctx, x)
}

// finishResumed waits for the executions that were gone on with.
func (p *Pipeline) finishResumed(ctx context.Context) error {
	for _, x := range p.resumed {
		if _, err := p.wait(ctx, x.ARN, nil); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes what executions that have ended needed only while they ran.
func (p *Pipeline) tidy(ctx context.Context) error {
	prefix := statemachine.WorkPrefix("")
	list := awss3.NewListObjectsV2Paginator(p.client, &awss3.ListObjectsV2Input{Bucket: aws.String(resultBucket),
		Prefix: aws.String(prefix)})
	for list.HasMorePages() {
		page, err := list.NextPage(ctx)
		if err != nil {
			return fmt.Errorf("listing %s of the bucket %s: %w", prefix, resultBucket, err)
		}
		for _, o := range page.Contents {
			if err := p.tidyObject(ctx, aws.ToString(o.Key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidyObject removes an object that an execution worked with, if the execution has ended.
func (p *Pipeline) tidyObject(ctx context.Context, key string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(key, statemachine.WorkPrefix("")), "/")
	x, err := p.engine.DescribeExecution(ctx, p.machine.ExecutionARN(name))
	if err != nil || !x.Ended() {
		return nil //nolint:nilerr // an object that no execution is known for is somebody else's
	}
	_, err = p.client.DeleteObject(ctx, &awss3.DeleteObjectInput{Bucket: aws.String(resultBucket),
		Key: aws.String(key)})
	return err
}
