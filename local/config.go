package local

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/engine/journal/pebble"
	"stepback/local/services/lambda/functions"
	"stepback/local/services/lambda/standin"
	"stepback/tasks/faults"
	"stepback/tasks/mock"
)

// Config says what a platform is made of. The zero value is a platform of its own in a temporary directory, with
// executions in memory and the real time.
type Config struct {
	// Dir is the data directory: executions, functions, buckets, topics, logs, metric data. It is made if need be.
	// Empty means a temporary one, which Close removes.
	Dir string
	// Journal keeps the executions, and the state machines if it is a stepfunctions.Documents. Nil means the one in
	// Dir, or memory when Dir is empty. Whoever gives one closes it.
	Journal journal.Journal
	// JournalOptions are those of the journal in Dir.
	JournalOptions pebble.Config
	// Clock is the time that executions live in; nil means the real one. The platform closes it, even if Open fails.
	Clock *clock.Clock
	// Patience is how long a task may really take on a virtual clock; see engine.Config.
	Patience time.Duration

	// Listener is where everything is served; nil means a free port of 127.0.0.1. The platform closes it, even if Open
	// fails.
	Listener net.Listener
	// Public answers requests by whatever name of this machine they come; otherwise it has to be one of the loopback
	// interface.
	Public bool
	// EnforceIAM has requests that are signed with keys of IAM's users and of sessions of roles judged by IAM's
	// policies. All other keys are the root user's.
	EnforceIAM bool
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Version is shown with the health of the services.
	Version string

	// LambdaEndpoint and S3Endpoint are where tasks invoke functions, and where Maps read and write objects, in place
	// of the services here.
	LambdaEndpoint, S3Endpoint string
	// Beside is another platform whose Lambda, S3, SNS and CloudWatch Logs tasks and Maps use in place of those here;
	// nil means none.
	Beside *Server
	// Getenv reads the variables that say where other services are, such as SQS_ENDPOINT; nil means that there are
	// none.
	Getenv func(string) string
	// Environments is the most processes of one function version; 0 means 32.
	Environments int
	// TotalEnvironments is the most processes of all functions, TotalLambdaMB what their memory may add up to by their
	// settings; 0 means 256 and no bound.
	TotalEnvironments, TotalLambdaMB int
	// FetchPackages has AWS's SDKs for JavaScript and Python, which AWS's runtimes bring along, fetched from their
	// registries when a function first asks for one.
	FetchPackages bool
	// BuiltIn are functions whose code is part of the program, which functions.Service.PutBuiltIn deploys.
	BuiltIn map[string]functions.BuiltIn
	// StandIns are functions that the platform does not keep; they come first. Whoever opened them closes them.
	StandIns *standin.Set
	// ObjectCreated are the functions that hear of new objects, by bucket, as by an EventBridge rule.
	ObjectCreated map[string]string
	// Mocks are the test cases that executions can be started for; nil means none.
	Mocks *mock.File

	// Faults befall the tasks of the states that they name, in every state machine, decided by Seed.
	Faults []faults.Spec
	Seed   uint64
	// Batches are the states whose invocations carry items that faults of another state befall.
	Batches []faults.Batch

	// Observe is told of every execution that ended, with its whole history, before anybody else learns of the end;
	// Follow of the events of every step once they are durable. Both run on an engine's worker and must be quick; the
	// slices are only valid during the call.
	Observe, Follow func(*journal.Execution, []history.Event)
	// Resumed is told of each execution that an earlier process left under way, before it goes on.
	Resumed func(Resumed)
	// MetricPeriod is how long the periods are for which metric data are put together; 0 means a minute.
	MetricPeriod time.Duration

	// Console is the console at the address; the zero value is one with all actions.
	Console Console

	// Control answers the processes that found the directory in use and become clients of this one; nil refuses them.
	// See Server.Ask.
	Control func(*Platform, http.ResponseWriter, *http.Request)

	// Metrics answers requests for endpoint.MetricsPath, such as Prometheus's; nil means that there are none.
	Metrics http.Handler

	// Log is told what the owner of the machine should know; nil discards it.
	Log *slog.Logger
}

// The account and region of requests that name none.
const (
	DefaultAccount = "000000000000"
	DefaultRegion  = "us-east-1"
)

// defaults fills in what has been left out, and makes the directory.
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
		return remove, os.MkdirAll(c.Dir, 0o750)
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
