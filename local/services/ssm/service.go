package ssm

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/clock"
	"stepback/local/services/documents"
)

// Secrets encrypts and decrypts the values of SecureString parameters.
type Secrets interface {
	// Encrypt encrypts value under a key of the account, given by ID, ARN or alias, and returns text that Decrypt
	// understands. about identifies the owner of the value; Decrypt must be called with the same about.
	Encrypt(ctx context.Context, scope aws.Scope, key, about, value string) (string, error)
	Decrypt(ctx context.Context, scope aws.Scope, about, encrypted string) (string, error)
}

// Options are the settings of a Service. Documents and Clock are required.
type Options struct {
	// Documents is the store that holds parameters, in the table ssm.
	Documents *documents.Store
	// Clock provides modification times.
	Clock *clock.Clock
	// Secrets encrypts SecureString values; if it is nil, they are stored unencrypted.
	Secrets Secrets
	// Secret returns the value of a secret of Secrets Manager, and its description as JSON, as the caller of the
	// request in ctx; nil means that there are no secrets.
	Secret func(ctx context.Context, scope aws.Scope, id string) (value string, source []byte, err error)
	// Scope is the account and region of requests that name none.
	Scope aws.Scope
	// Log receives refused requests; nil discards them.
	Log *slog.Logger
}

// Service is the Parameter Store. It is safe for concurrent use.
type Service struct {
	opts  Options
	table *documents.Table
	mu    sync.Mutex // serializes changes
}

// New returns a Service over the data in o.Documents.
func New(o Options) *Service { return &Service{opts: o, table: o.Documents.Table("ssm")} }

// Handler serves the API.
func (s *Service) Handler() *server.Service {
	return server.Must(server.Config{
		Model: "ssm", Operations: s.operations(), Partly: partly, Default: s.opts.Scope, Log: s.opts.Log,
	})
}

func (s *Service) operations() map[string]server.Operation {
	return map[string]server.Operation{
		"PutParameter":            server.Handle(s.putParameter),
		"GetParameter":            server.Handle(s.getParameter),
		"GetParameters":           server.Handle(s.getParameters),
		"GetParametersByPath":     server.Handle(s.getParametersByPath),
		"GetParameterHistory":     server.Handle(s.getParameterHistory),
		"DescribeParameters":      server.Handle(s.describeParameters),
		"DeleteParameter":         server.Handle(s.deleteParameter),
		"DeleteParameters":        server.Handle(s.deleteParameters),
		"LabelParameterVersion":   server.Handle(s.labelParameterVersion),
		"UnlabelParameterVersion": server.Handle(s.unlabelParameterVersion),
		"AddTagsToResource":       server.Handle(s.addTagsToResource),
		"RemoveTagsFromResource":  server.Handle(s.removeTagsFromResource),
		"ListTagsForResource":     server.Handle(s.listTagsForResource),
	}
}

// parameter is a stored parameter with its versions, newest last.
type parameter struct {
	Name     string
	Next     int64
	Versions []version
	Tags     map[string]string `json:",omitempty"`
}

// version is a version of a parameter.
type version struct {
	Number         int64
	Type, Value    string // the value of a SecureString is encrypted
	Description    string `json:",omitempty"`
	Key            string `json:",omitempty"`
	AllowedPattern string `json:",omitempty"`
	DataType, Tier string
	User           string
	Modified       server.Time
	Labels         []string `json:",omitempty"`
}

func (p *parameter) newest() *version { return &p.Versions[len(p.Versions)-1] }

func key(scope aws.Scope, name string) string { return scope.Account + "/" + scope.Region + "/" + name }

// find returns a parameter, or nil if there is none with the name. The first slash of a name without further ones does
// not count: name and /name are one parameter.
func (s *Service) find(scope aws.Scope, name string) (*parameter, error) {
	names := []string{name}
	if bare := strings.TrimPrefix(name, "/"); bare != "" && !strings.Contains(bare, "/") {
		names = []string{name, bare, "/" + bare}
	}
	for _, name := range names {
		text, found, err := s.table.Get(key(scope, name))
		if err != nil {
			return nil, err
		}
		if found {
			p := new(parameter)
			return p, json.Unmarshal(text, p)
		}
	}
	return nil, nil
}

// all returns the parameters of a scope whose names start with prefix, ordered by name.
func (s *Service) all(scope aws.Scope, prefix string) (all []*parameter, err error) {
	return all, s.table.Scan(key(scope, prefix), func(_ string, text []byte) error {
		p := new(parameter)
		all = append(all, p)
		return json.Unmarshal(text, p)
	})
}

// change runs f and waits until its writes are on disk.
func (s *Service) change(f func(*documents.Batch) error) error {
	return s.opts.Documents.Change(&s.mu, f)
}

func (s *Service) put(b *documents.Batch, scope aws.Scope, p *parameter) error {
	text, err := json.Marshal(p)
	if err == nil {
		b.Put(s.table, key(scope, p.Name), text)
	}
	return err
}

// none is the response of operations that return nothing.
type none struct{}

func refuse(code, format string, args ...any) error {
	return &aws.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func noParameter() error { return &aws.Error{Code: "ParameterNotFound"} }
