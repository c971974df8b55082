package environment

import "strings"

// RelayToImports is the stack's own topic of import results, as a Relay's destination.
const RelayToImports = "imports"

// Relay sends the messages that programs write into the database's outbox, once a minute.
type Relay struct {
	// To is RelayToImports, or the ARN of an SNS topic, an SQS queue or an EventBridge event bus; empty is no relay. A
	// webhook is subscribed to a topic.
	To string
}

// Service is the service that a relay sends to, as ARNs and endpoints name it: sns, sqs or events. It is empty without a
// relay, and for what no relay can send to.
func (r Relay) Service() string {
	if r.To == RelayToImports {
		return "sns"
	}
	parts := strings.Split(r.To, ":")
	if len(parts) < 6 || parts[0] != "arn" {
		return ""
	}
	switch parts[2] {
	case "sns", "sqs":
		return parts[2]
	case "events":
		if strings.HasPrefix(parts[5], "event-bus/") {
			return parts[2]
		}
	}
	return ""
}

// AdaptMode says what the controller of the retries does.
type AdaptMode string

// The modes of the controller.
const (
	AdaptOff    AdaptMode = ""        // there is none
	AdaptDryRun AdaptMode = "dry-run" // it decides and logs, and changes nothing
	AdaptOn     AdaptMode = "on"
)
