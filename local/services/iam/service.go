package iam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
)

// Options are the settings of a Service. Documents and Clock are required.
type Options struct {
	// Documents is the store that holds all data, in the table iam.
	Documents *documents.Store
	// Clock provides creation times.
	Clock *clock.Clock
	// Scope is the account and region of requests that name none.
	Scope aws.Scope
	// Log receives refused requests; nil discards them.
	Log *slog.Logger
}

// Service is the embedded IAM. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table

	mu sync.Mutex // serializes changes, so that what a change has read still holds when it writes
}

// New returns a Service over the data in o.Documents.
func New(o Options) *Service { return &Service{opts: o, table: o.Documents.Table("iam")} }

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "iam", Operations: s.operations(), Partly: partly, Accepted: accepted, Default: s.opts.Scope, Log: s.opts.Log,
		Invalid: "ValidationError", ReservedTag: &aws.Error{Code: "InvalidInput", Message: aws.ReservedTagMessage},
	})
}

// The kinds of stored records.
const (
	roles     = "role"
	users     = "user"
	groups    = "group"
	policies  = "policy"
	profiles  = "instance-profile"
	keys      = "access-key"
	providers = "oidc-provider"
)

// key returns the store key of a record. Names are case-insensitive.
func key(account, kind, name string) string {
	return account + "/" + kind + "/" + strings.ToLower(name)
}

// get reads a record; the second result is false if it does not exist.
func get[T any](s *Service, account, kind, name string) (*T, bool, error) {
	text, found, err := s.table.Get(key(account, kind, name))
	if err != nil || !found {
		return nil, false, err
	}
	v := new(T)
	return v, true, json.Unmarshal(text, v)
}

// list reads all records of a kind, ordered by name.
func list[T any](s *Service, account, kind string) ([]*T, error) {
	var all []*T
	return all, s.table.Scan(account+"/"+kind+"/", func(_ string, text []byte) error {
		v := new(T)
		all = append(all, v)
		return json.Unmarshal(text, v)
	})
}

// change collects the writes of an operation. Either all of them are applied or none.
type change struct {
	service *Service
	account string
	batch   *documents.Batch
	err     error
}

func (c *change) put(kind, name string, v any) {
	text, err := json.Marshal(v)
	if c.err = errors.Join(c.err, err); err == nil {
		c.batch.Put(c.service.table, key(c.account, kind, name), text)
	}
}

func (c *change) remove(kind, name string) {
	c.batch.Delete(c.service.table, key(c.account, kind, name))
}

// change runs f and waits until its writes are on disk.
func (s *Service) change(account string, f func(*change) error) error {
	return s.opts.Documents.Change(&s.mu, func(b *documents.Batch) error {
		c := &change{service: s, account: account, batch: b}
		if err := f(c); err != nil {
			return err
		}
		return c.err
	})
}

// newID returns a random ID such as AROA3XFRBF535QHSNTEXX.
func newID(prefix string) string {
	const letters, length = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 17
	b := []byte(prefix)
	for range length {
		b = append(b, letters[rand.IntN(len(letters))])
	}
	return string(b)
}

func (s *Service) now() server.Time { return server.Time(s.opts.Clock.Now()) }

// none is the response of operations that return nothing.
type none struct{}

func refuse(code string, status int, format string, args ...any) error {
	return &aws.Error{Code: code, Status: status, Message: fmt.Sprintf(format, args...)}
}

func notFound(format string, args ...any) error { return refuse("NoSuchEntity", 404, format, args...) }
func exists(format string, args ...any) error {
	return refuse("EntityAlreadyExists", 409, format, args...)
}
func conflict(message string) error { return refuse("DeleteConflict", 409, "%s", message) }

// handle returns an operation that depends only on the account.
func handle[In, Out any](f func(account aws.Scope, in *In) (*Out, error)) server.Operation {
	return server.Handle(func(_ context.Context, scope aws.Scope, in *In) (*Out, error) { return f(scope, in) })
}

// accepted lists the members of requests that have no effect, and why.
var accepted = map[string]map[string]string{
	"SimulateCustomPolicy": {
		"ContextEntries.ContextKeyType": "the condition's operator determines the type",
	},
	"SimulatePrincipalPolicy": {
		"ContextEntries.ContextKeyType": "the condition's operator determines the type",
	},
}
