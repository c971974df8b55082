package console

import (
	"context"
	"crypto/rand"
	"embed"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"stepback/aws"
	"stepback/dashboards/cloudwatch"
	"stepback/engine"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/outbox/deadletters"
	"stepback/retrymetrics"
)

// Path is the path of the console.
const Path = "/_stepback/"

// Engine reads executions and acts on them for the console; *engine.Engine implements it.
type Engine interface {
	List(ctx context.Context, q engine.Query, size int, token string) ([]engine.Listed, string, error)
	Listed(ctx context.Context, q *engine.Query) iter.Seq2[engine.Listed, error]
	DescribeExecution(ctx context.Context, arn string) (*journal.Execution, error)
	History(ctx context.Context, arn string) ([]history.Event, error)
	Pending(ctx context.Context, arn string) ([]history.Pending, error)
	DescribeMapRun(ctx context.Context, arn string) (*journal.MapRun, error)
	MapRunsOf(ctx context.Context, execution string) ([]*journal.MapRun, error)
	MapRuns() map[string]engine.Counts
	Redrivable(x *journal.Execution) error
	Holds() []engine.Held
	CallLimits() []engine.LimitedCalls

	RetryNow(ctx context.Context, arn string, id int64) error
	StopExecution(ctx context.Context, arn string, f history.Failure) error
	RedriveExecution(ctx context.Context, arn, token string) (time.Time, error)
	SendTaskSuccess(ctx context.Context, token, output string) error
	SendTaskFailure(ctx context.Context, token string, f history.Failure) error
	UpdateMapRun(ctx context.Context, arn string, u engine.MapRunUpdate) error
}

// Config configures a console.
type Config struct {
	// Engine opens the engine whose executions are shown.
	Engine func() (Engine, error)
	// Durable has the executions of durable functions; nil means that there are none.
	Durable Durable
	// Definition returns the definition that an execution runs.
	Definition func(ctx context.Context, x *journal.Execution) (*journal.Definition, error)
	// Call calls an operation of an AWS service: "states", "logs" or a model of Services. in and out are marshalled
	// as the service's JSON. Its errors are shown to the user.
	Call func(ctx context.Context, service, operation string, in, out any) error
	// CloudWatch has the dashboards and alarms that were deployed; nil means that there are none.
	CloudWatch *cloudwatch.Source
	// Changes watches executions and the child executions of Map Runs by their ARNs, or all of them if of is empty.
	Changes func(of []string) Watch
	// Points returns the metric data of the retries; nil means that there are none.
	Points func() ([]retrymetrics.Point, error)
	// Complete waits until Points are complete, which they are not directly after a kill; nil means that they are. How
	// long Points are cached depends on how long they take, without this wait.
	Complete func()
	// LetterStores returns the current stores of dead letters; nil means that there are none.
	LetterStores func(ctx context.Context) ([]LetterStore, error)
	// Services are the services on the same address.
	Services []Service
	// Faults are the services' injected faults; nil means that faults cannot be added.
	Faults Faults
	// Pacing holds retries and limits calls; nil means that neither can be changed.
	Pacing Pacing
	// Who is the name recorded with actions on dead letters.
	Who string
	// ReadOnly removes everything that changes something.
	ReadOnly bool
	// Redact lists the members of payloads that are never shown. A name hides every member of that name; a path such
	// as $.customer.card hides the member at that path.
	Redact []string
	// Scope is the account and region whose executions and metrics are shown.
	Scope aws.Scope
	// Version is the version that pages show.
	Version string
	// Now returns the current time of the executions' clock; nil means time.Now.
	Now func() time.Time
	// Log receives internal errors.
	Log *slog.Logger
}

// LetterStore is a store of dead letters. Its name is part of addresses.
type LetterStore struct {
	Name  string
	Kind  deadletters.Kind
	Store deadletters.Store
	// Depth returns the number of letters. It is meant for stores in which listing the letters is more expensive or
	// has side effects, such as receiving messages from a queue. If it is nil, the letters are listed.
	Depth func(ctx context.Context) (int64, error)
}

// Service is a service on the same address.
type Service struct {
	Name   string `json:"name"`
	Status string `json:"status"`
	About  string `json:"about"`
	// Model is the name of the service's API model, which Call takes.
	Model string `json:"model,omitempty"`
	// Peek is true if there is a page with the service's resources.
	Peek bool `json:"page,omitempty"`
}

//go:embed assets templates
var files embed.FS

// Console is the handler of everything below Path. It is safe for concurrent use.
type Console struct {
	cfg    Config
	mux    *http.ServeMux
	token  string // the token in the forms of this console
	pages  func() pages
	told   notices
	charts charts
	alarms deployedAlarms
	pace   pace
	lately lately
	stores storeCounts
	hidden redaction
}

// New returns a console. It needs no Close: nothing runs except the requests being served.
func New(cfg Config) *Console {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	c := &Console{cfg: cfg, mux: http.NewServeMux(), token: rand.Text(), pages: sync.OnceValue(parsePages),
		hidden: newRedaction(cfg.Redact)}
	c.charts.points, c.charts.complete = cfg.Points, cfg.Complete
	for pattern, show := range map[string]func(*request) (*answer, error){
		"{$}":                         c.tonight,
		"machines":                    c.machines,
		"machines/{name}":             c.machine,
		"machines/{name}/edit":        c.edit,
		"executions":                  c.executions,
		"executions/{arn...}":         c.execution,
		"durable":                     c.durableExecutions,
		"mapruns/{arn...}":            c.mapRun,
		"retries":                     c.retries,
		"retries/{name}":              c.retriesOf,
		"deadletters":                 c.letters,
		"deadletters/{store}":         c.lettersOf,
		"deadletters/{store}/{id...}": c.letter,
		"dashboards":                  c.dashboards,
		"dashboards/{name}":           c.dashboard,
		"alarms":                      c.listAlarms,
		"alarms/{name...}":            c.alarm,
		"stacks/{name}":               c.stack,
		"lab":                         c.lab,
		"services":                    c.listServices,
		"services/{model}":            c.peek,
		"chaos":                       c.chaos,
		"logs":                        c.logs,
		"find":                        c.find,
	} {
		c.mux.HandleFunc("GET "+Path+pattern, c.page(show))
	}
	c.mux.HandleFunc("POST "+Path+"machines/{name}/edit", c.checked(c.page(c.edit)))
	c.mux.HandleFunc("POST "+Path+"act/{verb}", c.checked(c.act))
	c.mux.HandleFunc("GET "+Path+"stream", c.stream)
	c.mux.HandleFunc("GET "+Path+"charts/{name}", c.chart)
	c.mux.HandleFunc("GET "+Path+"assets/{file}", asset)
	c.mux.HandleFunc("GET "+strings.TrimSuffix(Path, "/"), func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, Path, http.StatusMovedPermanently)
	})
	return c
}

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if why := refusal(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	c.mux.ServeHTTP(w, r)
}
