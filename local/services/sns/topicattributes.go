package sns

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
)

// The topic attributes that are accessed by name.
const (
	archivePolicy  = "ArchivePolicy"
	contentBased   = "ContentBasedDeduplication"
	deliveryPolicy = "DeliveryPolicy"
	displayName    = "DisplayName"
	effective      = "EffectiveDeliveryPolicy"
	fifoScope      = "FifoThroughputScope"
	fifoTopic      = "FifoTopic"
	policyName     = "Policy"
	signing        = "SignatureVersion"
	tracing        = "TracingConfig"
)

const (
	isTrue  = "true"
	isFalse = "false"
)

// feedback matches the topic attributes that configure the logging of deliveries on AWS.
var feedback = lazyregexp.New(
	`^(?:HTTP|Lambda|SQS|Application|Firehose)(?:SuccessFeedbackRoleArn|FailureFeedbackRoleArn|SuccessFeedbackSampleRate)$`)

// checkTopicAttribute validates the value of a topic attribute. Error messages start with where.
func checkTopicAttribute(name, value string, fifo bool, where string) error {
	words := func(allowed ...string) error {
		if !slices.Contains(allowed, value) {
			return invalid("%s%s: Invalid value [%s]. Must be one of %s.", where, name, value,
				strings.Join(allowed, ", "))
		}
		return nil
	}
	switch name {
	case contentBased, fifoScope:
		if !fifo {
			return invalid("%s%s: only FIFO topics have this attribute", where, name)
		}
		if name == contentBased {
			return words(isTrue, isFalse)
		}
		return words("Topic", "MessageGroup")
	case fifoTopic, "KmsMasterKeyId":
		return nil
	case signing:
		return words("1", "2")
	case tracing:
		return words("Active", "PassThrough")
	case displayName:
		const most = 100
		if len([]rune(value)) > most || strings.ContainsAny(value, "\r\n") {
			return invalid("%sDisplayName", where)
		}
		return nil
	case policyName:
		var p policy
		if value != "" && json.Unmarshal([]byte(value), &p) != nil {
			return invalid("%sPolicy Error: null", where)
		}
		return nil
	case deliveryPolicy:
		_, err := parseTopicPolicy(value, where)
		return err
	case archivePolicy:
		return notServed("Archives of messages (ArchivePolicy, ReplayPolicy) are not served here.")
	}
	if feedback.MatchString(name) {
		if n, err := strconv.Atoi(value); strings.HasSuffix(name, "SampleRate") && (err != nil || n < 0 || n > 100) {
			return invalid("%s%s", where, name)
		}
		return nil
	}
	return invalid("%sAttributeName", where)
}

// defaultPolicy returns the policy that allows the owner everything.
func (t *topic) defaultPolicy() string {
	return `{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID",` +
		`"Effect":"Allow","Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes",` +
		`"SNS:AddPermission","SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic",` +
		`"SNS:Publish"],"Resource":"` + t.arn + `","Condition":{"StringEquals":{"AWS:SourceOwner":"` + t.Account +
		`"}}}]}`
}

// known returns all attributes of a topic, including those with their default values. mu is held.
func (t *topic) known() map[string]string {
	pending, confirmed := 0, 0
	for _, sub := range t.subscriptions {
		if sub.Pending {
			pending++
		} else {
			confirmed++
		}
	}
	known := map[string]string{
		"TopicArn": t.arn, "Owner": t.Account, displayName: "", policyName: t.defaultPolicy(),
		"SubscriptionsConfirmed": strconv.Itoa(confirmed), "SubscriptionsPending": strconv.Itoa(pending),
		"SubscriptionsDeleted": strconv.Itoa(t.Deleted),
	}
	if t.fifo {
		known[contentBased] = isFalse
	}
	maps.Copy(known, t.Attributes)
	p, err := parseTopicPolicy(t.Attributes[deliveryPolicy], "")
	if err == nil {
		known[effective] = p.effectiveOfTopic()
	}
	return known
}

type attributesAnswer struct {
	Attributes map[string]string
}

func (s *Service) getTopicAttributes(_ context.Context, scope aws.Scope, in *topicName) (*attributesAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	t, err := s.find(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	return &attributesAnswer{t.known()}, nil
}

type setTopicRequest struct {
	topicName
	Name  string `json:"AttributeName"`
	Value string `json:"AttributeValue"`
}

func (s *Service) setTopicAttributes(_ context.Context, scope aws.Scope, in *setTopicRequest) (*none, error) {
	return &none{}, s.onTopic(scope, in.ARN, func(_ int64, b *documents.Batch, t *topic) error {
		switch in.Name {
		case fifoTopic:
			return invalid("AttributeName")
		case contentBased:
			in.Value = strings.ToLower(in.Value)
		}
		if err := checkTopicAttribute(in.Name, in.Value, t.fifo, ""); err != nil {
			return err
		}
		t.set(in.Name, in.Value)
		return s.keepTopic(b, t)
	})
}

// set sets an attribute; an empty value removes it.
func (t *topic) set(name, value string) {
	made := maps.Clone(t.Attributes)
	if made == nil {
		made = map[string]string{}
	}
	if made[name] = value; value == "" {
		delete(made, name)
	}
	t.Attributes = made
}
