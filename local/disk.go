package local

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/engine/journal/diskspace"
	"stepback/local/endpoint"
	"stepback/local/services/documents"
)

// The folders of a data directory. Each is the store of one or more services.
const (
	journalDir   = "journal"
	documentsDir = "documents"
	queuesDir    = "sqs"
	tablesDir    = "dynamodb"
	objectsDir   = "objects"
	logsDir      = "logs"
	functionsDir = "lambda"
)

// newSpace returns the free space of the data directory. Its reserve is in the journal's folder.
func newSpace(cfg *Config) *diskspace.Space {
	c := cfg.Space
	c.Path = filepath.Join(cfg.Dir, journalDir, "reserve")
	return diskspace.New(c)
}

// disk returns how the services' databases use the disk. Writes wait for space as the journal's do; any other failure
// of a write ends the platform, as a failure of the journal does.
func (p *Platform) disk() documents.Disk {
	return documents.Disk{FS: p.cfg.Space.FS, Space: p.space, Volatile: p.cfg.Ephemeral, Broken: func(err error) {
		p.space.Fail()
		p.ailing.add(err)
		p.reportBroken(err)
	}}
}

// ailing holds the errors of stores that reject everything until the process ends.
type ailing struct {
	mu   sync.Mutex
	errs []error
}

func (a *ailing) add(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.errs = append(a.errs, err)
}

// troubles returns the stores that do not accept new work, with the reason. If the disk is full, that is all of them.
func (p *Platform) troubles() map[string]string {
	troubles := map[string]string{}
	if why := p.space.Describe(); why != "" {
		for _, s := range p.offered {
			troubles[s.storeName()] = why
		}
	}
	p.ailing.mu.Lock()
	defer p.ailing.mu.Unlock()
	for _, err := range p.ailing.errs {
		for _, name := range []string{journalDir, documentsDir, queuesDir, tablesDir} {
			if strings.HasPrefix(err.Error(), filepath.Join(p.Dir, name)+":") {
				troubles[name] = err.Error()
			}
		}
	}
	return troubles
}

// The states of services.
const (
	running  = "running"
	degraded = "degraded" // its store does not accept new work; reading works
)

func (s *served) storeName() string {
	if s.store == "" {
		return documentsDir
	}
	return s.store
}

// state returns the state of a service, given the stores that do not accept new work.
func (s *served) state(troubles map[string]string) string {
	if troubles[s.storeName()] != "" {
		return degraded
	}
	return running
}

// health returns the states of the services and of the stores that do not accept new work.
func (p *Platform) health() endpoint.Health {
	h := endpoint.Health{Version: p.cfg.Version, Ephemeral: p.cfg.Ephemeral, Services: map[string]string{},
		Stores: p.troubles()}
	for i := range p.offered {
		s := &p.offered[i]
		h.Services[healthName(s.Signing)] = s.state(h.Stores)
	}
	return h
}

// storing are the first words of the names of operations that store something new.
var storing = map[string]bool{"Add": true, "Associate": true, "Attach": true, "Complete": true, "Copy": true,
	"Create": true, "Import": true, "Modify": true, "Publish": true, "Put": true, "Register": true,
	"Restore": true, "Rotate": true, "Send": true, "Set": true, "Start": true, "Subscribe": true, "Tag": true,
	"Transact": true, "Update": true, "Upload": true}

// stores reports whether an operation stores something new. Operations that read, delete, or settle what was accepted
// before do not: they may continue on a full disk. r is the request over HTTP.
func stores(operation string, r *http.Request) bool {
	switch operation {
	case "TransactGetItems", "StartQuery":
		return false
	case "BatchWriteItem":
		return true
	case "Invoke":
		return r != nil && r.Header.Get("X-Amz-Invocation-Type") == "Event"
	}
	verb := operation
	if end := strings.IndexFunc(operation[1:], unicode.IsUpper); end >= 0 {
		verb = operation[:end+1]
	}
	return storing[verb]
}

// errFullDisk is the response to requests that would store something while the disk is full. SDKs retry it.
func errFullDisk(why string) *aws.Error {
	return &aws.Error{Code: "ServiceUnavailable", Status: http.StatusServiceUnavailable,
		Message: "The disk of the data directory is full; make room. What was acknowledged is kept. (" + why + ")"}
}

// admitting returns a handler that refuses requests that would store something while the disk is full. It is for
// requests from outside: tasks of running executions use the reserved space. The journal itself refuses new
// executions.
func (p *Platform) admitting(model string, next http.Handler) http.Handler {
	if model == "sfn" {
		return next
	}
	reader := sync.OnceValue(func() *server.Service { return server.Must(server.Config{Model: model}) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		why := p.space.Describe()
		switch {
		case why == "":
			next.ServeHTTP(w, r)
		case model == "s3": // not implemented with package aws/server
			if operation := reader().Named(w, r); operation != "" && stores(operation, r) {
				reader().Refuse(w, r, errFullDisk(why))
				return
			}
			next.ServeHTTP(w, r)
		default:
			refuse := func(ctx context.Context, operation string, r *server.Request, next server.Call) (*server.Answer,
				error) {
				if stores(operation, r.HTTP) {
					return nil, errFullDisk(why)
				}
				return next(ctx, r)
			}
			next.ServeHTTP(w, r.WithContext(server.WithInterceptor(r.Context(), model, refuse)))
		}
	})
}
