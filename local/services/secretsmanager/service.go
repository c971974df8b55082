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

// Secrets encrypts values.
type Secrets interface {
	// Encrypt makes a text of a value that Decrypt understands, under a key of the account: its ID, ARN or alias. about
	// is what the value belongs to, which Decrypt must be told again.
	Encrypt(ctx context.Context, scope aws.Scope, key, about, value string) (string, error)
	Decrypt(ctx context.Context, scope aws.Scope, about, encrypted string) (string, error)
}

// Options are the settings of a Service. Documents, Clock and Secrets are required.
type Options struct {
	// Documents is where secrets are kept, in the table secretsmanager.
	Documents *documents.Store
	// Clock says when secrets are changed and deleted.
	Clock *clock.Clock
	// Secrets encrypts the values.
	Secrets Secrets
	// Invoke calls a function and returns when that has ended; an error says that it failed. Nil means that secrets
	// cannot be rotated.
	Invoke func(ctx context.Context, scope aws.Scope, function string, payload []byte) error
	// Invocable reports whether there is such a function; nil means that nobody knows.
	Invocable func(scope aws.Scope, function string) bool
	// Scope is the account and region of requests that name none; empty means 000000000000 and us-east-1.
	Scope aws.Scope
	// Log receives refusals, and of rotations that fail; nil drops them.
	Log *slog.Logger
}

// Service is the Secrets Manager of the laptop. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table

	rotating sync.WaitGroup
	ctx      context.Context
	stop     context.CancelFunc

	mu sync.Mutex // orders changes
}

// New returns Secrets Manager over what the documents have of it. Close ends its rotations.
func New(o Options) *Service {
	o.Scope.Region, o.Scope.Account = cmp.Or(o.Scope.Region, "us-east-1"), cmp.Or(o.Scope.Account, "000000000000")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Service{opts: o, table: o.Documents.Table("secretsmanager")}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends rotations that are under way, and waits for them.
func (s *Service) Close() error {
	s.stop()
	s.rotating.Wait()
	return nil
}

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "secretsmanager", Operations: s.operations(), Partly: partly, Failure: failure,
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

// none is the answer of operations that answer nothing.
type none struct{}

// one is a request about a secret.
type one struct {
	Secret string `json:"SecretId"`
}

// named is what most answers say.
type named struct {
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

// failure turns errors of what is below the service into errors for clients.
func failure(err error) *aws.Error {
	if errors.Is(err, documents.ErrBroken) || errors.Is(err, documents.ErrClosed) {
		return &aws.Error{Code: "InternalServiceError", Status: http.StatusInternalServerError,
			Message: "The secrets in the data directory cannot be read or written: " + err.Error()}
	}
	return nil
}

// change has f change secrets, and waits until that is on the disk.
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
