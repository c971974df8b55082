package stepfunctions

import (
	"slices"
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

const levelOff = "OFF"

func (l Logging) groups() []string {
	groups := make([]string, len(l.Destinations))
	for i, d := range l.Destinations {
		if d.LogGroup != nil {
			groups[i] = d.LogGroup.ARN
		}
	}
	return groups
}

func (l Logging) equal(o Logging) bool {
	return l.Level == o.Level && l.IncludeExecutionData == o.IncludeExecutionData &&
		slices.Equal(l.groups(), o.groups())
}

// loggingOf validates a loggingConfiguration and fills in defaults; nil means none.
func loggingOf(given *Logging) (Logging, error) {
	l := Logging{Level: levelOff}
	if given == nil {
		return l, nil
	}
	l = *given
	if l.Level == "" {
		l.Level = levelOff
	}
	if len(l.Destinations) > 1 || l.Level != levelOff && len(l.Destinations) == 0 {
		return l, invalidLogging("Must specify exactly one Log Destination.")
	}
	for _, arn := range l.groups() {
		if _, _, ok := parseLogGroup(arn); !ok {
			return l, invalidLogging("Invalid Log Destination ARN.")
		}
	}
	return l, nil
}

// encryptionOf validates an encryptionConfiguration and fills in defaults; nil means the AWS owned key. Nothing is
// encrypted here.
func encryptionOf(given *Encryption) (Encryption, error) {
	const ownedKey, reusePeriod = "AWS_OWNED_KEY", 300
	if given == nil {
		return Encryption{Type: ownedKey}, nil
	}
	e := *given
	switch {
	case e.Type == ownedKey && (e.KMSKeyID != "" || e.KMSDataKeyReusePeriodSeconds != 0):
		return e, invalidEncryption("kmsKeyId and kmsDataKeyReusePeriodSeconds must be null when type is AWS_OWNED_KEY")
	case e.Type != ownedKey && e.KMSKeyID == "":
		return e, invalidEncryption("kmsKeyId must not be null when type is CUSTOMER_MANAGED_KMS_KEY")
	case e.Type != ownedKey && e.KMSDataKeyReusePeriodSeconds == 0:
		e.KMSDataKeyReusePeriodSeconds = reusePeriod
	}
	return e, nil
}

func tracingOf(given *Tracing) Tracing {
	if given == nil {
		return Tracing{}
	}
	return *given
}
