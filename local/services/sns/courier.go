package sns

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/local/services/delivery"
	"stepback/local/services/documents"
	"stepback/local/services/lanes"
	"stepback/local/services/sns/backoff"
)

// deliveryRecord is a pending delivery as it is stored.
type deliveryRecord struct {
	Message      *message
	Subscription string              // ARN
	Ended        *subscriptionRecord `json:",omitempty"` // set if the subscription no longer exists
	Failures     int                 `json:",omitempty"`
	Due          int64               // milliseconds since 1970
}

// delivered is a pending delivery.
type delivered struct {
	deliveryRecord
	number uint64
	size   int64 // bytes of the stored record
}

// turn is a delivery whose turn it is. delivery is nil if it has to be read from the store.
type turn struct {
	number   uint64
	delivery *delivered
}

// courier performs deliveries, several at a time for each subscription.
type courier struct {
	lanes lanes.Lanes[turn] // by the ARN of the subscription

	mu   sync.Mutex
	free map[string]int64 // when a rate-limited subscription accepts the next message, by ARN
}

// patience is the time limit for an endpoint's response, in real time.
const patience = 15 * time.Second

func (s *Service) openCourier() {
	s.courier.lanes = lanes.New(lanes.Options[turn]{Clock: s.clock, Run: s.deliver,
		Waiting: func(t turn) turn { return turn{number: t.number} }})
}

// keepDelivery adds a new delivery to a batch. The error is an *aws.Error if too many deliveries wait. forget takes
// back a delivery whose batch is not applied.
func (s *Service) keepDelivery(b *documents.Batch, r deliveryRecord) (*delivered, error) {
	s.mu.Lock()
	n := s.number(b)
	s.mu.Unlock()
	d := &delivered{deliveryRecord: r, number: n}
	err := s.putDelivery(b, d)
	if err == nil {
		err = s.courier.lanes.Reserve(d.Subscription, d.size)
	}
	if full, ok := errors.AsType[*lanes.FullError](err); ok {
		err = &aws.Error{Code: "Throttled", Status: http.StatusTooManyRequests,
			Message: "Too many messages wait to be delivered: " + full.Error() + "."}
	}
	return d, err
}

// putDelivery adds a delivery to a batch.
func (s *Service) putDelivery(b *documents.Batch, d *delivered) error {
	text, err := json.Marshal(d.deliveryRecord)
	if err == nil {
		d.size = int64(len(text))
		b.Put(s.table, numbered(keyDelivery, d.number), text)
	}
	return err
}

// forget ends the reservations of deliveries. nil elements are skipped.
func (s *Service) forget(list ...*delivered) {
	for _, d := range list {
		if d == nil {
			continue
		}
		s.courier.lanes.Forget(d.Subscription, d.size)
	}
}

// readDelivery decodes a stored delivery.
func readDelivery(number uint64, text []byte) (*delivered, error) {
	d := &delivered{number: number, size: int64(len(text))}
	err := json.Unmarshal(text, &d.deliveryRecord)
	if err == nil {
		d.Message.shared = true
	}
	return d, err
}

// loadDeliveries resumes the stored deliveries.
func (s *Service) loadDeliveries() error {
	return s.table.Scan(keyDelivery, func(key string, text []byte) error {
		n, err := strconv.ParseUint(strings.TrimPrefix(key, keyDelivery), 10, 64)
		if err != nil {
			return err
		}
		d, err := readDelivery(n, text)
		if err == nil {
			s.courier.lanes.Restore(d.Subscription, d.size)
			s.courier.start(s, d)
		}
		return err
	})
}

// start schedules deliveries at the times when they are due. nil elements are skipped.
func (c *courier) start(s *Service, list ...*delivered) {
	for _, d := range list {
		if d == nil {
			continue
		}
		if at := time.UnixMilli(d.Due); at.After(s.clock.Now()) {
			c.lanes.At(d.Subscription, at, turn{d.number, d})
		} else {
			c.lanes.Ready(d.Subscription, turn{d.number, d})
		}
	}
}

// deliver makes an attempt at a delivery in its turn.
func (s *Service) deliver(ctx context.Context, t turn) {
	d := t.delivery
	if d == nil {
		text, found, err := s.table.Get(numbered(keyDelivery, t.number))
		if err == nil && found {
			d, err = readDelivery(t.number, text)
		}
		if err != nil {
			s.opts.Log.Error("a delivery cannot be read", "number", t.number, "error", err)
		}
		if err != nil || !found {
			return
		}
	}
	s.attempt(ctx, d)
}

// nextSlot returns the time at which a rate-limited subscription may receive a message that is ready now.
func (c *courier) nextSlot(arn string, now int64, rate int) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.free == nil {
		c.free = map[string]int64{}
	}
	at := max(now, c.free[arn])
	if at == now {
		c.free[arn] = now + int64(max(1, 1000/rate))
	}
	return at
}

// attempt makes one attempt at a delivery.
func (s *Service) attempt(life context.Context, d *delivered) {
	s.mu.RLock()
	sub := s.subscriptions[d.Subscription]
	policy := backoff.Managed
	var of terms
	if d.Ended != nil {
		sub = &subscription{subscriptionRecord: *d.Ended}
	}
	if sub != nil && sub.Protocol != protocolLambda {
		topicText := ""
		if t := s.topics[sub.Topic]; t != nil {
			topicText = t.Attributes[deliveryPolicy]
		}
		of = termsOf(topicText, sub.Attributes[deliveryPolicy])
		policy = of.retry
	}
	s.mu.RUnlock()
	if sub == nil { // the subscription no longer exists
		s.settle(d)
		return
	}
	now := s.clock.Now().UnixMilli()
	if of.rate > 0 {
		if at := s.courier.nextSlot(sub.ARN, now, of.rate); at > now {
			d.Due = at
			s.courier.start(s, d)
			return
		}
	}
	ctx, cancel := context.WithTimeout(life, patience)
	err := s.carry(ctx, d.Message, sub, of)
	cancel()
	if life.Err() != nil {
		return // it resumes when the service is opened again
	}
	notifies := 0 // a confirmation request does not count as a notification
	if d.Message.Type == typeNotification {
		notifies = 1
	}
	if err == nil {
		s.count(sub.Topic, numberDelivered, 1, notifies)
		s.settle(d)
		return
	}
	d.Failures++
	wait, again := policy.Delay(d.Failures)
	if byClient(err) || !again {
		s.opts.Log.Warn("a message was not delivered", "subscription", sub.ARN, "endpoint", sub.Endpoint,
			"attempts", d.Failures, "error", err)
		if err := s.sendToDeadLetterQueue(d, sub); err == nil {
			s.count(sub.Topic, numberFailed, 1, notifies)
			s.settle(d)
			return
		}
		wait = policy.Max // the queues cannot be written to
	}
	d.Due = s.clock.Now().Add(wait).UnixMilli()
	if s.keep(d) == nil {
		s.courier.start(s, d)
	}
}

// carry delivers a message to the endpoint of a subscription.
func (s *Service) carry(ctx context.Context, m *message, sub *subscription, of terms) error {
	if sub.Protocol != protocolLambda {
		return s.post(ctx, m, sub, of)
	}
	if s.opts.Targets == nil {
		return invalid("nothing takes messages for functions here")
	}
	event, err := s.functionEvent(m, sub)
	if err != nil {
		return err
	}
	ctx = delivery.From(ctx, delivery.Sender{Service: sender, Source: sub.Topic})
	return s.opts.Targets.Deliver(ctx, sub.Endpoint, &delivery.Message{Body: event, TraceHeader: m.Trace})
}

// sendToDeadLetterQueue sends an undeliverable message to the subscription's dead-letter queue, if it has one.
func (s *Service) sendToDeadLetterQueue(d *delivered, sub *subscription) error {
	if sub.letters == (aws.ARN{}) || d.Message.Type != typeNotification {
		return nil
	}
	l, err := s.letter(d.Message, sub, sub.letters)
	if err != nil {
		return err
	}
	return s.bury(sub.Topic, []delivery.Letter{l})
}

// settle removes a finished delivery from the store.
func (s *Service) settle(d *delivered) {
	b, err := s.opts.Store.Begin()
	if err == nil {
		b.Delete(s.table, numbered(keyDelivery, d.number))
		err = b.Apply()()
	}
	if err != nil {
		s.opts.Log.Error("a delivery is made again when the directory is opened", "subscription", d.Subscription,
			"error", err)
		return
	}
	s.forget(d)
}

// keep stores a delivery with the time of its next attempt.
func (s *Service) keep(d *delivered) error {
	reserved := d.size
	b, err := s.opts.Store.Begin()
	if err == nil {
		if err = s.putDelivery(b, d); err == nil {
			err = b.Apply()()
		}
	}
	if err == nil {
		s.courier.lanes.Resize(d.Subscription, reserved, d.size)
	}
	if err != nil {
		s.opts.Log.Error("a delivery goes on when the directory is opened", "subscription", d.Subscription, "error", err)
	}
	return err
}

// newControlMessage creates the delivery of a message about the subscription itself, such as its confirmation.
// mu is held.
func (s *Service) newControlMessage(b *documents.Batch, t *topic, r *subscriptionRecord, kind, text string, now int64) *delivered {
	version := t.Attributes[signing]
	if version == "" {
		version = signedSHA1
	}
	m := &message{Type: kind, ID: aws.NewID(), Topic: t.arn, Body: text, Token: r.Token,
		Time: time.UnixMilli(now).UTC(), Signing: version, shared: true}
	if r.Protocol == protocolEmail || r.Protocol == protocolEmailJSON {
		sub := &subscription{subscriptionRecord: *r}
		if err := s.mailNumbered(b, m, sub, t.Attributes[displayName], s.number(b)); err != nil {
			s.opts.Log.Error("a mail was not written", "subscription", r.ARN, "error", err)
		}
		s.inbox.tell()
		return nil
	}
	d := &delivered{deliveryRecord: deliveryRecord{Message: m, Subscription: r.ARN, Due: now}, number: s.number(b)}
	if kind == typeUnsubscribing {
		d.Ended = r
	}
	if err := s.putDelivery(b, d); err != nil {
		s.opts.Log.Error("a message was not written", "subscription", r.ARN, "error", err)
	}
	s.courier.lanes.Restore(d.Subscription, d.size)
	return d
}

// confirmation creates the message that asks an endpoint to confirm its subscription. mu is held.
func (s *Service) confirmation(b *documents.Batch, t *topic, r *subscriptionRecord, now int64) *delivered {
	return s.newControlMessage(b, t, r, typeConfirmation, "You have chosen to subscribe to the topic "+t.arn+
		".\nTo confirm the subscription, visit the SubscribeURL included in this message.", now)
}

// farewell creates the message that notifies an endpoint that its subscription has ended. mu is held.
func (s *Service) farewell(b *documents.Batch, t *topic, sub *subscription, now int64) *delivered {
	r := sub.subscriptionRecord
	return s.newControlMessage(b, t, &r, typeUnsubscribing, "You have chosen to deactivate subscription "+sub.ARN+
		".\nTo cancel this operation and restore the subscription, visit the SubscribeURL included in this message.", now)
}
