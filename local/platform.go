package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/journal"
	"stepback/engine/journal/diskspace"
	"stepback/engine/journal/pebble"
	"stepback/engine/resultwriter"
	"stepback/local/chaos"
	"stepback/local/endpoint"
	"stepback/local/front"
	"stepback/local/services/apigateway"
	"stepback/local/services/cloudcontrol"
	"stepback/local/services/cloudformation"
	"stepback/local/services/cloudwatch"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/dynamodb"
	"stepback/local/services/events"
	"stepback/local/services/iam"
	"stepback/local/services/inventory"
	"stepback/local/services/kms"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/eventsource"
	"stepback/local/services/lambda/functions"
	logsapi "stepback/local/services/logs"
	"stepback/local/services/logs/logstore"
	"stepback/local/services/s3"
	"stepback/local/services/scheduler"
	"stepback/local/services/secretsmanager"
	"stepback/local/services/sns"
	"stepback/local/services/sqs"
	"stepback/local/services/stepfunctions"
	"stepback/local/services/xray"
	"stepback/local/tracing"
	"stepback/tasks/faults"
)

// Platform is an open data directory with everything running on it. It is safe for concurrent use.
type Platform struct {
	// Dir is the data directory. Scope is the account and region of requests that name none. Endpoint is the URL at
	// which everything is served.
	Dir      string
	Scope    aws.Scope
	Endpoint string

	Clock         *clock.Clock
	Journal       journal.Journal
	StepFunctions *stepfunctions.Service
	Functions     *functions.Service // Lambda
	Durable       *durablefunctions.Service
	Objects       *s3.Server         // S3
	Topics        *sns.Service       // SNS
	Queues        *sqs.Service       // SQS
	Logs          *logstore.Store    // CloudWatch Logs
	Events        *events.Service    // EventBridge
	Scheduler     *scheduler.Service // EventBridge Scheduler
	Faults        *faults.Injector   // faults injected into tasks
	Chaos         *chaos.Set         // faults of services, added and lifted at any time
	Tables        *dynamodb.Service  // DynamoDB
	Keys          *kms.Service       // KMS
	CloudWatch    *cloudwatch.Service
	Documents     *documents.Store // data that other services store
	Targets       delivery.Targets // targets of deliveries by services
	Gateway       *apigateway.Service

	// Stacks is CloudFormation.
	Stacks *cloudformation.Service

	cfg           Config
	meter         meter
	subscriptions *logsapi.Subscriptions // subscription filters of log groups
	mappings      *eventsource.Service   // from queues and streams to functions

	offered   []served // in the order in which they are shown
	engines   *engines
	around    *surroundings
	roles     *iam.Service
	secrets   *secretsmanager.Service
	resources *cloudcontrol.Service
	objects   engine.Objects
	metrics   metrics
	changes   *changes
	pacing    storedPacing

	listeners listeners
	claims    claims
	handler   http.Handler
	traces    *xray.Service
	tracer    *tracing.Tracer
	token     string // authenticates clients in other processes
	front     front.Front
	files     *inventory.Files
	space     *diskspace.Space
	ailing    ailing
	broken    chan error     // receives the error that ended serving or the journal
	closers   []func() error // in the order of opening
}

// Open opens or creates a data directory, resumes the executions that an earlier process left running, and serves
// everything. The error is an *InUseError if another process has the directory open.
func Open(ctx context.Context, cfg Config) (_ *Platform, err error) {
	remove, err := cfg.defaults()
	p := &Platform{Dir: cfg.Dir, Scope: cfg.Scope, Clock: cfg.Clock, cfg: cfg, broken: make(chan error, 1),
		space:   newSpace(&cfg),
		changes: newChanges(), token: newToken()}
	p.onClose(func() error { cfg.Clock.Close(); return nil })
	if cfg.Listener != nil {
		p.onClose(func() error { return ignoreClosed(cfg.Listener.Close()) })
	}
	p.onClose(remove)
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	for _, step := range []func(context.Context) error{
		p.lock, p.openJournal, p.listen, p.openDocuments, p.openInventory, p.openObjects, p.openQueues, p.openTables,
		p.openTraces, p.openCloudWatch, p.openLogs, p.openFunctions, p.openMappings,
		p.stopSubscriptions, p.openTopics, p.expire, p.openMetrics, p.openDurable, p.openIdentity, p.openSecrets,
		p.openDeployment, p.openStates, p.openEvents, p.openScheduler,
		p.openGateway, p.openStacks, p.openCloudControl, p.offerTraces, p.warnOfLosses, p.finishOpen, p.serve,
		p.announce,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Platform) onClose(f func() error) { p.closers = append(p.closers, f) }

// Close stops everything in the reverse order of opening and waits for it. Executions that are still running stay in
// the journal: the next Open resumes them.
func (p *Platform) Close() error {
	p.space.Close() // writes that wait for space would keep what they belong to from ending
	var errs []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		errs = append(errs, p.closers[i]())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// Broken receives the error after which the platform cannot continue: its journal refuses to write
// (journal.ErrBroken), or its listener fails. The receiver should close the platform.
func (p *Platform) Broken() <-chan error { return p.broken }

// reportBroken stores the first error that ends the platform.
func (p *Platform) reportBroken(err error) {
	select {
	case p.broken <- err:
	default:
	}
}

func (p *Platform) openJournal(context.Context) error {
	if p.Journal = p.cfg.Journal; p.Journal != nil {
		return nil
	}
	o := p.cfg.JournalOptions
	o.FS, o.Space, o.Volatile, o.Now = p.cfg.Space.FS, p.space, p.cfg.Ephemeral, p.Clock.Now
	told := o.Broken
	o.Broken = func(err error) {
		if told != nil {
			told(err)
		}
		p.reportBroken(err)
	}
	j, err := pebble.Open(filepath.Join(p.Dir, journalDir), o)
	if err != nil {
		return err
	}
	p.Journal = j
	p.onClose(j.Close)
	return resultwriter.RemoveSpools(p.Dir) // the directory is locked: no other process uses it
}

func (p *Platform) openObjects(ctx context.Context) (err error) {
	p.Objects, err = s3.Open(filepath.Join(p.Dir, objectsDir), s3.Options{Region: p.Scope.Region,
		Account: p.Scope.Account, ObjectCreated: p.objectCreated, Deliver: p.Targets.Deliver, Files: p.files,
		Log: p.cfg.Log, Authorize: p.authorizeObjects, Signer: p.signerOfObjects,
		Secret:       p.secretOfObjects,
		Enforces:     p.Targets.Judging,
		Now:          p.Clock.Now,
		MustAnnounce: func(bucket string) bool { return p.cfg.ObjectCreated[bucket] != "" }})
	if err != nil {
		return err
	}
	p.offer(served{model: "s3", store: objectsDir, covers: p.Objects.Coverage, about: "buckets in " + filepath.Join(p.Dir, "objects"),
		Service: endpoint.Service{Name: "S3", Signing: "s3", Pages: true,
			Handler: p.Objects.Handler()}})
	p.objects, err = p.objectsOfMaps(ctx)
	return err
}

func (p *Platform) openQueues(context.Context) (err error) {
	p.Queues, err = sqs.Open(sqs.Options{Dir: filepath.Join(p.Dir, queuesDir), Clock: p.Clock, Scope: p.Scope,
		Endpoint: p.Endpoint, Disk: p.disk(), Log: p.cfg.Log})
	if err == nil {
		p.onClose(p.Queues.Close)
		p.offer(served{model: "sqs", store: queuesDir, about: "queues in " + filepath.Join(p.Dir, "sqs"),
			Service: endpoint.Service{Name: "SQS", Signing: "sqs", Target: "AmazonSQS", Handler: lazily(p.Queues.API)}})
		p.Targets.Register("sqs", p.Queues)
	}
	return err
}

func (p *Platform) openLogs(context.Context) (err error) {
	p.subscriptions = logsapi.OpenSubscriptions(logsapi.SubscriptionOptions{Documents: p.Documents, Targets: &p.Targets,
		Clock: p.Clock, Log: p.cfg.Log})
	p.onClose(p.subscriptions.Close)
	p.Logs, err = logstore.Open(filepath.Join(p.Dir, logsDir, "groups"), logstore.Options{Log: p.cfg.Log, Space: p.space,
		Files: p.files, Appended: p.logged, Written: p.subscriptions.Written})
	if err == nil {
		p.onClose(p.Logs.Close)
		p.offer(served{model: "cloudwatchlogs", store: logsDir, about: "logs of executions and functions",
			Service: endpoint.Service{Name: "CloudWatch Logs", Signing: "logs", Target: "Logs_20140328",
				Handler: lazily(func() *server.Service {
					return logsapi.New(logsapi.Options{Store: p.Logs, Documents: p.Documents, Default: p.Scope,
						Now: time.Now, Invocable: p.invocable,
						Log: p.cfg.Log})
				})}})
		p.Targets.Register("logs", p.Logs)
	}
	return err
}

// openStates opens the engines and the API of Step Functions over them.
func (p *Platform) openStates(ctx context.Context) error {
	store, err := p.store(ctx)
	if err != nil {
		return err
	}
	p.Faults = faults.New(p.cfg.Seed, p.cfg.Faults, p.Clock)
	for _, b := range p.cfg.Batches {
		p.Faults.Carrying(b)
	}
	p.around = newSurroundings(p.cfg.Getenv, p.cfg.Mocks)
	p.around.tracer, p.around.targets = p.tracer, p.cfg.Targets
	if p.cfg.EnforceIAM {
		p.around.guard = &guard{p, p.roles}
		p.Targets.Judged(p.around.guard.delivers)
	}
	p.engines = newEngines(p, stepfunctions.HasActivity(store))
	p.meter.engines.Store(p.engines)
	p.onClose(func() error { p.engines.close(); return nil })
	p.StepFunctions = stepfunctions.New(stepfunctions.Config{
		Open: p.engines.open, Store: store, Now: p.Clock.Now, Default: p.Scope, Log: p.cfg.Log,
		TestCases: p.cfg.Mocks != nil, Logs: p.Logs, Sample: p.tracer.SampleMachine,
	})
	p.offer(served{model: "sfn", store: journalDir, own: true, about: "state machines, executions, activities; in " + p.Dir,
		Service: endpoint.Service{Name: "Step Functions", Signing: "states", Target: "AWSStepFunctions",
			Handler: lazily(p.StepFunctions.Handler)}})
	p.Targets.Register("states", p.StepFunctions)
	p.engines.follow = both(both(both(p.StepFunctions.Follow, p.changes.follow), p.announceStatus), p.cfg.Follow)
	return nil
}

// stopSubscriptions makes Close stop the log group subscriptions before functions end, so that the subscriptions
// keep their deliveries.
func (p *Platform) stopSubscriptions(context.Context) error {
	p.onClose(p.subscriptions.Stop)
	return nil
}

// finishOpen connects everything and resumes what an earlier process left running.
func (p *Platform) finishOpen(ctx context.Context) error {
	p.handler = p.services()
	if err := p.StepFunctions.Resume(); err != nil {
		return err
	}
	p.metrics.opened(p.tracked)
	//nolint:contextcheck // schedules live as long as the platform
	err := errors.Join(p.Events.Resume(), p.Scheduler.Resume(), p.subscriptions.Resume(), p.CloudWatch.Resume(),
		p.secrets.Resume())
	if err != nil {
		return err
	}
	if err := p.subscriptions.CatchUp(p.Logs); err != nil { //nolint:contextcheck // deliveries outlive it
		return err
	}
	p.Functions.Resume()
	if err := p.resumeDurable(ctx); err != nil {
		return err
	}
	p.mappings.Resume()
	if err := p.Objects.Resume(); err != nil { //nolint:contextcheck // notifications outlive the opening
		return err
	}
	p.onClose(func() error { // before the targets they deliver to are closed
		p.Durable.Close()
		p.mappings.Close()
		p.Functions.StopEvents()
		return nil
	})
	p.Stacks.Resume()
	p.resources.Resume()
	if p.cfg.RecoverInBackground {
		return nil
	}
	return p.metrics.awaitRecount(ctx)
}

// store returns the store of the state machines, in the same place as the executions.
func (p *Platform) store(ctx context.Context) (stepfunctions.Store, error) {
	if documents, ok := p.Journal.(stepfunctions.Documents); ok {
		return stepfunctions.Keep(ctx, documents)
	}
	return stepfunctions.NewMemory(), nil
}

func (p *Platform) serve(context.Context) error { //nolint:contextcheck // it lives as long as the platform
	ctx, stop := context.WithCancel(context.Background())
	handler := p.handler
	if p.around.guard != nil {
		handler = p.around.guard.around(handler)
	}
	p.front = front.Front{Handler: handler, StopWaiting: p.stopPolls}
	served := make(chan error, 1)
	go func() {
		err := p.front.Serve(ctx, p.cfg.Listener)
		if ctx.Err() == nil {
			p.reportBroken(err)
		}
		served <- err
	}()
	p.onClose(func() error {
		p.engines.closing()
		p.Functions.Closing()
		p.Durable.Closing()
		stop()
		return <-served
	})
	return nil
}

// stopPolls ends long polls for activity tasks, messages and changes with the response that there are none.
func (p *Platform) stopPolls() {
	p.engines.stopPolls()
	p.changes.end()
	p.Queues.StopPolls()
	p.Topics.StopPolls()
	p.Logs.StopFollowing()
	p.Chaos.LiftAll()
}

// Engine returns the engine of the platform's own account and region.
func (p *Platform) Engine() (*engine.Engine, error) { return p.engines.open(p.Scope) }

// Handler returns the handler that serves everything at one address, as the platform's own listener does.
func (p *Platform) Handler() http.Handler { return p.handler }

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}
