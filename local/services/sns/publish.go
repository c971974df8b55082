package sns

import (
	"cmp"
	"context"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
)

// PublishInput describes a message to publish and its topic.
type PublishInput struct {
	TopicARN string
	Subject  string // may be empty; no line breaks or control characters
	Message  string // not empty, valid UTF-8
}

// Publish publishes a message to a topic in any region and returns its ID once the message can no longer be lost. The
// error is an *aws.Error (NotFound for an unknown topic, InvalidParameter for a message or subject that SNS would
// reject, InternalError if the disk fails) or ctx's.
func (s *Service) Publish(ctx context.Context, in PublishInput) (string, error) {
	m := &message{Type: typeNotification, Topic: in.TopicARN, Subject: in.Subject, Body: in.Message}
	err := s.publishAny(ctx, in.TopicARN, m)
	return m.ID, err
}

// Deliver publishes a message to the topic with an ARN; see delivery.Target. The error is an *aws.Error, as Publish
// returns it.
func (s *Service) Deliver(ctx context.Context, to aws.ARN, m *delivery.Message) error {
	made := &message{Type: typeNotification, Topic: to.String(), Subject: m.Subject, Body: m.Body, Group: m.Group,
		Deduplication: m.Deduplication, Trace: m.TraceHeader, ByProtocol: m.ByProtocol}
	for name, a := range m.Attributes {
		if made.Attributes == nil {
			made.Attributes = map[string]attribute{}
		}
		made.Attributes[name] = attribute{DataType: a.Type, StringValue: a.String, BinaryValue: a.Binary}
	}
	return s.publishAny(ctx, made.Topic, made)
}

// publishAny publishes a message from this process to a topic in any region.
func (s *Service) publishAny(ctx context.Context, topic string, m *message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	a, err := parseARN("TopicArn", topic)
	if err != nil {
		return err
	}
	err = s.publishTo(a.Scope(), topic, []*message{m})
	if e := failure(err); err != nil && e != nil {
		return e
	}
	return err
}

type publishRequest struct {
	Topic      string `json:"TopicArn"`
	Target     string `json:"TargetArn"`
	Phone      string `json:"PhoneNumber"`
	Subject    *string
	Message    string
	Structure  string               `json:"MessageStructure"`
	Attributes map[string]attribute `json:"MessageAttributes"`
	Duplicate  string               `json:"MessageDeduplicationId"`
	Group      string               `json:"MessageGroupId"`
}

type publishAnswer struct {
	ID       string `json:"MessageId"`
	Sequence string `json:"SequenceNumber,omitempty"`
}

func (s *Service) publish(ctx context.Context, scope aws.Scope, in *publishRequest) (*publishAnswer, error) {
	if in.Phone != "" {
		return s.text(in)
	}
	topic := cmp.Or(in.Topic, in.Target)
	if strings.Contains(in.Target, ":endpoint/") {
		return nil, invalid("TargetArn Reason: No endpoint found for the target arn specified")
	}
	m := &message{Type: typeNotification, Topic: topic, Body: in.Message, Attributes: in.Attributes,
		Group: in.Group, Deduplication: in.Duplicate, Trace: traceOf(ctx)}
	if in.Subject != nil {
		if m.Subject = *in.Subject; m.Subject == "" {
			return nil, invalid("Subject")
		}
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := m.structured(in.Structure); err != nil {
		return nil, err
	}
	if err := s.publishTo(scope, topic, []*message{m}); err != nil {
		return nil, err
	}
	return &publishAnswer{m.ID, m.Sequence}, nil
}

// text writes a message to a phone number to the inbox.
func (s *Service) text(in *publishRequest) (*publishAnswer, error) {
	if in.Topic != "" || in.Target != "" {
		return nil, invalid("Only one of TopicArn, TargetArn and PhoneNumber can be specified")
	}
	if !phone.MatchString(in.Phone) {
		return nil, invalid("PhoneNumber Reason: %s is not valid to publish to", in.Phone)
	}
	m := &message{Type: typeNotification, ID: aws.NewID(), Body: in.Message, Attributes: in.Attributes,
		Time: s.clock.Now()}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := m.structured(in.Structure); err != nil {
		return nil, err
	}
	b, err := s.opts.Store.Begin()
	if err != nil {
		return nil, err
	}
	to := &subscription{subscriptionRecord: subscriptionRecord{Protocol: protocolSMS, Endpoint: in.Phone}}
	err = s.mail(b, m, to, "")
	if e := b.Apply()(); err == nil {
		err = e
	}
	s.inbox.tell()
	return &publishAnswer{ID: m.ID}, err
}

// traceOf returns the trace header of the request; empty means none.
func traceOf(ctx context.Context) string {
	if trace, ok := aws.TraceOf(ctx); ok {
		return trace.String()
	}
	return ""
}

// publication holds what the messages of a publish request share.
type publication struct {
	messages      []*message
	subscriptions []*subscription
	display       string // the topic's DisplayName
	perGroup      bool   // deduplicates per message group
}

// publishTo publishes messages to a topic. It returns once the queues have them and the remaining deliveries are on
// disk.
func (s *Service) publishTo(scope aws.Scope, arn string, messages []*message) error {
	s.mu.RLock()
	t, err := s.find(scope, arn)
	if err != nil {
		s.mu.RUnlock()
		return err
	}
	attributes := t.Attributes
	plan := &publication{messages: messages, subscriptions: t.subscriptions, display: attributes[displayName],
		perGroup: attributes[fifoScope] == "MessageGroup"}
	fifo := t.fifo
	s.mu.RUnlock()
	now := s.clock.Now().Truncate(time.Millisecond)
	for _, m := range messages {
		if err := m.check(); err != nil {
			return err
		}
		if err := m.checkOrder(fifo, attributes[contentBased] == isTrue); err != nil {
			return err
		}
		m.ID, m.Topic, m.Time = aws.NewID(), arn, now
		if m.Signing = cmp.Or(attributes[signing], signedSHA1); fifo {
			m.Signing = "" // AWS does not sign them
		}
	}
	if fifo {
		err = s.publishInOrder(t, plan)
	} else {
		var b *documents.Batch
		if b, err = s.opts.Store.Begin(); err == nil {
			err = s.dispatch(b, plan, messages, false)
		}
	}
	if err == nil {
		s.counted(arn, messages)
	}
	return err
}

// addressed is a message for a queue with its subscription.
type addressed struct {
	message *message
	sub     *subscription
}

// dispatch delivers messages to queues, and adds the deliveries that are made later to the batch, which it applies. If
// queuesFirst is true, the batch contains changes by which a repeated request is recognized: then the queues have the
// messages on disk before any change of the batch is visible. A process that is killed in between does not know the
// request when it is repeated, and delivers again. Otherwise both are written at the same time.
func (s *Service) dispatch(b *documents.Batch, plan *publication, messages []*message, queuesFirst bool) (failure error) {
	if len(plan.subscriptions) == 0 {
		for _, m := range messages {
			if err := s.file.keep(m); err != nil {
				return internal("The message could not be kept and was not delivered", err)
			}
		}
		return b.Apply()()
	}
	var letters []delivery.Letter
	var whose []addressed
	var later []*delivered
	kept := false
	defer func() {
		if failure != nil && !kept {
			s.forget(later...)
		}
	}()
	mails, mailed, filtered := false, 0, 0
	for _, m := range messages {
		for _, sub := range plan.subscriptions {
			mail := sub.Protocol == protocolEmail || sub.Protocol == protocolEmailJSON || sub.Protocol == protocolSMS
			if sub.Pending && !mail {
				continue
			}
			if !sub.filter.lets(m) {
				filtered++
				continue
			}
			switch {
			case sub.Protocol == protocolSQS:
				l, err := s.letter(m, sub, sub.target)
				if err != nil {
					return err
				}
				letters, whose = append(letters, l), append(whose, addressed{m, sub})
			case mail:
				mails = true
				if !sub.Pending {
					mailed++
				}
				if err := s.mail(b, m, sub, plan.display); err != nil {
					return err
				}
			default:
				if !sub.raw { // sign once, before the deliveries share the message
					if _, err := s.signature(m, sub.Protocol); err != nil {
						return err
					}
				}
				d, err := s.keepDelivery(b, deliveryRecord{Message: m, Subscription: sub.ARN,
					Due: m.Time.UnixMilli()})
				if err != nil {
					return err
				}
				later = append(later, d)
			}
		}
		m.shared = true
	}
	stored, err := s.store(b, queuesFirst, func() error { return s.deliverAll(letters, whose) })
	if !stored {
		return err
	}
	kept = true
	topic := messages[0].Topic
	s.count(topic, numberFilteredOut, 1, filtered)
	s.count(topic, numberDelivered, 1, mailed)
	if mails {
		s.inbox.tell()
	}
	s.courier.start(s, later...)
	return err
}

// store applies a batch, and delivers to queues: before it if queuesFirst is true, and otherwise at the same time. It
// returns once both are on disk. stored reports whether the batch is, also if the delivery failed.
func (s *Service) store(b *documents.Batch, queuesFirst bool, deliver func() error) (stored bool, err error) {
	if queuesFirst {
		if err := deliver(); err != nil {
			return false, err
		}
		err = b.Apply()()
		return err == nil, err
	}
	wait := b.Apply()
	err = deliver()
	if e := wait(); e != nil {
		return false, e
	}
	return true, err
}

// sender is this service's principal name in policies.
const sender = "sns.amazonaws.com"

// letter returns the message for a queue.
func (s *Service) letter(m *message, sub *subscription, to aws.ARN) (delivery.Letter, error) {
	out := &delivery.Message{Group: m.Group, TraceHeader: m.Trace}
	from := delivery.Sender{Service: sender, Source: sub.Topic}
	switch {
	case strings.HasSuffix(to.Resource, ".fifo"):
		out.Deduplication = m.Deduplication
	case strings.HasSuffix(sub.Topic, ".fifo"):
		out.Group = "" // only standard topics set the group of messages in standard queues
	}
	var err error
	if !sub.raw {
		out.Body, err = s.envelope(m, sub)
		return delivery.Letter{To: to, Message: out, From: from}, err
	}
	out.Body = m.body(sub.Protocol)
	if len(m.Attributes) > 0 {
		out.Attributes = make(map[string]delivery.Attribute, len(m.Attributes))
		for name, a := range m.Attributes {
			out.Attributes[name] = delivery.Attribute{Type: a.DataType, String: a.StringValue, Binary: a.BinaryValue}
		}
	}
	return delivery.Letter{To: to, Message: out, From: from}, nil
}

// deliverAll delivers letters to queues. Letters that a queue rejects are sent to the subscription's dead-letter
// queue.
func (s *Service) deliverAll(letters []delivery.Letter, whose []addressed) error {
	if len(letters) == 0 {
		return nil
	}
	var dead []delivery.Letter
	delivered, failed := 0, 0
	for i, err := range s.opts.Queues.DeliverAll(letters) {
		if err == nil {
			delivered++
			continue
		}
		if !byClient(err) {
			return err
		}
		failed++
		sub := whose[i].sub
		s.opts.Log.Warn("a queue has not taken a message", "subscription", sub.ARN, "queue", sub.Endpoint, "error", err)
		if sub.letters != (aws.ARN{}) {
			l, err := s.letter(whose[i].message, sub, sub.letters)
			if err != nil {
				return err
			}
			dead = append(dead, l)
		}
	}
	topic := whose[0].sub.Topic
	s.count(topic, numberDelivered, 1, delivered)
	s.count(topic, numberFailed, 1, failed)
	return s.bury(topic, dead)
}

// bury sends messages of a topic to dead-letter queues. As on AWS, a message that its dead-letter queue rejects is
// lost.
func (s *Service) bury(topic string, dead []delivery.Letter) error {
	if len(dead) == 0 {
		return nil
	}
	lost := 0
	defer func() {
		s.count(topic, numberRedriven, 1, len(dead)-lost)
		s.count(topic, numberNotRedriven, 1, lost)
	}()
	for _, err := range s.opts.Queues.DeliverAll(dead) {
		if err != nil && !byClient(err) {
			lost = len(dead)
			return err
		}
		if err != nil {
			lost++
			s.opts.Log.Error("a dead-letter queue has not taken a message", "error", err)
		}
	}
	return nil
}
