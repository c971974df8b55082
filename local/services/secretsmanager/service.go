package secretsmanager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
)

// Secrets encrypts and decrypts values.
type Secrets interface {
	// Encrypt encrypts value under a key of the account, given by ID, ARN or alias, and returns text that Decrypt
	// understands. about identifies the owner of the value; Decrypt must be called with the same about.
	Encrypt(ctx context.Context, scope aws.Scope, key, about, value string) (string, error)
	Decrypt(ctx context.Context, scope aws.Scope, about, encrypted string) (string, error)
}

// Options are the settings of a Service. Documents, Clock and Secrets are required.
type Options struct {
	// Documents is the store that holds secrets, in the table secretsmanager.
	Documents *documents.Store
	// Clock provides the times of changes and deletions.
	Clock *clock.Clock
	// Secrets encrypts the values.
	Secrets Secrets
	// Invoke invokes a function and returns when it has ended; an error means that it failed. nil means that secrets
	// cannot be rotated.
	Invoke func(ctx context.Context, scope aws.Scope, function string, payload []byte) error
	// Invocable reports whether a function exists; nil means that this is not checked.
	Invocable func(scope aws.Scope, function string) bool
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Log receives refused requests and failed rotations; nil discards them.
	Log *slog.Logger
}

// Service is the embedded Secrets Manager. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table

	rotating sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc

	mu sync.Mutex // serializes changes
}

// New returns a Service over the data in o.Documents. Close stops its rotations.
func New(o Options) *Service {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{opts: o, table: o.Documents.Table("secretsmanager")}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close stops running rotations and waits for them.
func (s *Service) Close() error {
	s.stop()
	s.rotating.Wait()
	return nil
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "secretsmanager", ReservedTag: invalid("Tag keys can't start with aws:."), Operations: s.operations(), Partly: partly, Accepted: accepted, Failure: failure,
		Default: s.opts.Scope, Log: s.opts.Log,
	})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"CreateSecret":             server.Handle(s.createSecret),
		"DescribeSecret":           server.Handle(s.describeSecret),
		"UpdateSecret":             server.Handle(s.updateSecret),
		"DeleteSecret":             server.Handle(s.deleteSecret),
		"RestoreSecret":            server.Handle(s.restoreSecret),
		"ListSecrets":              server.Handle(s.listSecrets),
		"GetSecretValue":           server.Handle(s.getSecretValue),
		"BatchGetSecretValue":      server.Handle(s.batchGetSecretValue),
		"PutSecretValue":           server.Handle(s.putSecretValue),
		"ListSecretVersionIds":     server.Handle(s.listSecretVersionIDs),
		"UpdateSecretVersionStage": server.Handle(s.updateSecretVersionStage),
		"RotateSecret":             server.Handle(s.rotateSecret),
		"CancelRotateSecret":       server.Handle(s.cancelRotateSecret),
		"TagResource":              server.Handle(s.tagResource),
		"UntagResource":            server.Handle(s.untagResource),
		"PutResourcePolicy":        server.Handle(s.putResourcePolicy),
		"GetResourcePolicy":        server.Handle(s.getResourcePolicy),
		"DeleteResourcePolicy":     server.Handle(s.deleteResourcePolicy),
		"ValidateResourcePolicy":   server.Handle(s.validateResourcePolicy),
		"GetRandomPassword":        server.Handle(getRandomPassword),
	}
}

// none is the response of operations that return nothing.
type none struct{}

// secretRequest is a request that names a secret.
type secretRequest struct {
	Secret string `json:"SecretId"`
}

// secretIdentity is embedded in most responses: the secret's ARN and name.
type secretIdentity struct {
	ARN  string
	Name string
}

func (s *Service) now() time.Time { return s.opts.Clock.Now().UTC() }

func notFound(message string) *aws.Error {
	return &aws.Error{Code: "ResourceNotFoundException", Message: message}
}

func invalidRequest(message string) *aws.Error {
	return &aws.Error{Code: "InvalidRequestException", Message: message}
}

func invalid(message string) *aws.Error {
	return &aws.Error{Code: "InvalidParameterException", Message: message}
}

var errNoSecret = notFound("Secrets Manager can't find the specified secret.")

// failure converts errors of lower layers to errors for clients.
func failure(err error) *aws.Error {
	if errors.Is(err, documents.ErrBroken) || errors.Is(err, documents.ErrClosed) {
		return &aws.Error{Code: "InternalServiceError", Status: http.StatusInternalServerError,
			Message: "The secrets in the data directory cannot be read or written: " + err.Error()}
	}
	return nil
}

// change runs f and waits until its writes are on disk.
func (s *Service) change(f func(*documents.Batch) error) error {
	return s.opts.Documents.Change(&s.mu, f)
}

func (s *Service) keep(b *documents.Batch, x *secret) error {
	text, err := json.Marshal(x)
	if err == nil {
		b.Put(s.table, place(x.scope, x.Name), text)
	}
	return err
}

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{
	"PutSecretValue": {
		"RotationToken": "the caller is not checked",
	},
}
