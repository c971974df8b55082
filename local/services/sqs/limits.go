package sqs

import (
	"encoding/json"
	"strconv"

	"stepback/local/services/sqs/queue"

	"stepback/aws"
)

// limits holds the attributes of a queue that affect its messages. Attributes that are not set have their defaults.
// Times are in milliseconds.
type limits struct {
	fifo, contentBased, perGroup bool

	delay, hidden, retention, wait int64
	messageBytes                   int
	redrive                        redrivePolicy
}

func limitsOf(attributes map[string]string) limits {
	number := func(name string) int64 {
		text, ok := attributes[name]
		if !ok {
			text = defaults[name]
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return 0 // was validated before
		}
		return n
	}
	l := limits{
		fifo: attributes[fifoQueue] == "true", contentBased: attributes[contentBased] == "true",
		perGroup: attributes[deduplicationScope] == "messageGroup",
		delay:    1000 * number(delaySeconds), hidden: 1000 * number(visibilityTimeout),
		retention: 1000 * number(retentionPeriod), wait: 1000 * number(receiveWait),
		messageBytes: int(number(maximumMessageSize)),
	}
	if text := attributes[redrivePolicyName]; text != "" {
		l.redrive, _ = parseRedrivePolicy(text) // was validated before
	}
	return l
}

func (l *limits) settings() queue.Settings {
	return queue.Settings{FIFO: l.fifo, Retention: l.retention, MaxReceives: l.redrive.maxReceives}
}

// redrivePolicy determines the queue to which messages are moved that have been received too often. The zero value
// means that no message is moved.
type redrivePolicy struct {
	target      string // an ARN
	maxReceives int
}

const mostReceives = 1000

func parseRedrivePolicy(text string) (redrivePolicy, error) {
	refuse := func(reason string) (redrivePolicy, error) {
		return redrivePolicy{}, invalidValue(text, redrivePolicyName, reason)
	}
	var policy map[string]any
	if err := json.Unmarshal([]byte(text), &policy); err != nil || policy == nil {
		return refuse("Redrive policy is not a valid JSON map.")
	}
	target, ok := policy["deadLetterTargetArn"].(string)
	if !ok || target == "" {
		return refuse("Redrive policy does not contain mandatory attribute: deadLetterTargetArn.")
	}
	if a, ok := aws.ParseARN(target); !ok || a.Service != "sqs" {
		return refuse("Invalid value for deadLetterTargetArn.")
	}
	var count float64
	var err error
	switch n := policy["maxReceiveCount"].(type) {
	case float64:
		count = n
	case string:
		count, err = strconv.ParseFloat(n, 64)
	case nil:
		return refuse("Redrive policy does not contain mandatory attribute: maxReceiveCount.")
	}
	if err != nil || count < 1 || count > mostReceives || count != float64(int(count)) {
		shown, _ := json.Marshal(policy["maxReceiveCount"])
		return refuse("Invalid value for maxReceiveCount: " + string(shown) +
			", valid values are from 1 to 1000 both inclusive.")
	}
	return redrivePolicy{target, int(count)}, nil
}

// redriveAllowPolicy determines which queues may use a queue as their dead-letter queue.
type redriveAllowPolicy struct {
	Permission string   `json:"redrivePermission"`
	Sources    []string `json:"sourceQueueArns"`
}

const mostSources = 10

func parseRedriveAllowPolicy(text string) (redriveAllowPolicy, error) {
	refuse := func(reason string) (redriveAllowPolicy, error) {
		return redriveAllowPolicy{}, invalidValue(text, redriveAllowName, reason)
	}
	var p redriveAllowPolicy
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return refuse("Redrive allow policy is not a valid JSON map.")
	}
	switch {
	case p.Permission == "byQueue" && len(p.Sources) == 0:
		return refuse("Redrive allow policy must have at least one sourceQueueArn when redrivePermission is set to byQueue.")
	case p.Permission == "byQueue" && len(p.Sources) > mostSources:
		return refuse("Redrive allow policy can have at most 10 sourceQueueArns.")
	case p.Permission == "byQueue":
	case p.Permission != "allowAll" && p.Permission != "denyAll":
		return refuse("Redrive allow policy does not contain a valid redrivePermission: allowAll, denyAll or byQueue.")
	case len(p.Sources) > 0:
		return refuse("Redrive allow policy can have sourceQueueArns only when redrivePermission is set to byQueue.")
	}
	return p, nil
}
