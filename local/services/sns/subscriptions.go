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
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
)

// The supported subscription protocols.
const (
	protocolSQS       = "sqs"
	protocolLambda    = "lambda"
	protocolHTTP      = "http"
	protocolHTTPS     = "https"
	protocolEmail     = "email"
	protocolEmailJSON = "email-json"
	protocolSMS       = "sms"
)

// unserved lists the protocols of SNS that are refused by name.
var unserved = []string{"application", "firehose"}

// subscriptionRecord is a subscription as it is stored.
type subscriptionRecord struct {
	ARN, Topic, Protocol, Endpoint, Owner string
	Principal                             string            `json:",omitempty"` // ARN of the subscriber; empty: the account's root
	Attributes                            map[string]string `json:",omitempty"` // verbatim
	Pending                               bool              `json:",omitempty"` // not confirmed yet
	// the attribute ConfirmationWasAuthenticated
	Authenticated bool   `json:",omitempty"`
	Locked        bool   `json:",omitempty"` // only its owner may unsubscribe
	Token         string `json:",omitempty"`
	Created       int64  // milliseconds since 1970
}

// subscription is a subscription with its parsed attributes. It is immutable.
type subscription struct {
	subscriptionRecord
	filter  filter
	raw     bool
	target  aws.ARN // set for SQS queues
	letters aws.ARN // the dead-letter queue; the zero value means none
}

// newSubscription compiles a stored subscription.
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
	sub.target, _ = aws.ParseARN(r.Endpoint) // the zero value if the endpoint is not an ARN
	return sub, nil
}

// addSubscription compiles a stored subscription and adds it in memory.
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
	slices.SortStableFunc(list, func(a, b *subscription) int {
		if a.Created != b.Created {
			return int(min(1, max(-1, a.Created-b.Created)))
		}
		return strings.Compare(a.ARN, b.ARN)
	})
	t.subscriptions = list
	return nil
}

// keepSubscription replaces a subscription in memory and in the store.
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

// pendingARN is returned instead of the ARN of a new subscription that is not confirmed yet.
const pendingARN = "pending confirmation"

func (s *Service) subscribe(ctx context.Context, scope aws.Scope, in *subscribeRequest) (*subscriptionName, error) {
	s.mu.RLock()
	t, err := s.find(scope, in.ARN)
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := in.check(t.fifo); err != nil {
		return nil, err
	}
	given, err := checkSubscriptionAttributes(in.Attributes, t.arn, in.Protocol, in.Endpoint)
	if err != nil {
		return nil, err
	}
	r := subscriptionRecord{Topic: t.arn, ARN: t.arn + ":" + aws.NewID(), Protocol: in.Protocol,
		Endpoint: in.Endpoint, Owner: scope.Account, Attributes: given}
	if s.opts.Principal != nil {
		if r.Principal, err = s.opts.Principal(ctx, scope); err != nil {
			return nil, err
		}
	}
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
			if !sub.has(given) {
				return invalid("Attributes Reason: Subscription already exists with different attributes")
			}
			r = sub.subscriptionRecord
			b.Sync()
			return nil
		}
		r.Created = now
		if r.Pending = needsConfirmation(r.Protocol); r.Pending {
			r.Token = newToken()
			confirmation = s.confirmation(b, t, &r, now)
		} else {
			r.Authenticated = true
		}
		return s.keepSubscription(b, r)
	})
	if err != nil {
		s.forget(confirmation)
		return nil, err
	}
	s.courier.start(s, confirmation)
	if r.Pending && !in.Return {
		return &subscriptionName{pendingARN}, nil
	}
	return &subscriptionName{r.ARN}, nil
}

// has reports whether the subscription has the given attributes. One that was not set has its default.
func (r *subscriptionRecord) has(given map[string]string) bool {
	for name, value := range given {
		own, ok := r.Attributes[name]
		if !ok {
			own = map[string]string{rawDelivery: isFalse, filterScope: scopeAttributes}[name]
		}
		if own != value {
			return false
		}
	}
	return true
}

// needsConfirmation reports whether the endpoints of a protocol must confirm their subscriptions.
func needsConfirmation(protocol string) bool {
	return protocol == protocolHTTP || protocol == protocolHTTPS || protocol == protocolEmail ||
		protocol == protocolEmailJSON
}

// newToken returns a confirmation token: 288 hexadecimal digits, like those of AWS.
func newToken() string {
	var b [144]byte
	_, _ = rand.Read(b[:]) // cannot fail
	return hex.EncodeToString(b[:])
}

// phone matches phone numbers, with or without separators.
var phone = lazyregexp.New(`^\+?[0-9](?:[-. ]?[0-9]){7,14}$`)

// check returns an error if the endpoint cannot be subscribed to the topic.
func (in *subscribeRequest) check(fifo bool) error {
	const where = "Invalid parameter: Endpoint Reason: "
	if in.Endpoint == "" {
		return &aws.Error{Code: "NotFound", Message: "Endpoint not specified in subscription", Status: 404}
	}
	if slices.Contains(unserved, in.Protocol) {
		return notServed("Subscriptions of the protocol %s are not served here; sqs, lambda, http, https, email, "+
			"email-json and sms are.", in.Protocol)
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
	case protocolSMS:
		if !phone.MatchString(in.Endpoint) {
			return &aws.Error{Code: "InvalidParameter", Message: "Invalid SMS endpoint: " + in.Endpoint}
		}
	default:
		return invalid("Amazon SNS does not support this protocol string: %s", in.Protocol)
	}
	return nil
}

// tokenLife is the time for which a subscription can be confirmed.
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

// byToken returns the subscription with a confirmation token, or nil if there is none. mu is held.
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

// unsubscribe deletes a subscription. It succeeds if the subscription does not exist. A request through an
// UnsubscribeURL need not be signed.
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
		s.forget(told)
		return nil, err
	}
	s.courier.start(s, told)
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

// pageOf returns a page of subscriptions.
func (s *Service) pageOf(all []*subscription, token string, words ...string) (*subscriptionEntries, error) {
	slices.SortFunc(all, func(a, b *subscription) int { return strings.Compare(a.ARN, b.ARN) })
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
