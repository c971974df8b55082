package functiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"stepback/aws"
	"stepback/engine/clock"
	"stepback/engine/durable"
	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/internal/spelling"
	"stepback/local/functiontest/recording"
	"stepback/local/services/lambda/durablefunctions"
)

// mocks responds to the operations of one execution. Steps ask by HTTP, from the function's process.
type mocks struct {
	file *File
	test *Test
	now  *clock.Clock
	// ctx ends with the test, and stop ends it.
	ctx  context.Context //nolint:containedctx // of the test
	stop context.CancelFunc

	group sync.WaitGroup // the server, and callbacks that wait for their responses

	mu       sync.Mutex
	durable  *durablefunctions.Service // set before the execution starts
	events   []history.Event           // so far
	given    map[string][]int          // by name, how often each response was used
	asked    map[string]struct{}       // names of operations that asked for a response, or ran
	problems []string
	notes    []string
	hello    string // the SDK that has invoked the handler with the plugin
	broken   string // why the function cannot be loaded
}

func newMocks(ctx context.Context, f *File, t *Test, now *clock.Clock) *mocks {
	m := &mocks{file: f, test: t, now: now, given: map[string][]int{}, asked: map[string]struct{}{}}
	for i := range t.Mocks {
		m.given[t.Mocks[i].Name] = make([]int, len(t.Mocks[i].Responses))
	}
	m.ctx, m.stop = context.WithCancel(ctx)
	return m
}

// fails records why the test fails, and ends it.
func (m *mocks) fails(format string, args ...any) {
	m.mu.Lock()
	m.problems = append(m.problems, fmt.Sprintf(format, args...))
	m.mu.Unlock()
	m.stop()
}

// mock returns the responses for a name, or nil.
func (m *mocks) mock(name string) *Mock {
	i := slices.IndexFunc(m.test.Mocks, func(k Mock) bool { return k.Name == name })
	if name == "" || i < 0 {
		return nil
	}
	return &m.test.Mocks[i]
}

// take returns the next response of an operation. listed is false if the test has none for its name. A nil response
// with listed means that they are used up: the test has failed then.
func (m *mocks) take(name string, kind recording.Kind, within []string) (a *Response, listed bool) {
	m.mu.Lock()
	m.asked[name] = struct{}{}
	k := m.mock(name)
	if k == nil {
		m.mu.Unlock()
		return nil, false
	}
	given := m.given[name]
	n := 1
	for i := range k.Responses {
		r := &k.Responses[i]
		n += given[i]
		if r.Times > 0 && given[i] >= r.Times || r.In != "" && !slices.Contains(within, r.In) {
			continue
		}
		given[i]++
		m.mu.Unlock()
		if why := r.unfit(kind); why != "" {
			m.fails("%s:%d: mocks: %s is a %s: %s", m.file.Name, r.Line, name, kind, why)
			return nil, true
		}
		return r, true
	}
	m.mu.Unlock()
	in := ""
	if len(within) > 0 {
		in = " in " + strings.Join(within, ", ")
	}
	m.fails("%s:%d: mocks: call %d of the %s %s%s has no response: its responses are used up, or their in is another one; add one, or times: always",
		m.file.Name, k.Line, n, kind, name, in)
	return nil, true
}

// unfit says why a response cannot be that of a kind of operation; empty if it can.
func (r *Response) unfit(kind recording.Kind) string {
	switch {
	case r.Hang && kind != recording.Callback:
		return "only callbacks can hang; respond with return or error"
	case r.Text != nil && kind != recording.Callback:
		return "only callbacks have results that are no JSON; respond with return"
	case r.Crash && (kind == recording.Callback || kind == recording.Invoke):
		return "only steps can crash; respond with return or error"
	case r.After > 0 && kind != recording.Callback && kind != recording.Invoke:
		return "only callbacks and invokes respond after a time; remove after"
	}
	return ""
}

// question identifies the step that asks for a response before an attempt.
type question struct {
	// Name is the step's own name. For a submitter it is that of the WaitForCallback.
	Name   string         `json:"name"`
	Kind   recording.Kind `json:"kind"`
	Within []string       `json:"within"`
}

// answer is the response to a question: exactly one of Run, Crash, Return and Error is set.
type answer struct {
	// Run makes the step run its own body.
	Run    bool            `json:"run,omitempty"`
	Crash  bool            `json:"crash,omitempty"`
	Return json.RawMessage `json:"return,omitempty"`
	Error  string          `json:"error,omitempty"`
	Cause  string          `json:"cause,omitempty"`
}

// respond answers the question of a step. The submitter of a callback with a response does not run, unless it has
// responses of its own.
func (m *mocks) respond(q *question) answer {
	name := q.Name
	if q.Kind == recording.Submitter && name != "" {
		name = recording.SubmitterName(name)
	}
	r, listed := m.take(name, q.Kind, q.Within)
	switch {
	case !listed && q.Kind == recording.Submitter && m.mock(q.Name) != nil:
		return answer{Return: json.RawMessage("null")}
	case !listed:
		return answer{Run: true}
	case r == nil:
		return answer{Error: "stepback.NoResponse", Cause: "the test has no response for " + name}
	case r.Crash:
		return answer{Crash: true}
	case r.Error != "":
		return answer{Error: r.Error, Cause: r.Cause}
	}
	return answer{Return: json.RawMessage(r.Return.JSON())}
}

// mostQuestion is the maximum size of a question in bytes.
const mostQuestion = 1 << 20

// ServeHTTP implements http.Handler: the plugin in the function's process posts to /hello that an invocation begins,
// and questions to /step.
func (m *mocks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostQuestion))
	switch r.URL.Path {
	case "/hello":
		var h struct {
			SDK     string `json:"sdk"`
			Problem string `json:"problem"`
		}
		if err := body.Decode(&h); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		m.mu.Lock()
		m.hello = h.SDK
		m.mu.Unlock()
		if h.Problem != "" {
			m.breaks(h.Problem)
		}
		w.WriteHeader(http.StatusNoContent)
	case "/step":
		var q question
		if err := body.Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(m.respond(&q)) // a process that has ended does not need it
	default:
		http.NotFound(w, r)
	}
}

// breaks records why the function cannot be tested, and ends the test.
func (m *mocks) breaks(why string) {
	m.mu.Lock()
	if m.broken == "" {
		m.broken = why
	}
	m.mu.Unlock()
	m.stop()
}

// serve serves the questions of steps until the test ends, and returns the address.
func (m *mocks) serve() (url string, err error) {
	listener, err := (&net.ListenConfig{}).Listen(m.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s := &http.Server{Handler: m, ReadHeaderTimeout: patience}
	m.group.Go(func() { _ = s.Serve(listener) }) // ends when it is closed
	m.group.Go(func() {
		<-m.ctx.Done()
		_ = s.Close()
	})
	return "http://" + listener.Addr().String(), nil
}

// loading lists the errors with which a function's process ends before its handler runs.
var loading = []string{"Runtime.ImportModuleError", "Runtime.HandlerNotFound", "Runtime.MalformedHandlerName",
	"Runtime.UserCodeSyntaxError", "Runtime.InvalidEntrypoint"}

// follow receives the events of the execution as they become durable. It must not wait: the execution waits for it.
func (m *mocks) follow(x *journal.Execution, events []history.Event) {
	for i := range events {
		m.mu.Lock()
		m.events = append(m.events, events[i])
		m.mu.Unlock()
		d, err := durable.DetailsOf(&events[i])
		if err != nil {
			continue
		}
		switch events[i].Type { //nolint:exhaustive // nothing responds to the others
		case history.DurableStepStarted: // without a plugin, the step's own body is about to run
			m.mu.Lock()
			silent := m.hello == ""
			m.mu.Unlock()
			if silent {
				m.stop()
				return
			}
		case history.DurableInvocationCompleted:
			if d.Error != nil && d.Error.ErrorType != nil && slices.Contains(loading, *d.Error.ErrorType) {
				m.breaks(errorText(d.Error))
				return
			}
		case history.DurableCallbackStarted:
			if o := m.operation(d.ID); o != nil {
				m.callback(o, d)
			}
		}
	}
}

// errorText returns an error's type and message; the type is known.
func errorText(e *durable.Error) string {
	if e.ErrorMessage == nil {
		return *e.ErrorType
	}
	return *e.ErrorType + ": " + *e.ErrorMessage
}

// operations returns the operations that have started.
func (m *mocks) operations() []*recording.Operation {
	m.mu.Lock()
	events := m.events[:len(m.events):len(m.events)]
	m.mu.Unlock()
	return recording.Operations(events)
}

// operation returns the operation with an ID, or nil.
func (m *mocks) operation(id string) *recording.Operation {
	all := m.operations()
	if i := slices.IndexFunc(all, func(o *recording.Operation) bool { return o.Operation == id }); i >= 0 {
		return all[i]
	}
	return nil
}

// callback completes a callback with its response.
func (m *mocks) callback(o *recording.Operation, d *durable.Details) {
	r, listed := m.take(o.Name, recording.Callback, o.Within)
	switch {
	case o.Name == "":
		m.fails("%s:%d: a callback without a name has no response: give it a name in the function, and a response under mocks",
			m.file.Name, m.test.Line)
	case !listed:
		m.fails("%s:%d: the callback %s has no response: add one under mocks (return, error, or hang: true for its timeout)",
			m.file.Name, m.test.Line, o.Name)
	case r == nil: // reported
	case r.Hang && d.Timeout == 0 && d.Heartbeat == 0:
		m.fails("%s:%d: mocks: the callback %s has no timeout, so the execution would wait for it without end; respond with return or error",
			m.file.Name, r.Line, o.Name)
	case r.Hang: // virtual time advances to its timeout
	default:
		m.now.Go(m.ctx, &m.group, patience, func(ctx context.Context) { m.complete(ctx, o, d, r) })
	}
}

// complete completes a callback with a response, after its time.
func (m *mocks) complete(ctx context.Context, o *recording.Operation, d *durable.Details, r *Response) {
	if r.After > 0 {
		if m.now.Sleep(ctx, r.After) != nil {
			return // the test has ended
		}
	}
	m.mu.Lock()
	service := m.durable
	m.mu.Unlock()
	err := service.Complete(ctx, &durable.Callback{ID: d.CallbackID, Outcome: *r.outcome()})
	if err != nil && ctx.Err() == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.notes = append(m.notes, fmt.Sprintf("%s:%d: mocks: the callback %s did not take the response: %s", m.file.Name,
			r.Line, o.Name, words(err)))
	}
}

// words returns the message of an error of an API without its code and its request ID.
func words(err error) string {
	var e *aws.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// outcome returns the response as the end of a callback or chained invoke.
func (r *Response) outcome() *durable.Outcome {
	if r.Error != "" {
		return &durable.Outcome{Status: durable.Failed, Error: durable.NewError(r.Error, r.Cause)}
	}
	result := r.Return.JSON()
	if r.Text != nil {
		result = *r.Text
	}
	return &durable.Outcome{Status: durable.Succeeded, Result: &result}
}

// chained implements durablefunctions.Chained.
func (m *mocks) chained(ctx context.Context, _ string, o *durable.Operation) (*durable.Outcome, error) {
	function := recording.FunctionName(o.Chained.FunctionName)
	name := o.Name
	if m.mock(name) == nil {
		name = function
	}
	var within []string
	if known := m.operation(o.ID); known != nil {
		within = known.Within
	}
	r, listed := m.take(name, recording.Invoke, within)
	switch {
	case !listed:
		what := "the invoke of the function " + function
		if o.Name != "" {
			what = "the invoke " + o.Name + " of the function " + function
		}
		m.fails("%s:%d: %s has no response: add one under mocks", m.file.Name, m.test.Line, what)
		fallthrough
	case r == nil:
		return &durable.Outcome{Status: durable.Failed, Error: durable.NewError("stepback.NoResponse", "the test has no response for "+name)}, nil
	}
	if r.After > 0 {
		if err := m.now.Sleep(ctx, r.After); err != nil {
			return nil, err
		}
	}
	return r.outcome(), nil
}

// unused returns the names under mocks of which no operation ran, as failures, and the responses that were not asked
// for, as notes. A response for all attempts that follow is left out, because it is there for whatever comes.
func (m *mocks) unused() (failures, notes []string) {
	all := m.operations()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range all {
		if o.Kind != recording.Context && o.Kind != recording.Wait {
			m.asked[o.Name] = struct{}{}
		}
	}
	ran := slices.Sorted(maps.Keys(m.asked))
	ran = slices.DeleteFunc(ran, func(s string) bool { return s == "" })
	for i := range m.test.Mocks {
		k := &m.test.Mocks[i]
		if _, ok := m.asked[k.Name]; !ok {
			if j := slices.IndexFunc(all, func(o *recording.Operation) bool { return o.Name == k.Name }); j >= 0 {
				failures = append(failures, fmt.Sprintf("%s:%d: mocks: %s is a %s, which takes no response; remove it", m.file.Name,
					k.Line, k.Name, all[j].Kind))
				continue
			}
			failures = append(failures, fmt.Sprintf("%s:%d: mocks: no operation %s ran%s", m.file.Name, k.Line, k.Name,
				meant(k.Name, ran)))
			continue
		}
		for j := range k.Responses {
			r, used := &k.Responses[j], m.given[k.Name][j]
			switch {
			case r.Times == 0 && r.In == "", used >= max(r.Times, 1):
			case used > 0:
				notes = append(notes, fmt.Sprintf("%s:%d: mocks: the response of %s was asked for %d of %d times", m.file.Name,
					r.Line, k.Name, used, r.Times))
			default:
				notes = append(notes, fmt.Sprintf("%s:%d: mocks: the response of %s was not asked for", m.file.Name, r.Line, k.Name))
			}
		}
	}
	return failures, append(notes, m.notes...)
}

// meant returns the end of a message about a name that no operation has: the name that was probably meant, or the
// operations that ran.
func meant(name string, ran []string) string {
	const shown = 10
	switch near := spelling.Nearest(name, ran); {
	case near != "":
		return "; did you mean " + near + "?"
	case len(ran) == 0:
		return "; no operation with a name ran"
	case len(ran) > shown:
		return "; those that ran are " + strings.Join(ran[:shown], ", ") + " and others"
	}
	return "; those that ran are " + strings.Join(ran, ", ")
}
