package local

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"stepback/aws"
	"stepback/engine"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/diskspace"
	"stepback/engine/journal/pebble"
	"stepback/internal/outbound"
	"stepback/internal/ownerfs"
	"stepback/local/services/lambda/durablefunctions"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/lambda/standin"
	"stepback/retrymetrics"
	"stepback/tasks/faults"
	"stepback/tasks/mock"
)

// Config configures a platform. The zero value is a separate platform in a temporary directory, with executions in
// memory and real time.
type Config struct {
	// Dir is the data directory: executions, functions, buckets, topics, logs, metric data. It is created if
	// necessary. Empty means a temporary directory, which Close removes.
	Dir string
	// Journal stores the executions, and the state machines if it is a stepfunctions.Documents. Nil means the journal
	// in Dir, or memory if Dir is empty. The caller closes a Journal that it supplies.
	Journal journal.Journal
	// JournalOptions are the options of the journal in Dir. FS, Space, Volatile and Now are the platform's.
	JournalOptions pebble.Config
	// Space configures the free space of Dir, which all stores share. Path is the platform's; FS is also the file
	// system of the stores that are databases.
	Space diskspace.Config
	// Ephemeral is true if the caller removes Dir when the platform is closed. Health reports it. The stores in Dir
	// have no log then, so Dir cannot be opened again.
	Ephemeral bool
	// Clock is the clock of the executions; nil means real time. The platform closes it, even if Open fails.
	Clock *clock.Clock
	// Patience is the real time that a task may take on a virtual clock; see engine.Config.
	Patience time.Duration
	// Overran is called when a task has exceeded Patience; see engine.Config. nil is not called.
	Overran func(engine.Overrun)

	// EngineSeed makes the jitter and random values of executions with the same ARN repeatable; 0 means that they
	// differ each time. It is for tests, because task tokens can be foretold, too.
	EngineSeed uint64

	// Listener is the listener on which everything is served; nil means a free port of 127.0.0.1. The platform closes
	// it, even if Open fails.
	Listener net.Listener
	// Public accepts requests under any name of this machine; otherwise the name must be one of the loopback
	// interface.
	Public bool
	// EnforceIAM enforces IAM's policies for requests signed with keys of IAM users and role sessions. All other keys
	// are those of the root user.
	EnforceIAM bool
	// Targets refuses addresses as targets of requests whose URLs come from users: HTTP Tasks, API destinations, HTTP
	// subscriptions, HTTP proxy integrations and Kubernetes clusters. Nil allows all.
	Targets *outbound.Policy
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Version is reported with the health of the services.
	Version string

	// LambdaEndpoint and S3Endpoint are the endpoints where tasks invoke functions and where Maps read and write
	// objects, instead of the services here.
	LambdaEndpoint, S3Endpoint string
	// Beside is another platform whose Lambda, S3, SNS and CloudWatch Logs are used by tasks and Maps instead of
	// those here; nil means none.
	Beside *Server
	// Getenv reads the variables that name the endpoints of other services, such as SQS_ENDPOINT; nil means that none
	// are set.
	Getenv func(string) string
	// Environments is the maximum number of processes per function version; 0 means 32.
	Environments int
	// TotalEnvironments is the maximum number of processes of all functions; 0 means 256. TotalLambdaMB is the
	// maximum sum of their configured memory; 0 means no limit.
	TotalEnvironments, TotalLambdaMB int
	// FetchPackages fetches AWS's SDKs for JavaScript and Python, which AWS's runtimes include, from their registries
	// when a function first needs one.
	FetchPackages bool
	// BuiltIn are functions whose code is part of the program; functions.Service.PutBuiltIn deploys them.
	BuiltIn map[string]functions.BuiltIn
	// StandIns are functions that are not stored in the platform; they take precedence. The caller closes them.
	StandIns *standin.Set
	// ObjectCreated maps buckets to the functions that are notified of new objects, as by an EventBridge rule.
	ObjectCreated map[string]string
	// Mocks are the test cases that executions can be started for; nil means none.
	Mocks *mock.File

	// Faults are injected into the tasks of the states that they name, in every state machine, as determined by Seed.
	Faults []faults.Spec
	Seed   uint64
	// Batches lists the states that invoke a function with several items, to each of which the faults of another
	// state apply.
	Batches []faults.Batch

	// Observe is called for every execution that ended, with its whole history, before the end becomes visible
	// elsewhere. Follow is called with the events of every step once they are durable. Both run on an engine's worker
	// and must be quick; the slices are only valid during the call.
	Observe, Follow func(*journal.Execution, []history.Event)
	// FollowDurable is called with the events of every step of a durable execution once they are durable. It must be
	// quick; the slice is only valid during the call. Chained answers the chained invokes of durable executions instead
	// of their functions; nil invokes the functions. Both are for tests of durable functions.
	FollowDurable func(*journal.Execution, []history.Event)
	Chained       durablefunctions.Chained
	// Counts receive the retries of all executions, at each event from the opening of the platform on. Unlike
	// Platform.Metrics, they do not receive what an earlier process counted.
	Counts []retrymetrics.Target
	// RecoverInBackground lets Open return before the executions of an earlier process have been read; see
	// engine.Engine.RecoverInBackground. If they cannot be read, Broken receives the error.
	RecoverInBackground bool
	// Resumed is called for each execution that an earlier process left running, before it continues. With
	// RecoverInBackground it may be called after Open has returned, and from several goroutines.
	Resumed func(Resumed)
	// MetricPeriod is the length of the periods over which metric data are aggregated; 0 means a minute.
	MetricPeriod time.Duration

	// Console configures the console; the zero value has all actions.
	Console Console

	// Control handles requests of processes that found the directory in use and became clients of this one; nil
	// refuses them. See Server.Ask.
	Control func(*Platform, http.ResponseWriter, *http.Request)

	// Metrics handles requests for endpoint.MetricsPath, such as Prometheus's; nil means that there are no metrics.
	Metrics http.Handler

	// Log receives messages for the owner of the machine; nil discards them.
	Log *slog.Logger
}

// The account and region of requests that name none.
const (
	DefaultAccount = "000000000000"
	DefaultRegion  = "us-east-1"
)

// defaults fills in defaults and creates the directory. remove deletes a temporary one.
func (c *Config) defaults() (remove func() error, err error) {
	remove = func() error { return nil }
	if c.Clock == nil {
		c.Clock = clock.Real()
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Getenv == nil {
		c.Getenv = func(string) string { return "" }
	}
	if c.Scope.Account == "" {
		c.Scope.Account = DefaultAccount
	}
	if c.Scope.Region == "" {
		c.Scope.Region = DefaultRegion
	}
	if c.Dir != "" {
		return remove, os.MkdirAll(c.Dir, ownerfs.Dir)
	}
	if c.Dir, err = os.MkdirTemp("", "stepback-"); err != nil {
		return remove, err
	}
	dir := c.Dir
	if c.Journal == nil {
		c.Journal = journal.NewMemory()
	}
	return func() error { return os.RemoveAll(dir) }, nil
}
