package delivery

import (
	"context"

	"stepback/aws"
)

// Sender identifies the sender of a message, for authorization.
type Sender struct {
	// Service is the service that delivers, such as sns.amazonaws.com.
	Service string
	// Source is the ARN of the resource for which it delivers: a topic, a rule, a bucket, a function.
	Source string
	// Role is the ARN of the role with which the service acts. It is empty for a service without a role, which the
	// target's resource policy must allow.
	Role string `json:",omitempty"`
}

type senderKey struct{}

// From returns a context with which messages are delivered on behalf of a sender.
func From(ctx context.Context, s Sender) context.Context {
	return context.WithValue(ctx, senderKey{}, s)
}

// SenderOf returns the sender in a context. ok is false if the platform itself is the sender.
func SenderOf(ctx context.Context) (s Sender, ok bool) {
	s, ok = ctx.Value(senderKey{}).(Sender)
	return s, ok && s.Service != ""
}

// Judge returns an *aws.Error if a sender may not deliver to a resource.
type Judge func(ctx context.Context, s Sender, to aws.ARN) error

// Judged sets the judge of all deliveries that have a sender; nil allows all.
func (t *Targets) Judged(by Judge) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.judge = by
}

// Judging reports whether deliveries are authorized by a Judge.
func (t *Targets) Judging() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.judge != nil
}

// Allowed returns an error if the context's sender may not deliver to the resource of an ARN. Use it for deliveries
// that do not go through Deliver.
func (t *Targets) Allowed(ctx context.Context, arn string) error {
	s, ok := SenderOf(ctx)
	if !ok {
		return nil
	}
	return t.AllowedFor(ctx, s, arn)
}

// AllowedFor does the same as Allowed for a given sender, instead of the context's.
func (t *Targets) AllowedFor(ctx context.Context, s Sender, arn string) error {
	t.mu.RLock()
	judge := t.judge
	t.mu.RUnlock()
	if judge == nil || s.Service == "" {
		return nil
	}
	to, ok := aws.ParseARN(arn)
	if !ok {
		return nil // delivering itself reports the error
	}
	return judge(ctx, s, to)
}
