package sqs

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/local/services/sqs/store"
)

// The queue attributes that are accessed by name.
const (
	all                = "All"
	contentBased       = "ContentBasedDeduplication"
	deduplicationScope = "DeduplicationScope"
	delaySeconds       = "DelaySeconds"
	fifoQueue          = "FifoQueue"
	kmsKey             = "KmsMasterKeyId"
	kmsReuse           = "KmsDataKeyReusePeriodSeconds"
	managedSSE         = "SqsManagedSseEnabled"
	maximumMessageSize = "MaximumMessageSize"
	policyName         = "Policy"
	receiveWait        = "ReceiveMessageWaitTimeSeconds"
	redriveAllowName   = "RedriveAllowPolicy"
	redrivePolicyName  = "RedrivePolicy"
	retentionPeriod    = "MessageRetentionPeriod"
	throughputLimit    = "FifoThroughputLimit"
	visibilityTimeout  = "VisibilityTimeout"
)

// MaxMessageBytes is the maximum size of a message including its attributes, 1 MiB since August 2025. It is also
// the maximum total size of the messages in a batch.
const MaxMessageBytes = 1 << 20

// defaults holds the default values of attributes.
var defaults = map[string]string{
	delaySeconds: "0", maximumMessageSize: strconv.Itoa(MaxMessageBytes), retentionPeriod: "345600", receiveWait: "0",
	visibilityTimeout: "30", managedSSE: "true",
}

// fifoDefaults holds the defaults of attributes that only FIFO queues have.
var fifoDefaults = map[string]string{
	fifoQueue: "true", contentBased: "false", deduplicationScope: "queue", throughputLimit: "perQueue",
}

// form describes the valid values of an attribute: a number within a range, one of several words, or a value that
// check accepts.
type form struct {
	min, max int64
	words    []string
	check    func(string) error
	fifo     bool // for FIFO queues only
	emptied  bool // an empty value removes it
}

var (
	booleans = []string{"true", "false"}
	forms    = map[string]form{
		delaySeconds:       {max: mostDelay},
		maximumMessageSize: {min: 1024, max: MaxMessageBytes},
		retentionPeriod:    {min: 60, max: 1_209_600},
		receiveWait:        {max: mostWait},
		visibilityTimeout:  {max: mostHidden},
		kmsReuse:           {min: 60, max: 86_400},
		kmsKey:             {emptied: true, check: func(string) error { return nil }},
		managedSSE:         {words: booleans},
		fifoQueue:          {words: booleans[:1], fifo: true},
		contentBased:       {words: booleans, fifo: true},
		deduplicationScope: {words: []string{"queue", "messageGroup"}, fifo: true},
		throughputLimit:    {words: []string{"perQueue", "perMessageGroupId"}, fifo: true},
		policyName:         {emptied: true, check: checkPolicy},
		redrivePolicyName: {emptied: true, check: func(t string) error {
			_, err := parseRedrivePolicy(t)
			return err
		}},
		redriveAllowName: {emptied: true, check: func(t string) error {
			_, err := parseRedriveAllowPolicy(t)
			return err
		}},
	}
)

// The maximums of request parameters, in seconds.
const (
	mostDelay  = 900
	mostWait   = 20
	mostHidden = 43_200
)

func checkPolicy(text string) error {
	var policy map[string]any
	if json.Unmarshal([]byte(text), &policy) != nil {
		return attributeError(policyName)
	}
	return nil
}

func attributeError(name string) *aws.Error {
	return &aws.Error{Code: "InvalidAttributeValue", Message: "Invalid value for the parameter " + name + "."}
}

func unknownAttribute(name string) *aws.Error {
	return &aws.Error{Code: "InvalidAttributeName", Message: "Unknown Attribute " + name + "."}
}

// fifoOnly returns the error for an attribute of FIFO queues that was set for a standard queue.
func fifoOnly(name string) *aws.Error {
	if name != deduplicationScope && name != throughputLimit {
		return unknownAttribute(name)
	}
	return &aws.Error{Code: "InvalidAttributeName",
		Message: "You can specify the " + name + " only when FifoQueue is set to true."}
}

// normalized returns the attributes with booleans in lower case, in which queues store them; SQS accepts True, too.
func normalized(given map[string]string) map[string]string {
	made := maps.Clone(given)
	for name, value := range given {
		if words := forms[name].words; len(words) > 0 && words[0] == booleans[0] {
			made[name] = strings.ToLower(value)
		}
	}
	return made
}

// checkEncryption returns an error if both kinds of encryption are enabled at once.
func checkEncryption(given map[string]string) error {
	if given[kmsKey] != "" && given[managedSSE] == "true" {
		return &aws.Error{Code: "InvalidAttributeName", Message: "You can use one type of server-side encryption (SSE) at " +
			"one time. You can either enable KMS SSE or SQS SSE."}
	}
	return nil
}

// encrypted returns the attributes after a change of encryption. Enabling one kind of encryption disables the
// other.
func encrypted(made, given map[string]string) map[string]string {
	switch {
	case given[managedSSE] == "true":
		delete(made, kmsKey)
		delete(made, kmsReuse)
	case given[kmsKey] != "":
		made[managedSSE] = "false"
	}
	return made
}

// checkAttributes validates the attributes of a queue.
func checkAttributes(given map[string]string, fifo bool) error {
	if err := checkEncryption(given); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		f, ok := forms[name]
		if !ok {
			return unknownAttribute(name)
		}
		if f.fifo && !fifo {
			return fifoOnly(name)
		}
		value := given[name]
		if f.emptied && value == "" {
			continue
		}
		switch {
		case f.check != nil:
			if err := f.check(value); err != nil {
				return err
			}
		case f.words != nil:
			if !slices.Contains(f.words, value) {
				return attributeError(name)
			}
		default:
			if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < f.min || n > f.max {
				return attributeError(name)
			}
		}
	}
	return nil
}

// merged returns the old attributes, overridden by the given ones.
func merged(old, given map[string]string) map[string]string {
	made := maps.Clone(old)
	if made == nil {
		made = map[string]string{}
	}
	for name, value := range given {
		if made[name] = value; value == "" {
			delete(made, name)
		}
	}
	return made
}

// checkTogether validates attributes that depend on each other or on other queues. mu is held.
func (s *Service) checkTogether(arn string, attributes map[string]string) error {
	if attributes[throughputLimit] == "perMessageGroupId" && attributes[deduplicationScope] != "messageGroup" {
		return attributeError(throughputLimit)
	}
	text := attributes[redrivePolicyName]
	if text == "" {
		return nil
	}
	policy, err := parseRedrivePolicy(text)
	if err != nil {
		return err
	}
	target := s.byARN(policy.target)
	own, _ := aws.ParseARN(arn)
	switch {
	case target == nil || target.scope() != own.Scope():
		return invalidValue(text, redrivePolicyName, "Dead letter target does not exist.")
	case target.limits.fifo != (attributes[fifoQueue] == "true"):
		return invalidValue(text, redrivePolicyName, "Dead-letter queue must be same type of queue as the source.")
	}
	allowed := redriveAllowPolicy{Permission: "allowAll"}
	if text := target.Attributes[redriveAllowName]; text != "" {
		if allowed, err = parseRedriveAllowPolicy(text); err != nil {
			return err
		}
	}
	if allowed.Permission == "denyAll" || allowed.Permission == "byQueue" && !slices.Contains(allowed.Sources, arn) {
		return invalidValue(text, redrivePolicyName,
			"The dead-letter queue's redrive allow policy does not let this queue use it.")
	}
	return nil
}

type attributesRequest struct {
	queueRequest
	Names []string `json:"AttributeNames"`
}

type attributesAnswer struct {
	Attributes map[string]string `json:",omitempty"`
}

func (s *Service) getQueueAttributes(_ context.Context, scope aws.Scope, in *attributesRequest) (*attributesAnswer,
	error) {
	known := map[string]string{}
	if err := s.on(scope, in.URL, func(now int64, _ *store.Batch, q *live) error {
		known = q.known(now)
		return nil
	}); err != nil {
		return nil, err
	}
	if slices.Contains(in.Names, all) {
		return &attributesAnswer{known}, nil
	}
	asked := map[string]string{}
	for _, name := range in.Names {
		value, ok := known[name]
		if _, settable := forms[name]; !ok && !settable {
			return nil, unknownAttribute(name)
		}
		if ok {
			asked[name] = value
		}
	}
	return &attributesAnswer{asked}, nil
}

// known returns all attributes of a queue, including those with their default values.
func (q *live) known(now int64) map[string]string {
	known := maps.Clone(defaults)
	if q.limits.fifo {
		maps.Copy(known, fifoDefaults)
	}
	if q.Attributes[kmsKey] != "" {
		known[managedSSE], known[kmsReuse] = "false", "300"
	}
	maps.Copy(known, q.Attributes)
	counts := q.queue.Counts(now)
	known["QueueArn"] = q.arn
	known["CreatedTimestamp"] = strconv.FormatInt(q.Created/1000, 10)
	known["LastModifiedTimestamp"] = strconv.FormatInt(q.Modified/1000, 10)
	known["ApproximateNumberOfMessages"] = strconv.Itoa(counts.Visible)
	known["ApproximateNumberOfMessagesNotVisible"] = strconv.Itoa(counts.InFlight)
	known["ApproximateNumberOfMessagesDelayed"] = strconv.Itoa(counts.Delayed)
	return known
}

type setRequest struct {
	queueRequest
	Attributes map[string]string
}

func (s *Service) setQueueAttributes(_ context.Context, scope aws.Scope, in *setRequest) (*none, error) {
	in.Attributes = normalized(in.Attributes)
	return &none{}, s.on(scope, in.URL, func(now int64, b *store.Batch, q *live) error {
		if value, ok := in.Attributes[fifoQueue]; ok && q.limits.fifo && value != "true" {
			return &aws.Error{Code: "InvalidAttributeValue", Message: "Invalid value for the parameter FifoQueue. Reason: " +
				"Modifying queue type is not supported."}
		}
		if err := checkAttributes(in.Attributes, q.limits.fifo); err != nil {
			return err
		}
		made := encrypted(merged(q.Attributes, in.Attributes), in.Attributes)
		if err := s.checkTogether(q.arn, made); err != nil {
			return err
		}
		q.Attributes, q.Modified = made, now
		q.limits = limitsOf(made)
		q.queue.Set(q.limits.settings())
		s.wake(q, 1)
		return s.keep(b, q)
	})
}
