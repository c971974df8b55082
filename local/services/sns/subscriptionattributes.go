package sns

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/documents"
)

// The subscription attributes that can be set.
const (
	filterPolicy  = "FilterPolicy"
	filterScope   = "FilterPolicyScope"
	rawDelivery   = "RawMessageDelivery"
	redrivePolicy = "RedrivePolicy"
	replayPolicy  = "ReplayPolicy"
	firehoseRole  = "SubscriptionRoleArn"
)

// The scopes of filter policies.
const (
	scopeAttributes = "MessageAttributes"
	scopeBody       = "MessageBody"
)

// parseRedrivePolicy returns the ARN of the dead-letter queue.
func parseRedrivePolicy(text, where string) (aws.ARN, error) {
	var p struct {
		Target string `json:"deadLetterTargetArn"`
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return aws.ARN{}, invalid("%sRedrivePolicy: failed to parse JSON. %s", where, jsonReason(text))
	}
	a, ok := aws.ParseARN(p.Target)
	if !ok || a.Service != protocolSQS {
		return aws.ARN{}, invalid("%sRedrivePolicy: deadLetterTargetArn is an invalid arn", where)
	}
	return a, nil
}

// checkSubscriptionAttribute validates the value of an attribute and returns the value to store. Error messages start
// with where.
func checkSubscriptionAttribute(name, value, topic, protocol, endpoint, where string) (string, error) {
	switch name {
	case rawDelivery:
		lower := strings.ToLower(value)
		switch {
		case lower != isTrue && lower != isFalse:
			return "", invalid("%sRawMessageDelivery: Invalid value [%s]. Must be true or false.", where, value)
		case lower == isTrue && protocol != protocolSQS && protocol != "http" && protocol != "https":
			return "", invalid("%sDelivery protocol [%s] does not support raw message delivery.", where, protocol)
		}
		return lower, nil
	case filterScope:
		if value != scopeAttributes && value != scopeBody {
			return "", invalid("%sFilterPolicyScope: Invalid value [%s]. Please use either MessageBody or "+
				"MessageAttributes", where, value)
		}
	case redrivePolicy:
		if value == "" {
			return "", nil
		}
		letters, err := parseRedrivePolicy(value, where)
		if err != nil {
			return "", err
		}
		if strings.HasSuffix(topic, ".fifo") && strings.HasSuffix(endpoint, ".fifo") &&
			!strings.HasSuffix(letters.Resource, ".fifo") {
			return "", invalid("%sRedrivePolicy: must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.",
				where)
		}
	case deliveryPolicy:
		_, err := parseSubscriptionPolicy(value, where)
		return value, err
	case filterPolicy: // checked together with its scope
	case replayPolicy:
		return "", notServed("Archives of messages (ArchivePolicy, ReplayPolicy) are not served here.")
	case firehoseRole:
		return "", notServed("Subscriptions of Firehose streams (SubscriptionRoleArn) are not served here.")
	default:
		return "", invalid("%sAttributeName", where)
	}
	return value, nil
}

// checkSubscriptionAttributes validates the attributes of a new subscription and returns the values to store.
func checkSubscriptionAttributes(given map[string]string, topic, protocol, endpoint string) (map[string]string, error) {
	const where = "Attributes Reason: "
	made := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value, err := checkSubscriptionAttribute(name, given[name], topic, protocol, endpoint, where)
		if err != nil {
			return nil, err
		}
		if value != "" {
			made[name] = value
		}
	}
	_, err := newFilter(made[filterPolicy], made[filterScope], where)
	return made, err
}

func (s *Service) getSubscriptionAttributes(_ context.Context, scope aws.Scope, in *subscriptionName) (*attributesAnswer,
	error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	sub, err := s.findSubscription(scope, in.ARN)
	if err != nil {
		return nil, err
	}
	text := func(b bool) string {
		if b {
			return isTrue
		}
		return isFalse
	}
	root := aws.Scope{Account: sub.Owner, Region: scope.Region}.GlobalARN("iam", "root")
	known := map[string]string{
		"ConfirmationWasAuthenticated": text(sub.Authenticated), "Endpoint": sub.Endpoint, "Owner": sub.Owner,
		"PendingConfirmation": text(sub.Pending), "Protocol": sub.Protocol, rawDelivery: isFalse,
		"SubscriptionArn": sub.ARN, "SubscriptionPrincipal": cmp.Or(sub.Principal, root), "TopicArn": sub.Topic,
	}
	maps.Copy(known, sub.Attributes)
	if known[filterPolicy] == "" {
		delete(known, filterScope)
	} else if known[filterScope] == "" {
		known[filterScope] = scopeAttributes
	}
	if t := s.topics[sub.Topic]; t != nil && (sub.Protocol == protocolHTTP || sub.Protocol == protocolHTTPS) {
		of := termsOf(t.Attributes[deliveryPolicy], sub.Attributes[deliveryPolicy])
		known[effective] = of.effectiveOfSubscription()
	}
	return &attributesAnswer{known}, nil
}

// findSubscription returns the subscription with an ARN. mu is held.
func (s *Service) findSubscription(scope aws.Scope, arn string) (*subscription, error) {
	a, err := parseARN("SubscriptionArn", arn)
	if err != nil {
		return nil, err
	}
	sub := s.subscriptions[arn]
	switch {
	case a.Region != scope.Region:
		return nil, invalid("SubscriptionArn")
	case sub == nil:
		return nil, errNoSubscription
	}
	return sub, nil
}

type setSubscriptionRequest struct {
	subscriptionName
	Name  string `json:"AttributeName"`
	Value string `json:"AttributeValue"`
}

func (s *Service) setSubscriptionAttributes(_ context.Context, scope aws.Scope, in *setSubscriptionRequest) (*none,
	error) {
	s.mu.RLock()
	_, err := s.findSubscription(scope, in.ARN)
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return &none{}, s.change(func(_ int64, b *documents.Batch) error {
		sub, err := s.findSubscription(scope, in.ARN)
		if err != nil {
			return err
		}
		value, err := checkSubscriptionAttribute(in.Name, in.Value, sub.Topic, sub.Protocol, sub.Endpoint, "")
		if err != nil {
			return err
		}
		r := sub.subscriptionRecord
		if r.Attributes = maps.Clone(r.Attributes); r.Attributes == nil {
			r.Attributes = map[string]string{}
		}
		if r.Attributes[in.Name] = value; value == "" {
			delete(r.Attributes, in.Name)
		}
		if in.Name == filterPolicy || in.Name == filterScope {
			if _, err := newFilter(r.Attributes[filterPolicy], r.Attributes[filterScope], ""); err != nil {
				return err
			}
		}
		return s.keepSubscription(b, r)
	})
}
