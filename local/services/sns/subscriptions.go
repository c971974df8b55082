package sns

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/sorting"
	"stepback/local/services/documents"
)

// The protocols of subscriptions that are served.
const (
	protocolSQS       = "sqs"
	protocolLambda    = "lambda"
	protocolHTTP      = "http"
	protocolHTTPS     = "https"
	protocolEmail     = "email"
	protocolEmailJSON = "email-json"
)

// unserved are the protocols of SNS that are refused by name.
var unserved = []string{"sms", "application", "firehose"}

// subscriptionRecord is what is kept of a subscription.
type subscriptionRecord struct {
	ARN, Topic, Protocol, Endpoint, Owner string
	Attributes                            map[string]string `json:",omitempty"` // as they were given
	Pending                               bool              `json:",omitempty"` // it is not confirmed
	Authenticated                         bool              `json:",omitempty"` // the one who confirmed it was
	Locked                                bool              `json:",omitempty"` // only its owner may unsubscribe
	Token                                 string            `json:",omitempty"`
	Created                               int64             // milliseconds since 1970
}

// subscription is a subscription with what its attributes say. It does not change.
type subscription struct {
	subscriptionRecord
	filter  filter
	raw     bool
	target  aws.ARN // of SQS queues
	letters aws.ARN // of the dead-letter queue; the zero value means none
}

// newSubscription makes a subscription of a record.
func newSubscription(r subscriptionRecord) (*subscription, error) {
	sub := &subscription{subscriptionRecord: r, raw: r.Attributes[rawDelivery] == isTrue}
	var err error
	if sub.filter, err = newFilter(r.Attributes[filterPolicy], r.Attributes[filterScope], ""); err != nil {
		return nil, err
	}
	if text := r.Attributes[redrivePolicy]; text != "" {
		if sub.letters, err = parseRedrivePolicy(text, ""); err != nil {
			return nil, err
		}
	}
	sub.target, _ = aws.ParseARN(r.Endpoint) // the zero value for those that are none
	return sub, nil
}

// addSubscription puts a subscription of a record in place.
func (s *Service) addSubscription(r subscriptionRecord) error {
	sub, err := newSubscription(r)
	if err != nil {
		return err
	}
	s.subscriptions[r.ARN] = sub
	t := s.topics[r.Topic]
	if t == nil {
		return nil
	}
	list := slices.DeleteFunc(slices.Clone(t.subscriptions), func(o *subscription) bool { return o.ARN == r.ARN })
	list = append(list, sub)
	sorting.Stable(list, func(a, b *subscription) int {
		if a.Created != b.Created {
			return int(min(1, max(-1, a.Created-b.Created)))
		}
		return strings.Compare(a.ARN, b.ARN)
	})
	t.subscriptions = list
	return nil
}

// keepSubscription replaces a subscription, in place and in the store.
func (s *Service) keepSubscription(b *documents.Batch, r subscriptionRecord) error {
	if err := s.addSubscription(r); err != nil {
		return err
	}
	return s.put(b, keySubscription+r.ARN, r)
}

// removeSubscription removes a subscription. mu is held.
func (s *Service) removeSubscription(b *documents.Batch, sub *subscription) error {
	delete(s.subscriptions, sub.ARN)
	b.Delete(s.table, keySubscription+sub.ARN)
	t := s.topics[sub.Topic]
	if t == nil {
		return nil
	}
	t.subscriptions = slices.DeleteFunc(slices.Clone(t.subscriptions), func(o *subscription) bool {
		return o.ARN == sub.ARN
	})
	t.Deleted++
	return s.keepTopic(b, t)
}

type subscribeRequest struct {
	topicName
	Protocol   string
	Endpoint   string
	Attributes map[string]string
	Return     bool `json:"ReturnSubscriptionArn"`
}

type subscriptionName struct {
	ARN string `json:"SubscriptionArn"`
}

// notYet is what stands for the ARN of a subscription that is not confirmed, where it is made.
const notYet = "pending confirmation"

func (s *Service) subscribe(_ context.Context, scope aws.Scope, in *subscribeRequest) (*subscriptionName, error) {
	s.mu.RLock()
	t, err := s.find(scope, in.ARN)
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := in.check(t.fifo); err != nil {
		return nil, err
	}
	given, err := checkSubscriptionAttributes(in.Attributes, t.arn, in.Endpoint)
	if err != nil {
		return nil, err
	}
	r := subscriptionRecord{Topic: t.arn, ARN: t.arn + ":" + aws.NewID(), Protocol: in.Protocol,
		Endpoint: in.Endpoint, Owner: scope.Account, Attributes: given}
	var confirmation *delivered
	err = s.change(func(now int64, b *documents.Batch) error {
		t, err := s.find(scope, in.ARN)
		if err != nil {
			return err
		}
		for _, sub := range t.subscriptions {
			if sub.Protocol != r.Protocol || sub.Endpoint != r.Endpoint {
				continue
			}
			for name, value := range given {
				if sub.Attributes[name] != value {
					return invalid("Attributes Reason: Subscription already exists with different attributes")
				}
			}
			r = sub.subscriptionRecord
			b.Sync()
			return nil
		}
		r.Created = now
		if r.Pending = confirms(r.Protocol); r.Pending {
			r.Token = newToken()
			confirmation = s.confirmation(b, t, &r, now)
		} else {
			r.Authenticated = true
		}
		return s.keepSubscription(b, r)
	})
	if err != nil {
		return nil, err
	}
	s.courier.start(s, confirmation) //nolint:contextcheck // deliveries outlive the request
	if r.Pending && !in.Return {
		return &subscriptionName{notYet}, nil
	}
	return &subscriptionName{r.ARN}, nil
}

// confirms reports whether a protocol's endpoints have to confirm their subscriptions.
func confirms(protocol string) bool {
	return protocol == protocolHTTP || protocol == protocolHTTPS || protocol == protocolEmail ||
		protocol == protocolEmailJSON
}

// newToken makes the token of a confirmation: 288 hexadecimal digits, as AWS's have.
func newToken() string {
	var b [144]byte
	_, _ = rand.Read(b[:]) // cannot fail
	return hex.EncodeToString(b[:])
}

// check refuses what cannot be subscribed to a topic.
func (in *subscribeRequest) check(fifo bool) error {
	const where = "Invalid parameter: Endpoint Reason: "
	if in.Endpoint == "" {
		return &aws.Error{Code: "NotFound", Message: "Endpoint not specified in subscription", Status: 404}
	}
	if slices.Contains(unserved, in.Protocol) {
		return notServed("Subscriptions of the protocol %s are not served here; sqs, lambda, http, https, email and "+
			"email-json are.", in.Protocol)
	}
	if fifo && in.Protocol != protocolSQS {
		return invalid(where+"FIFO topics deliver to SQS queues only, not to the protocol %s", in.Protocol)
	}
	switch in.Protocol {
	case protocolSQS, protocolLambda:
		a, ok := aws.ParseARN(in.Endpoint)
		if !ok || a.Service != in.Protocol {
			return invalid("%s endpoint ARN", map[string]string{protocolSQS: "SQS", protocolLambda: "Lambda"}[in.Protocol])
		}
		if !fifo && in.Protocol == protocolSQS && strings.HasSuffix(in.Endpoint, ".fifo") {
			return invalid(where + "FIFO SQS Queues can not be subscribed to standard SNS topics")
		}
	case protocolHTTP, protocolHTTPS:
		u, err := url.Parse(in.Endpoint)
		if !strings.HasPrefix(in.Endpoint, in.Protocol+"://") {
			return invalid("Endpoint must match the specified protocol")
		}
		if err != nil || u.Host == "" {
			return invalid("Unparsable endpoint")
		}
	case protocolEmail, protocolEmailJSON:
		if name, host, ok := strings.Cut(in.Endpoint, "@"); !ok || name == "" || host == "" ||
			strings.ContainsAny(in.Endpoint, " \t\r\n") {
			return invalid("Email address")
		}
	default:
		return invalid("Amazon SNS does not support this protocol string: %s", in.Protocol)
	}
	return nil
}

// tokenLife is how long a subscription can be confirmed.
const tokenLife = 3 * 24 * time.Hour

type confirmRequest struct {
	topicName
	Token string
	Lock  string `json:"AuthenticateOnUnsubscribe"`
}

func (s *Service) confirmSubscription(_ context.Context, _ aws.Scope, in *confirmRequest) (*subscriptionName, error) {
	if _, ok := aws.ParseARN(in.ARN); !ok {
		return nil, invalid("Topic")
	}
	if len(in.Token) < 64 || strings.Trim(in.Token, "0123456789abcdef") != "" {
		return nil, &aws.Error{Code: "InvalidParameter", Message: "Invalid token"}
	}
	s.mu.RLock()
	sub := s.byToken(in)
	s.mu.RUnlock()
	if sub == nil {
		return nil, invalid("Token")
	}
	return &subscriptionName{sub.ARN}, s.change(func(now int64, b *documents.Batch) error {
		sub := s.byToken(in)
		switch {
		case sub == nil || sub.Pending && now-sub.Created > tokenLife.Milliseconds():
			return invalid("Token")
		case !sub.Pending:
			b.Sync()
			return nil
		}
		r := sub.subscriptionRecord
		r.Pending, r.Authenticated, r.Locked = false, true, in.Lock == isTrue
		return s.keepSubscription(b, r)
	})
}

// byToken finds the subscription of a token; nil when there is none. mu is held.
func (s *Service) byToken(in *confirmRequest) *subscription {
	t := s.topics[in.ARN]
	if t == nil {
		return nil
	}
	for _, sub := range t.subscriptions {
		if sub.Token == in.Token {
			return sub
		}
	}
	return nil
}

// unsubscribe ends a subscription; one that is not there is no error. Whoever reads an UnsubscribeURL need not sign.
func (s *Service) unsubscribe(_ context.Context, r *server.Request) (*server.Answer, error) {
	var in subscriptionName
	if err := server.Fill(&in, r.Input); err != nil {
		return nil, err
	}
	a, err := parseARN("SubscriptionArn", in.ARN)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(a.Resource, ":") {
		return nil, invalid("SubscriptionId")
	}
	s.mu.RLock()
	there := s.subscriptions[in.ARN] != nil
	s.mu.RUnlock()
	if !there {
		return &server.Answer{Output: none{}}, nil
	}
	var told *delivered
	err = s.change(func(now int64, b *documents.Batch) error {
		sub := s.subscriptions[in.ARN]
		if sub == nil {
			return nil
		}
		if sub.Locked && r.HTTP.Header.Get("Authorization") == "" {
			return &aws.Error{Code: "AuthorizationError", Status: 403, Message: "The subscription can be ended by its " +
				"owner only (AuthenticateOnUnsubscribe)"}
		}
		if t := s.topics[sub.Topic]; t != nil && !sub.Pending && (sub.Protocol == protocolHTTP ||
			sub.Protocol == protocolHTTPS) {
			told = s.farewell(b, t, sub, now)
		}
		return s.removeSubscription(b, sub)
	})
	if err != nil {
		return nil, err
	}
	s.courier.start(s, told) //nolint:contextcheck // deliveries outlive the request
	return &server.Answer{Output: none{}}, nil
}

type subscriptionEntry struct {
	ARN      string `json:"SubscriptionArn"`
	Owner    string
	Protocol string
	Endpoint string
	Topic    string `json:"TopicArn"`
}

type subscriptionEntries struct {
	Subscriptions []subscriptionEntry
	NextToken     string `json:",omitempty"`
}

type listRequest struct {
	topicName
	NextToken string
}

func (s *Service) listSubscriptions(_ context.Context, scope aws.Scope, in *listRequest) (*subscriptionEntries, error) {
	prefix := scope.ARN("sns", "")
	s.mu.RLock()
	all := slices.DeleteFunc(slices.Collect(maps.Values(s.subscriptions)), func(sub *subscription) bool {
		return !strings.HasPrefix(sub.ARN, prefix)
	})
	s.mu.RUnlock()
	return s.pageOf(all, in.NextToken, "ListSubscriptions", scope.Account, scope.Region)
}

func (s *Service) listSubscriptionsByTopic(_ context.Context, scope aws.Scope, in *listRequest) (*subscriptionEntries,
	error) {
	s.mu.RLock()
	t, err := s.find(scope, in.ARN)
	var all []*subscription
	if err == nil {
		all = slices.Clone(t.subscriptions)
	}
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return s.pageOf(all, in.NextToken, "ListSubscriptionsByTopic", in.ARN)
}

// pageOf answers a page of subscriptions.
func (s *Service) pageOf(all []*subscription, token string, words ...string) (*subscriptionEntries, error) {
	sorting.Func(all, func(a, b *subscription) int { return strings.Compare(a.ARN, b.ARN) })
	page, next, ok := aws.Page(aws.NewListing(s.clock.Now(), words...), token, pageSize, all,
		func(sub *subscription) string { return sub.ARN })
	if !ok {
		return nil, invalid("NextToken")
	}
	out := &subscriptionEntries{Subscriptions: make([]subscriptionEntry, len(page)), NextToken: next}
	for i, sub := range page {
		arn := sub.ARN
		if sub.Pending {
			arn = "PendingConfirmation"
		}
		out.Subscriptions[i] = subscriptionEntry{arn, sub.Owner, sub.Protocol, sub.Endpoint, sub.Topic}
	}
	return out, nil
}
