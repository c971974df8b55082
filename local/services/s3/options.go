package s3

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"stepback/internal/objectevent"
	"stepback/local/services/delivery"
	"stepback/local/services/iam/policy"
	"stepback/local/services/inventory"
)

// Defaults of Options.
const (
	defaultAddr    = "127.0.0.1:0"
	DefaultRegion  = "us-east-1"
	defaultAccount = "000000000000"
)

// Options are the settings of a Server; the zero value is usable.
type Options struct {
	// Addr is the address that Start listens on; it must be a loopback address. The default takes a free port of
	// 127.0.0.1.
	Addr string
	// Region and Account appear in events and in the client's settings.
	Region, Account string
	// ObjectCreated, if set, is called with the event of each created object, after the object can be read and before
	// the request is answered. It may use the server. It runs in the request's goroutine, so it must pass longer work
	// to another goroutine. It is called from many goroutines.
	ObjectCreated func(objectevent.Event)
	// MustAnnounce reports whether ObjectCreated must be called for every new object of a bucket: if the process is
	// killed before, Resume calls it in the next one. Nil means that it need not.
	MustAnnounce func(bucket string) bool
	// Deliver delivers a bucket's notifications to the target that an ARN names, before the request that caused
	// them is answered. One that fails, and not by a mistake of the sender, is repeated by Resume of the next process.
	// If Deliver is nil, no notifications are sent.
	Deliver func(ctx context.Context, arn string, m *delivery.Message) error
	// Authorize returns an error if the identity policies of the signer of a request do not allow what the request
	// needs (access.OfS3). keys returns the condition keys of S3; it reads the object, so call it only if there are
	// policies. Bucket policies and ACLs are not Authorize's concern. Nil allows everything.
	Authorize func(r *http.Request, keys func() policy.Context) error
	// Enforces reports whether the policies of target buckets apply to access logs. Nil means that they do not.
	Enforces func() bool
	// Signer returns the user or role whose access key signed a request. Nil, or an empty ARN, stands for the root user
	// of the account.
	Signer func(*http.Request) (policy.Principal, error)
	// Secret returns the secret access key of an access key; known is false for keys whose signatures are not verified.
	// If it is nil, no signature is verified.
	Secret func(r *http.Request, key string) (secret string, known bool, err error)
	// Files is the inventory that the objects' descriptions are in; nil means none.
	Files *inventory.Files
	// Log receives notifications that cannot be delivered; nil discards them.
	Log *slog.Logger
	// Now returns the current time, for times of modification and retention; the default is time.Now. Whether a
	// signature has expired is decided by real time, as clients sign with theirs.
	Now func() time.Time
	// Sync makes each object durable (fsync) before it is acknowledged. Without it an object survives when the
	// process is killed, but not a power failure.
	Sync bool
}

func (o Options) withDefaults() Options {
	if o.Addr == "" {
		o.Addr = defaultAddr
	}
	if o.Region == "" {
		o.Region = DefaultRegion
	}
	if o.Account == "" {
		o.Account = defaultAccount
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}
