package functions

import (
	"time"
)

// Configuration is a version of a function as the API shows it (FunctionConfiguration in Lambda's model).
type Configuration struct {
	FunctionName         string
	FunctionArn          string
	Runtime              string
	Role                 string
	Handler              string `json:",omitempty"`
	CodeSize             int64
	Description          string
	Timeout              int // seconds
	MemorySize           int // megabytes
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
	LastUpdateStatus     string
	PackageType          string
	Architectures        []string
	EphemeralStorage     EphemeralStorage
	SnapStart            SnapStart
	RuntimeVersionConfig RuntimeVersionConfig
	LoggingConfig        LoggingConfig
	Layers               []Layer `json:",omitempty"`
}

// Environment holds the variables that a function finds in its environment.
type Environment struct{ Variables map[string]string }

// VPCConfig is kept and shown; functions run in no network of their own.
type VPCConfig struct {
	SubnetIDs               []string `json:"SubnetIds"`
	SecurityGroupIDs        []string `json:"SecurityGroupIds"`
	VpcID                   string   `json:"VpcId"`
	Ipv6AllowedForDualStack bool
}

// DeadLetterConfig names the queue or topic that gets the events which no attempt has handled.
type DeadLetterConfig struct {
	TargetArn string `json:",omitempty"`
}

// TracingConfig says whether invocations begin traces: Active, or PassThrough.
type TracingConfig struct{ Mode string }

// Active reports whether invocations begin traces of their own.
func (t TracingConfig) Active() bool { return t.Mode == "Active" }

// EphemeralStorage is kept and shown; what a function may write is not bounded.
type EphemeralStorage struct{ Size int } // megabytes

// SnapStart is kept and shown; no snapshots are taken.
type SnapStart struct {
	ApplyOn            string
	OptimizationStatus string `json:",omitempty"`
}

// RuntimeVersionConfig names the version of a runtime.
type RuntimeVersionConfig struct{ RuntimeVersionArn string }

// LoggingConfig is kept and shown; logs are text.
type LoggingConfig struct {
	LogFormat           string `json:",omitempty"`
	ApplicationLogLevel string `json:",omitempty"`
	SystemLogLevel      string `json:",omitempty"`
	LogGroup            string `json:",omitempty"`
}

// The states of functions that are ready.
const (
	active     = "Active"
	successful = "Successful"
)

// Defaults of a function.
const (
	defaultTimeout = 3
	defaultMemory  = 128
	defaultStorage = 512
	x8664          = "x86_64"
	arm64          = "arm64"
)

// timestamp is how Lambda writes times.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000-0700") }
