package functions

import (
	"time"
)

// Configuration is a version of a function as the API returns it (FunctionConfiguration in Lambda's model).
type Configuration struct {
	FunctionName         string
	FunctionArn          string
	Runtime              string
	Role                 string
	Handler              string `json:",omitempty"`
	CodeSize             int64
	Description          string
	Timeout              int // in seconds
	MemorySize           int // in megabytes
	LastModified         string
	CodeSha256           string
	Version              string
	VpcConfig            *VPCConfig        `json:",omitempty"`
	DeadLetterConfig     *DeadLetterConfig `json:",omitempty"`
	Environment          *Environment      `json:",omitempty"`
	KMSKeyArn            string            `json:",omitempty"`
	TracingConfig        TracingConfig
	RevisionID           string `json:"RevisionId"`
	State                string
	StateReason          string `json:",omitempty"`
	StateReasonCode      string `json:",omitempty"`
	LastUpdateStatus     string `json:",omitempty"`
	UpdateReason         string `json:"LastUpdateStatusReason,omitempty"`
	UpdateReasonCode     string `json:"LastUpdateStatusReasonCode,omitempty"`
	PackageType          string
	Architectures        []string
	EphemeralStorage     EphemeralStorage
	SnapStart            SnapStart
	RuntimeVersionConfig RuntimeVersionConfig
	LoggingConfig        LoggingConfig
	Layers               []Layer        `json:",omitempty"`
	DurableConfig        *DurableConfig `json:",omitempty"`
	TenancyConfig        *TenancyConfig `json:",omitempty"`
}

// Environment holds a function's environment variables.
type Environment struct{ Variables map[string]string }

// VPCConfig is stored and returned but has no effect: functions do not run in a network of their own.
type VPCConfig struct {
	SubnetIDs               []string `json:"SubnetIds"`
	SecurityGroupIDs        []string `json:"SecurityGroupIds"`
	VpcID                   string   `json:"VpcId"`
	Ipv6AllowedForDualStack bool
}

// DeadLetterConfig names the queue or topic that receives events which no attempt has handled.
type DeadLetterConfig struct {
	TargetArn string `json:",omitempty"`
}

// TracingConfig holds the tracing mode. In mode Active, invocations start traces; the other mode is PassThrough.
type TracingConfig struct{ Mode string }

// Active reports whether invocations start traces.
func (t TracingConfig) Active() bool { return t.Mode == "Active" }

// EphemeralStorage is stored and returned but has no effect: how much a function may write is not limited.
type EphemeralStorage struct{ Size int } // in megabytes

// SnapStart is stored and returned but has no effect: no snapshots are taken.
type SnapStart struct {
	ApplyOn            string
	OptimizationStatus string `json:",omitempty"`
}

// DurableConfig makes a function durable.
type DurableConfig struct {
	// RetentionPeriodInDays is the number of days for which an execution is kept after its end, 1 to 90.
	RetentionPeriodInDays int64
	// ExecutionTimeout is the time in seconds after which an execution times out, 1 to 31,622,400.
	ExecutionTimeout int64
}

// TenancyConfig keeps the execution environments of tenants apart. The only mode is PER_TENANT.
type TenancyConfig struct{ TenantIsolationMode string }

// RuntimeVersionConfig names the version of a runtime.
type RuntimeVersionConfig struct{ RuntimeVersionArn string }

// logJSON is the log format in which a function's own log records are JSON objects.
const logJSON = "JSON"

// usualLevel is the level of the logs of functions that log JSON and name none.
const usualLevel = "INFO"

// LoggingConfig says where and how a function logs. In the format JSON, the log records of functions in Python are JSON
// objects; SystemLogLevel has no effect.
type LoggingConfig struct {
	LogFormat           string `json:",omitempty"`
	ApplicationLogLevel string `json:",omitempty"`
	SystemLogLevel      string `json:",omitempty"`
	LogGroup            string `json:",omitempty"`
}

// The states of a ready function.
const (
	active     = "Active"
	successful = "Successful"
)

// The reason that Lambda gives while a function is created or updated.
const (
	reason     = "The function is being created."
	reasonCode = "Creating"
)

// Pending returns the configuration as the answer to its creation shows it. The function can be invoked at once, and
// other answers say so.
func (c *Configuration) Pending() *Configuration {
	shown := *c
	shown.State, shown.StateReason, shown.StateReasonCode, shown.LastUpdateStatus = "Pending", reason, reasonCode, ""
	return &shown
}

// InProgress returns the configuration as the answer to its update shows it.
func (c *Configuration) InProgress() *Configuration {
	shown := *c
	shown.LastUpdateStatus, shown.UpdateReason, shown.UpdateReasonCode = "InProgress", reason, reasonCode
	return &shown
}

// Defaults of a function.
const (
	defaultTimeout = 3
	defaultMemory  = 128
	defaultStorage = 512
	x8664          = "x86_64"
	arm64          = "arm64"
)

// timestamp formats t as Lambda does.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000-0700") }
