package configuration

import (
	"slices"

	"stepback/local/services/stepfunctions/apierror"
)

// Logging is the loggingConfiguration of a state machine.
type Logging struct {
	Level                string        `json:"level,omitempty"`
	IncludeExecutionData bool          `json:"includeExecutionData"`
	Destinations         []Destination `json:"destinations,omitzero"`
}

// Destination is a destination of log records.
type Destination struct {
	LogGroup *LogGroup `json:"cloudWatchLogsLogGroup,omitempty"`
}

// LogGroup names a CloudWatch Logs group.
type LogGroup struct {
	ARN string `json:"logGroupArn,omitempty"`
}

// Tracing is the tracingConfiguration of a state machine.
type Tracing struct {
	Enabled bool `json:"enabled"`
}

// Encryption is the encryptionConfiguration of a state machine.
type Encryption struct {
	Type                         string `json:"type"`
	KMSKeyID                     string `json:"kmsKeyId,omitempty"`
	KMSDataKeyReusePeriodSeconds int    `json:"kmsDataKeyReusePeriodSeconds,omitempty"`
}

// LevelOff is the level at which executions do not log.
const LevelOff = "OFF"

// Groups returns the ARNs of the log groups that are destinations.
func (l Logging) Groups() []string {
	groups := make([]string, len(l.Destinations))
	for i, d := range l.Destinations {
		if d.LogGroup != nil {
			groups[i] = d.LogGroup.ARN
		}
	}
	return groups
}

// Equal reports whether two configurations log the same to the same groups.
func (l Logging) Equal(o Logging) bool {
	return l.Level == o.Level && l.IncludeExecutionData == o.IncludeExecutionData &&
		slices.Equal(l.Groups(), o.Groups())
}

// LoggingOf validates a loggingConfiguration and fills in defaults; nil means none.
func LoggingOf(given *Logging) (Logging, error) {
	l := Logging{Level: LevelOff}
	if given == nil {
		return l, nil
	}
	l = *given
	if l.Level == "" {
		l.Level = LevelOff
	}
	if len(l.Destinations) > 1 || l.Level != LevelOff && len(l.Destinations) == 0 {
		return l, apierror.InvalidLogging("Must specify exactly one Log Destination.")
	}
	for _, arn := range l.Groups() {
		if _, _, ok := ParseLogGroup(arn); !ok {
			return l, apierror.InvalidLogging("Invalid Log Destination ARN.")
		}
	}
	return l, nil
}

// EncryptionOf validates an encryptionConfiguration and fills in defaults; nil means the AWS owned key. Nothing is
// encrypted here.
func EncryptionOf(given *Encryption) (Encryption, error) {
	const ownedKey, reusePeriod = "AWS_OWNED_KEY", 300
	if given == nil {
		return Encryption{Type: ownedKey}, nil
	}
	e := *given
	switch {
	case e.Type == ownedKey && (e.KMSKeyID != "" || e.KMSDataKeyReusePeriodSeconds != 0):
		return e, apierror.InvalidEncryption("kmsKeyId and kmsDataKeyReusePeriodSeconds must be null when type is AWS_OWNED_KEY")
	case e.Type != ownedKey && e.KMSKeyID == "":
		return e, apierror.InvalidEncryption("kmsKeyId must not be null when type is CUSTOMER_MANAGED_KMS_KEY")
	case e.Type != ownedKey && e.KMSDataKeyReusePeriodSeconds == 0:
		e.KMSDataKeyReusePeriodSeconds = reusePeriod
	}
	return e, nil
}

// TracingOf completes a tracingConfiguration; nil means that executions are not traced.
func TracingOf(given *Tracing) Tracing {
	if given == nil {
		return Tracing{}
	}
	return *given
}
