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

// Resumed returns the executions that Open found unfinished, because their process had died, and goes on with.
func (p *Pipeline) Resumed() []local.Resumed { return p.resumed }

func (p *Pipeline) resume(x local.Resumed) { p.resumed = append(p.resumed, x) }

// counted returns the retries of an execution that has just ended: those that were observed, or, when several
// executions may have been under way, those that its histories tell of.
func (p *Pipeline) counted(ctx context.Context, x *journal.Execution) (*retrymetrics.Counter, error) {
	if p.own && len(p.resumed) == 0 {
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

// redrivable is how long an execution that was stopped or ran out of time can be redriven and needs its work, as on
// AWS.
const redrivable = 14 * 24 * time.Hour

// tidyObject removes an object that an execution worked with, if the execution has ended and can do without.
func (p *Pipeline) tidyObject(ctx context.Context, key string) error {
	name, _, _ := strings.Cut(strings.TrimPrefix(key, statemachine.WorkPrefix("")), "/")
	x, err := p.engine.DescribeExecution(ctx, p.machine.executionARN(name))
	if err != nil || !x.Ended() {
		return nil //nolint:nilerr // an object that no execution is known for is somebody else's
	}
	cut := x.Status == history.Aborted || x.Status == history.TimedOut // any other has read the object to its end
	if cut && p.clock.Now().Sub(x.Stop) < redrivable {
		return nil
	}
	return p.client.Delete(ctx, resultBucket, key)
}
