package delivery

import (
	"context"

	"stepback/aws"
)

// Sender is who delivers a message, for those who judge whether they may.
type Sender struct {
	// Service is the service that delivers: sns.amazonaws.com.
	Service string
	// Source is the ARN of what it delivers for: a topic, a rule, a bucket, a function.
	Source string
	// Role is the ARN of the role in which the service acts; empty for a service that acts by itself, which the policy
	// of the target has to allow.
	Role string `json:",omitempty"`
}

type senderKey struct{}

// From has what is delivered with a context be delivered by a sender.
func From(ctx context.Context, s Sender) context.Context {
	return context.WithValue(ctx, senderKey{}, s)
}

// SenderOf is who delivers with a context; not ok is the platform itself.
func SenderOf(ctx context.Context) (s Sender, ok bool) {
	s, ok = ctx.Value(senderKey{}).(Sender)
	return s, ok && s.Service != ""
}

// Judge refuses what a sender may not deliver to a resource. An error is an *aws.Error.
type Judge func(ctx context.Context, s Sender, to aws.ARN) error

// Judged has all deliveries of senders judged from now on; nil judges none.
func (t *Targets) Judged(by Judge) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.judge = by
}

// Judging reports whether deliveries are judged.
func (t *Targets) Judging() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.judge != nil
}

// Allowed refuses a delivery to the resource of an ARN that its sender may not make. It is for what is not delivered by
// Deliver.
func (t *Targets) Allowed(ctx context.Context, arn string) error {
	s, ok := SenderOf(ctx)
	if !ok {
		return nil
	}
	return t.AllowedFor(ctx, s, arn)
}

// AllowedFor is Allowed for a sender.
func (t *Targets) AllowedFor(ctx context.Context, s Sender, arn string) error {
	t.mu.RLock()
	judge := t.judge
	t.mu.RUnlock()
	if judge == nil || s.Service == "" {
		return nil
	}
	to, ok := aws.ParseARN(arn)
	if !ok {
		return nil // whoever delivers says so
	}
	return judge(ctx, s, to)
}
