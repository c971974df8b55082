// Package environment holds what differs between the places that the CSV import is deployed to, as plain data with its
// rules.
//
// It knows nothing of CloudFormation and reads nothing from the machine.
package environment

import (
	"time"

	"stepback/statemachine"
)

// Environment is one place that the CSV import is deployed to.
type Environment struct {
	// Name tells environments apart in the names of resources: up to 12 of a-z, 0-9 and -.
	Name string

	// InputBucket and ResultBucket are names that nobody else in the world has taken; empty lets CloudFormation make
	// names up.
	InputBucket, ResultBucket string
	// InputDays and ResultDays are how long uploads, and what was made of them, are kept; 1 to 3650.
	InputDays, ResultDays int
	// MaxFileBytes is the largest file that is imported, at least 1.
	MaxFileBytes int64
	// KeepData makes buckets, tables and database survive the stack, and guards the database and the stack against
	// deletion.
	KeepData bool

	// Shape, Concurrency, BatchSize, BatchConcurrency, ToleratedFailurePercentage and Timeout are the state machine's;
	// see statemachine.Options.
	Shape statemachine.Shape
	// Express has the Map's children be EXPRESS executions, with the retries of statemachine.ExpressTable.
	Express                                  bool
	Concurrency, BatchSize, BatchConcurrency int
	ToleratedFailurePercentage               float64
	Timeout                                  time.Duration

	// ValidateMemory, ProcessMemory and AggregateMemory are the functions' memory sizes in MB, 128 to 10240. A function
	// has one virtual CPU at 1769 MB.
	ValidateMemory, ProcessMemory, AggregateMemory int
	// Architecture is that of the functions' bootstraps: arm64 or x86_64.
	Architecture string

	// AccountConcurrency is how many invocations the account runs at a time in the region, those of all its functions
	// together: 1,000 unless more were asked for, 10 in many a new account (aws lambda get-account-settings). See
	// Within.
	AccountConcurrency int

	// LogLevel is what the state machine logs: ALL or ERROR, between which docs/metrics.md helps to choose. Retries are
	// counted from the log, so that there is nothing less.
	LogLevel string
	// LogExecutionData puts inputs and outputs, that is user records, into the log.
	LogExecutionData bool
	// LogDays is how long logs are kept, one of CloudWatch's retention periods.
	LogDays int

	// Account (12 digits) and Region are where the environment is deployed; empty means anywhere.
	Account, Region string
	// Guide is the HTTPS address under which docs/operating.md can be read, for alarms to link; empty has the stack
	// publish it as a dashboard.
	Guide string
	// Pages are woken, Notices read the messages of alarms that can wait, Imports hear how each import ended.
	Pages, Notices, Imports Subscribers
	// AccessLogBucket is the name of a bucket that takes the buckets' access logs; empty is none.
	AccessLogBucket string
	// Owner and CostCenter tag every resource, where they are not empty.
	Owner, CostCenter string
	// MonthlyBudget in USD, of everything with the deployment's tag, tells Notices when it is nearly used up; 0 is none.
	MonthlyBudget float64

	Database Database

	// Adapt is what the controller of the retries does. It measures attempts, which are counted at LogLevel ALL only.
	Adapt AdaptMode
	// RecordValue is what a row that is applied is worth, in USD: with it the controller reads the histories of the last
	// week, and retries that cost more than they bring are given up. 0 gives none up. It needs Adapt.
	RecordValue float64
	// Canary has a deployment's state machine take a share of the imports first.
	Canary Canary
	// Relay sends what is in the database's outbox. Asking each minute keeps a database with MinCapacity 0 from pausing.
	Relay Relay
}

// Canary is how a changed state machine is taken over: Percentage of the imports that begin are its for so many Minutes,
// and then all, unless an alarm on failing executions takes it back. The zero Canary is all at once.
type Canary struct {
	Percentage float64 // 0 to 99
	Minutes    float64 // 1 to 2100
}

// Database is the PostgreSQL database of the users table: with SecretARN or URLParameter an existing one, else an Aurora
// cluster that the stack creates.
type Database struct {
	// SecretARN is the complete ARN of a secret with username, password, host, port and dbname.
	SecretARN string
	// URLParameter is the name of a parameter of SSM, of type String, with a URL such as postgres://user@host/db. It
	// becomes part of the functions' environment when the stack is deployed: for a database of one's own machine.
	URLParameter string
	// SubnetIDs and SecurityGroupIDs place the functions that use an existing database into its VPC, from where they
	// must reach S3 and Secrets Manager too. Both empty means that the database can be reached from outside any VPC.
	SubnetIDs, SecurityGroupIDs []string

	// MinCapacity and MaxCapacity bound a created cluster, in Aurora capacity units of 2 GiB: 0 to 256 in halves,
	// MaxCapacity at least 1. With 0 the cluster pauses after AutoPause without connections, and the first records
	// after a pause wait about 15 seconds for it, twice that and more after a day.
	MinCapacity, MaxCapacity float64
	// AutoPause is 5 minutes to a day; it matters with MinCapacity 0 only.
	AutoPause time.Duration
	// Readers is how many further instances stand by in the other availability zone, 0 to 2.
	Readers int
	// BackupDays is how long automatic backups are kept, 1 to 35.
	BackupDays int
}

// Exists tells whether the database is there already, so that the stack creates none.
func (d Database) Exists() bool { return d.SecretARN != "" || d.URLParameter != "" }

// Prefix begins the names of the environment's resources.
func (e Environment) Prefix() string { return "csv-import-" + e.Name }
