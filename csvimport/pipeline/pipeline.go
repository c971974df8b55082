package pipeline

import (
	"context"
	"errors"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"stepback/aws/objects"
	"stepback/csvimport"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/objectevent"
	"stepback/local"
	"stepback/outbox/deadletters/startevents"
	"stepback/retry"
	"stepback/retrymetrics"
)

// Pipeline is the CSV import, deployed to a platform.
type Pipeline struct {
	cfg      Config
	platform *local.Platform
	own      bool // the platform is closed with the pipeline and runs nothing else
	journal  journal.Journal
	engine   *engine.Engine
	clock    *clock.Clock
	client   *objects.Client
	states   *sfn.Client
	topic    string // its ARN
	machine  machine
	retries  retrymetrics.Counter
	failures failures
	rows     rowProgress
	resumed  []local.Resumed
	release  func() // lets other imports run

	mu     sync.Mutex
	starts map[string]start // by object key and ETag
}

// start is the result of handling an Object Created event: the execution it started, or an error.
type start struct {
	name, arn string
	repeated  bool
	err       error
}

// Open opens or creates a data directory with its own platform, deploys the import to it, and resumes the imports
// that an earlier process left running. The error is a *local.InUseError if another process has the directory open.
func Open(ctx context.Context, cfg Config) (*Pipeline, error) {
	if err := cfg.defaults(); err != nil {
		return nil, err
	}
	if err := reachable(ctx, cfg.Database); err != nil {
		return nil, err
	}
	p := &Pipeline{cfg: cfg, own: true, starts: map[string]start{}}
	settings := cfg.platform()
	settings.Counts = append(settings.Counts, &p.retries)
	settings.Follow, settings.Resumed = p.follow, p.resume
	platform, err := local.Open(ctx, settings)
	if err != nil {
		return nil, err
	}
	p.platform = platform
	if err := p.deploy(ctx, platform); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// follow counts the events of a step, for the progress of a run.
func (p *Pipeline) follow(x *journal.Execution, events []history.Event) {
	p.failures.follow(x, events)
	p.rows.follow(x, events)
}

// On deploys the import to a platform that also runs other things, and whose Config.BuiltIn contains Functions. The
// platform determines the faults, the kind of time and the log. On waits until no other import is running there.
// Close leaves the platform open.
func On(ctx context.Context, platform *local.Platform, cfg Config) (*Pipeline, error) {
	cfg.Dir = platform.Dir
	if err := cfg.defaults(); err != nil {
		return nil, err
	}
	if err := reachable(ctx, cfg.Database); err != nil {
		return nil, err
	}
	p := &Pipeline{cfg: cfg, starts: map[string]start{}}
	if err := p.deploy(ctx, platform); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Listen makes a platform start an import for every file put into the input bucket, if the import was deployed to
// its data directory before. These imports run unattended: Listen does not wait for them, and no report is made.
func Listen(platform *local.Platform) {
	p := &Pipeline{starts: map[string]start{}}
	p.connect(platform)
	platform.OnObjectCreated(inputBucket, func(e objectevent.Event) {
		_, err := p.states.DescribeStateMachine(context.Background(),
			&sfn.DescribeStateMachineInput{StateMachineArn: &p.machine.arn})
		if err == nil {
			p.announced(e)
		}
	})
}

// Platform returns the platform that the import is deployed to.
func (p *Pipeline) Platform() *local.Platform { return p.platform }

// StateMachineARN returns the ARN of the import's state machine.
func (p *Pipeline) StateMachineARN() string { return p.machine.arn }

// Close closes the pipeline, and the platform if it belongs to the pipeline. Executions that are still running stay
// in the journal: the next Open resumes them.
func (p *Pipeline) Close() error {
	p.Release()
	if !p.own || p.platform == nil {
		return nil
	}
	return p.platform.Close()
}

// Release lets other imports run on the platform. Close does so, too.
func (p *Pipeline) Release() {
	if p.release != nil {
		p.release()
	}
}

// objectCreated starts the execution of a file that has arrived. A repeated event starts nothing.
func (p *Pipeline) objectCreated(event objectevent.Event) {
	s := p.announced(event)
	p.mu.Lock()
	p.starts[startKey(event.Detail.Object.Key, event.Detail.Object.ETag)] = s
	p.mu.Unlock()
}

// announced starts the execution for an event. If that fails, it stores the event for an operator: see
// outbox/deadletters/startevents.
func (p *Pipeline) announced(event objectevent.Event) start {
	ctx := context.Background()
	s := p.started(ctx, event)
	if s.err == nil {
		return s
	}
	f := csvimport.AsFailure(s.err)
	err := p.undelivered().Keep(ctx, startevents.Undelivered{Event: event, Error: f.Name, Cause: f.Message, Attempts: 1,
		At: p.clock.Now()})
	s.err = errors.Join(s.err, err)
	return s
}

// started starts the execution for an event. The event of a manifest is refused: its lines are not rows of a file.
func (p *Pipeline) started(ctx context.Context, event objectevent.Event) start {
	if event.OfManifest() {
		return start{err: csvimport.Fail(retry.InvalidInput,
			"%s is a manifest, and the import on this machine takes none from its bucket: import its files with stepback run --files",
			event.Detail.Object.Key)}
	}
	name := event.ExecutionName()
	if earlier := event.EarlierExecutionName(); p.has(ctx, earlier, event.ExecutionInput()) {
		name = earlier
	}
	return p.begin(ctx, name, event.ExecutionInput())
}

// undelivered returns the store of events for which no execution could be started.
func (p *Pipeline) undelivered() *startevents.Bucket {
	return &startevents.Bucket{Store: p.client, Name: resultBucket}
}

func startKey(key, etag string) string { return etag + "/" + key }
