package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/objectevent"
	"stepback/retrymetrics"
	"stepback/services/s3"
	"stepback/services/sns"
)

// Pipeline is an open data directory with everything running on it. Close ends it.
type Pipeline struct {
	cfg     Config
	clock   *clock.Clock
	journal *pebble.Journal
	objects *s3.Server
	client  *awss3.Client
	topics  *sns.Topics
	topic   string // its ARN
	compute *functions
	engine  *engine.Engine
	machine *engine.StateMachine
	retries retrymetrics.Counter
	metrics retrymetrics.Collector
	closers []func() error // in the order of opening
	resumed []engine.Resumed

	mu     sync.Mutex
	starts map[string]start // by object key and ETag
}

// start is what became of an Object Created event.
type start struct {
	name, arn string
	repeated  bool
	err       error
}

// Open opens or creates a data directory and starts everything.
func Open(ctx context.Context, cfg Config) (_ *Pipeline, err error) {
	if err := cfg.defaults(); err != nil {
		return nil, err
	}
	p := &Pipeline{cfg: cfg, starts: map[string]start{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	for _, step := range []func(context.Context) error{
		p.openDirectory, p.openMetrics, p.openClock, p.openJournal, p.openTopics, p.openObjects, p.openFunctions,
		p.openEngine, p.tidy,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Pipeline) onClose(f func() error) { p.closers = append(p.closers, f) }

// Close ends everything in the reverse order of opening and waits for it. Executions that are still running stay as the
// journal has them: the next Open goes on with them.
func (p *Pipeline) Close() error {
	var errs []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		errs = append(errs, p.closers[i]())
	}
	p.closers = nil
	return errors.Join(errs...)
}

func (p *Pipeline) openDirectory(context.Context) error {
	if err := os.MkdirAll(p.cfg.Dir, 0o750); err != nil {
		return fmt.Errorf("data directory: %w", err)
	}
	return nil
}

func (p *Pipeline) openClock(context.Context) error {
	p.clock = clock.Real()
	if p.cfg.VirtualTime {
		p.clock.Close()
		p.clock = clock.Virtual(time.Now())
	}
	p.onClose(func() error { p.clock.Close(); return nil })
	return nil
}

func (p *Pipeline) openJournal(context.Context) error {
	j, err := pebble.Open(filepath.Join(p.cfg.Dir, "journal"), pebble.Options{DiskFull: p.cfg.DiskFull})
	if err != nil {
		return err
	}
	p.journal = j
	p.onClose(j.Close)
	return nil
}

func (p *Pipeline) openTopics(context.Context) error {
	topics, err := sns.Open(p.cfg.Dir, sns.Options{Region: region, Account: account, Now: p.clock.Now})
	if err != nil {
		return err
	}
	p.topics = topics
	p.onClose(topics.Close)
	p.topic, err = topics.CreateTopic(topicName)
	return err
}

func (p *Pipeline) openObjects(ctx context.Context) error {
	server, err := s3.Open(filepath.Join(p.cfg.Dir, "objects"), s3.Options{Region: region, Account: account,
		ObjectCreated: p.objectCreated})
	if err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	p.objects = server
	p.onClose(server.Close)
	p.client = server.Client(ctx)
	return errors.Join(server.CreateBucket(inputBucket), server.CreateBucket(resultBucket))
}

func (p *Pipeline) openFunctions(ctx context.Context) error {
	f, err := openFunctions(ctx, &p.cfg, p.objects.Endpoint(), p.clock)
	if err != nil {
		return err
	}
	p.compute = f
	p.onClose(f.close)
	return nil
}

func (p *Pipeline) observe(x *journal.Execution, events []history.Event) {
	p.retries.Add(events)
	p.metrics.Add(x.ARN, events)
}

// objectCreated starts the execution of a file that has arrived. A repeated event starts nothing.
func (p *Pipeline) objectCreated(event objectevent.Event) {
	if event.Detail.Bucket.Name != inputBucket || p.engine == nil {
		return
	}
	s := p.begin(context.Background(), event.ExecutionName(), event.ExecutionInput())
	p.mu.Lock()
	p.starts[startKey(event.Detail.Object.Key, event.Detail.Object.ETag)] = s
	p.mu.Unlock()
}

func startKey(key, etag string) string { return etag + "/" + key }
