package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stepback/aws/objects"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/local"
	"stepback/retrymetrics"
	"stepback/statemachine"
)

// Resumed returns the executions that Open resumed. Their process had died before they ended.
func (p *Pipeline) Resumed() []local.Resumed { return p.resumed }

func (p *Pipeline) resume(x local.Resumed) { p.resumed = append(p.resumed, x) }

// counted returns the retries of an execution that has just ended. It uses the counts made while the execution ran
// or, if several executions may have been running, counts again from the execution's histories.
func (p *Pipeline) counted(ctx context.Context, x *journal.Execution) (*retrymetrics.Counter, error) {
	if p.own && len(p.resumed) == 0 {
		return &p.retries, nil
	}
	return p.recount(ctx, x)
}

// finishResumed waits for the resumed executions.
func (p *Pipeline) finishResumed(ctx context.Context) error {
	for _, x := range p.resumed {
		if _, err := p.wait(ctx, x.ARN, nil); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes the objects that ended executions needed only while they ran.
func (p *Pipeline) tidy(ctx context.Context) error {
	prefix := statemachine.WorkPrefix("")
	in := objects.List{Bucket: resultBucket, Prefix: prefix}
	for {
		page, err := p.client.List(ctx, in)
		if err != nil {
			return fmt.Errorf("listing %s of the bucket %s: %w", prefix, resultBucket, err)
		}
		for _, o := range page.Objects {
			if err := p.tidyObject(ctx, o.Key); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		in.Token = page.Next
	}
}

// redrivable is the time during which a stopped or timed-out execution can be redriven, as on AWS. Its work objects
// are needed for so long.
const redrivable = 14 * 24 * time.Hour

// tidyObject removes a work object of an execution, if the execution has ended and does not need it any more.
func (p *Pipeline) tidyObject(ctx context.Context, key string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(key, statemachine.WorkPrefix("")), "/")
	x, err := p.engine.DescribeExecution(ctx, p.machine.executionARN(name))
	if err != nil || !x.Ended() {
		return nil //nolint:nilerr // an object that no execution is known for is somebody else's
	}
	// any other execution has read the object to its end
	cut := x.Status == history.Aborted || x.Status == history.TimedOut
	if cut && p.clock.Now().Sub(x.Stop) < redrivable {
		return nil
	}
	return p.client.Delete(ctx, resultBucket, key)
}
