// Package environment defines, as plain data with validation rules, the settings that differ between the deployments
// of the CSV import.
//
// It does not depend on CloudFormation and reads nothing from the machine.
package environment

import (
	"math"
	"time"

	"stepback/statemachine"
)

// Environment is one deployment target of the CSV import.
type Environment struct {
	// Name identifies the environment in the names of resources: up to 12 of a-z, 0-9 and -.
	Name string

	// InputBucket and ResultBucket are globally unique bucket names; if empty, CloudFormation generates the names.
	InputBucket, ResultBucket string
	// InputDays and ResultDays are the days for which uploads and results are kept, 1 to 3650 each.
	InputDays, ResultDays int
	// MaxFileBytes is the size limit of an imported file, in bytes: 1 to 1,000 × 1 GiB. Larger files than PartBytes are
	// applied in parts, so that the limit only bounds the time and the cost of a file that was uploaded by mistake.
	MaxFileBytes int64
	// PartBytes is the size above which a file is cut into parts, in bytes: 1 to 1 GiB. It determines the temporary disk
	// of two functions, and how many rows AggregateResults accounts for at once.
	PartBytes int64
	// KeepData retains buckets, tables and database when the stack is deleted, and protects the database and the
	// stack against deletion.
	KeepData bool

	// Shape, Concurrency, BatchSize, RangeConcurrency, BatchConcurrency, ToleratedFailurePercentage and Timeout are options
	// of the state machine; see statemachine.Options.
	Shape statemachine.Shape
	// Express runs the Map's children as EXPRESS executions, with the retries of statemachine.ExpressTable.
	Express                                  bool
	Concurrency, BatchSize, BatchConcurrency int
	RangeConcurrency                         int
	ToleratedFailurePercentage               float64
	Timeout                                  time.Duration

	// ValidateMemory, ProcessMemory and AggregateMemory are the functions' memory sizes in MB, 128 to 10240. A function
	// has one virtual CPU at 1769 MB.
	ValidateMemory, ProcessMemory, AggregateMemory int
	// FilesConcurrency is the number of files of an import of many files that are imported concurrently, 1 to 1,000; see
	// statemachine.FilesOptions. Each may use Concurrency child executions.
	FilesConcurrency int

	// Architecture is the architecture of the functions' bootstraps: arm64 or x86_64.
	Architecture string

	// AccountConcurrency is the number of concurrent invocations of all functions that the account allows in the
	// region: 1,000 unless more were requested, 10 in many new accounts (aws lambda get-account-settings). See
	// Within.
	AccountConcurrency int

	// LogLevel is the state machine's log level: ALL or ERROR; docs/metrics.md helps to choose. Lower levels are not
	// possible, because retries are counted from the log.
	LogLevel string
	// LogExecutionData includes inputs and outputs, that is user records, in the log.
	LogExecutionData bool
	// LogDays is the retention of logs in days, one of CloudWatch's retention periods.
	LogDays int

	// Account (12 digits) and Region are the deployment target; empty means any.
	Account, Region string
	// Guide is the HTTPS address of docs/operating.md, to which alarms link; if empty, the stack publishes it as a
	// dashboard.
	Guide string
	// Pages are the subscribers to pages, Notices the subscribers to messages of alarms that can wait, and Imports
	// the subscribers to the result of each import.
	Pages, Notices, Imports Subscribers
	// AccessLogBucket is the name of a bucket for the buckets' access logs; empty means none.
	AccessLogBucket string
	// Owner and CostCenter are tags on every resource, if not empty.
	Owner, CostCenter string
	// MonthlyBudget is the budget in USD for all resources with the deployment's tag. The subscribers in Notices
	// are notified when it is nearly used up. 0 means no budget.
	MonthlyBudget float64

	Database Database

	// Adapt is the mode of the retry controller. It measures attempts, which are only counted at LogLevel ALL.
	Adapt AdaptMode
	// Control holds the controller's other settings.
	Control Control
	// SourceBreaker uses the circuit breaker's thresholds of the source design (5 failures in a row, 60 s, 3 successes)
	// instead of the measured ones.
	SourceBreaker bool
	// RecordValue is the value of an applied row, in USD. If it is set, the controller reads the histories of the
	// last week, and retries that cost more than they recover are given up. 0 gives up none. It requires Adapt.
	RecordValue float64
	// Canary sends a share of the imports to a newly deployed state machine first.
	Canary Canary
	// Relay sends the messages of the database's outbox. Because it polls every minute, a database with MinCapacity 0
	// never pauses.
	Relay Relay
}

// Canary defines how traffic shifts to a changed state machine: Percentage of the new imports use it for Minutes,
// then all of them, unless an alarm on failing executions rolls it back. The zero Canary shifts all at once.
type Canary struct {
	Percentage float64 // 0 to 99
	Minutes    float64 // 1 to 2100
}

// CanaryImports is the number of imports that a canary should see before a deployment is complete. If files arrive
// independently of each other, it sees none with a probability of 0.7 %.
const CanaryImports = 5

// Limits of a canary whose environment is quiet: a share at which most imports still use the tested version, and the
// longest interval that CloudFormation allows, 35 hours.
const (
	maxCanaryPercentage = 50
	maxCanaryMinutes    = 2100
)

// Seeing returns the canary, extended so that it sees CanaryImports at perDay imports a day: it lasts longer and, if the
// longest interval is not enough, its percentage is raised to 50 at most. If perDay is 0, or there is no canary, it is
// returned unchanged.
func (c Canary) Seeing(perDay float64) Canary {
	if c.Percentage == 0 || perDay <= 0 {
		return c
	}
	needed := CanaryImports * 24 * 60 * 100 / perDay // percent × minutes
	c.Minutes = min(max(c.Minutes, math.Ceil(needed/c.Percentage)), maxCanaryMinutes)
	c.Percentage = min(max(c.Percentage, math.Ceil(needed/c.Minutes)), maxCanaryPercentage)
	return c
}

// Database is the PostgreSQL database of the users table: an existing one if SecretARN or URLParameter is set,
// otherwise an Aurora cluster that the stack creates.
type Database struct {
	// SecretARN is the complete ARN of a secret with username, password, host, port and dbname.
	SecretARN string
	// URLParameter is the name of an SSM parameter of type String with a URL such as postgres://user@host/db. Its
	// value becomes part of the functions' environment when the stack is deployed, so it is for a database on one's
	// own machine.
	URLParameter string
	// SubnetIDs and SecurityGroupIDs place the functions that use an existing database into its VPC; from there they
	// must also reach S3 and Secrets Manager. If both are empty, the database must be reachable from outside any VPC.
	SubnetIDs, SecurityGroupIDs []string

	// MinCapacity and MaxCapacity limit a created cluster, in Aurora capacity units of 2 GiB. They range from 0 to
	// 256 in steps of a half, and MaxCapacity is at least 1. If MinCapacity is 0, the cluster pauses after
	// AutoPause without connections. The first records after a pause wait about 15 seconds for it; after a pause of
	// more than a day, twice as long or more.
	MinCapacity, MaxCapacity float64
	// AutoPause is 5 minutes to a day; it is used only if MinCapacity is 0.
	AutoPause time.Duration
	// Readers is the number of standby instances in the other availability zone, 0 to 2.
	Readers int
	// BackupDays is the retention of automatic backups in days, 1 to 35.
	BackupDays int
}

// Exists reports whether the database already exists, so that the stack creates none.
func (d Database) Exists() bool { return d.SecretARN != "" || d.URLParameter != "" }

// Prefix returns the prefix of the names of the environment's resources.
func (e Environment) Prefix() string { return "csv-import-" + e.Name }
