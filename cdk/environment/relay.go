package environment

import "strings"

// RelayToImports is the stack's own topic of import results, as a Relay's destination.
const RelayToImports = "imports"

// Relay defines where the messages that programs write to the database's outbox are sent. They are sent once a
// minute.
type Relay struct {
	// To is RelayToImports, or the ARN of an SNS topic, an SQS queue or an EventBridge event bus; empty means no
	// relay. For a webhook, subscribe it to a topic.
	To string
}

// Service returns the service that a relay sends to, as named in ARNs and endpoints: sns, sqs or events. It is empty
// without a relay, and for unsupported targets.
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
