package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/engine/history"
	"stepback/engine/internal/startorder"
	"stepback/engine/journal"
)

// Running returns the ARNs of a machine's running executions, without the child executions of its Map Runs. An
// execution that DescribeExecution already reports as ended is not included, even if its run has not yet heard from
// the journal.
//
// It waits for a recovery in the background. The error is that of the recovery or of ctx, or ErrClosed.
func (e *Engine) Running(ctx context.Context, machineARN string) ([]string, error) {
	if err := e.AwaitRecovery(ctx); err != nil {
		return nil, err
	}
	executions := history.ExecutionARN(machineARN, "")
	e.mu.Lock()
	var arns []string
	for arn, r := range e.runs {
		if r.record.MachineARN == machineARN {
			arns = append(arns, arn)
		}
	}
	for arn := range e.dormant {
		if strings.HasPrefix(arn, executions) {
			arns = append(arns, arn)
		}
	}
	e.mu.Unlock()
	arns = slices.DeleteFunc(arns, func(arn string) bool { return e.hasEnded(ctx, arn) })
	slices.Sort(arns)
	return arns, nil
}

// Open returns the number of running executions, including the child executions of Map Runs.
func (e *Engine) Open() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs) + len(e.dormant)
}

// Query selects the executions to list.
type Query struct {
	// Of is the ARN of a state machine, version, alias or Map Run whose executions are listed. With the ARN of a
	// state machine and the label of a distributed Map (stateMachine:NAME/LABEL), the child executions of all its Map
	// Runs are listed. If Of is empty, all executions of the engine's account and region are listed, except child
	// executions.
	Of string
	// Statuses are the statuses to list; empty means all.
	Statuses []Status
	// Retrying leaves out executions in which no state is waiting for a retry.
	Retrying bool
	// Error, if not empty, leaves out executions that neither ended with this error name nor wait for a retry because
	// of it.
	Error string
	// Redriven leaves out executions that have not been redriven; NotRedriven leaves out those that have.
	Redriven, NotRedriven bool
	// Since, if not zero, leaves out executions that started earlier.
	Since time.Time
	// After is the place after which the list continues; the zero Place means the beginning.
	After journal.Place
	// Brief requests only ARN, Status, Start, the failure's name of ended executions, and the retries. It is meant
	// for counting very many executions. One that ends while it is listed may appear twice.
	Brief bool
}

// Listed is an execution as lists show it: without Input, Output, Failure.Cause and RedriveTokens.
type Listed struct {
	*Execution
	// Retries are the states waiting to be retried, the next one first.
	Retries []*Retry
}

// Listed yields executions, newest first; those with the same start are in the order of their ARNs. It reads no more
// of them than the caller consumes. EXPRESS executions appear once they have ended. The error comes from the journal
// or the context.
func (e *Engine) Listed(ctx context.Context, q *Query) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		if q.Retrying || q.Error != "" {
			if err := e.AwaitRecovery(ctx); err != nil {
				yield(Listed{}, err)
				return
			}
		}
		for x, err := range e.candidates(ctx, q) {
			if err != nil {
				yield(Listed{}, err)
				return
			}
			l := Listed{Execution: x}
			if !x.Ended() {
				l.Retries = e.retriesInMemory(x.ARN)
			}
			if q.selects(&l) && !yield(l, nil) {
				return
			}
		}
	}
}

// selects applies the filters that the journal cannot apply.
func (q *Query) selects(l *Listed) bool {
	if q.Retrying && len(l.Retries) == 0 {
		return false
	}
	return q.Error == "" || l.Ended() ||
		slices.ContainsFunc(l.Retries, func(r *Retry) bool { return r.Error == q.Error })
}

// candidates yields the executions that a query selects, and some running ones that it does not.
func (e *Engine) candidates(ctx context.Context, q *Query) iter.Seq2[*Execution, error] {
	l := journal.List{
		Of: q.Of, Statuses: q.Statuses, Error: q.Error, Redriven: q.Redriven, NotRedriven: q.NotRedriven,
		Since: q.Since, After: q.After, Brief: q.Brief,
	}
	switch {
	case l.Of == "":
		l.Of = journal.ScopeOf(e.names.executions())
	case isLabelled(l.Of):
		return e.listedOfLabel(ctx, &l, q.Retrying)
	}
	return e.listedOf(ctx, &l, q.Retrying)
}

// listedOf lists executions from the journal or, if retrying is set, from those that wait for a retry.
func (e *Engine) listedOf(ctx context.Context, l *journal.List, retrying bool) iter.Seq2[*Execution, error] {
	if !retrying {
		return e.cfg.Journal.Listed(ctx, l)
	}
	return func(yield func(*Execution, error) bool) {
		first := l.First()
		c := e.retrying.From(journal.ListID(l.Of), first.Start.UnixNano(), first.ARN)
		for entry, ok := c.Head(); ok && ctx.Err() == nil; entry, ok = c.Head() {
			x, err := e.retried(ctx, entry, l.Brief)
			c.Next()
			if errors.Is(err, ErrNoExecution) || err == nil && !l.Selects(x) {
				continue
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// retried describes an execution that waits for a retry, from memory if brief is set. The payloads of EXPRESS
// executions, which the journal does not store, are always left out.
func (e *Engine) retried(ctx context.Context, entry *startorder.Entry[*run], brief bool) (*Execution, error) {
	if brief || entry.Value.machine.Express {
		return entry.Value.listed(), nil
	}
	x, err := e.DescribeExecution(ctx, entry.ARN)
	if err != nil {
		return nil, err
	}
	x.Input, x.Output, x.RedriveTokens = "", "", nil
	return x, nil
}

// listed returns the description of a running execution, without its redrives. Its other fields do not change before
// the execution ends.
func (r *run) listed() *Execution {
	x := &Execution{Info: r.record.Info, Status: history.Running, Start: r.record.Start}
	x.Input = ""
	return x
}

// isLabelled reports whether an ARN names a machine with the label of a distributed Map.
func isLabelled(arn string) bool {
	_, name, ok := strings.Cut(arn, ":stateMachine:")
	return ok && strings.Contains(name, "/")
}

// listedOfLabel merges the lists of all Map Runs of a label. Child executions start before their Map Run stops, so a
// Map Run is opened only when the list has reached the time at which it ended.
func (e *Engine) listedOfLabel(ctx context.Context, l *journal.List, retrying bool) iter.Seq2[*Execution, error] {
	return func(yield func(*Execution, error) bool) {
		mapRuns, err := e.mapRunsOfLabel(ctx, l.Of)
		if err != nil {
			yield(nil, err)
			return
		}
		m := merge{list: func(arn string) iter.Seq2[*Execution, error] {
			of := *l
			of.Of = arn
			return e.listedOf(ctx, &of, retrying)
		}}
		defer m.stop()
		for {
			x, err := m.next(&mapRuns)
			if x == nil && err == nil || !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// mapRunsOfLabel returns the Map Runs of a label, running ones first, then those that ended latest.
func (e *Engine) mapRunsOfLabel(ctx context.Context, label string) ([]*MapRun, error) {
	var found []*MapRun
	machine := label[:strings.LastIndexByte(label, '/')]
	for m, err := range e.cfg.Journal.MapRuns(ctx, history.ExecutionARN(machine, "")) {
		if err != nil {
			return nil, err
		}
		if m.Machine == label {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b *MapRun) int {
		switch {
		case a.Stopped.IsZero() || b.Stopped.IsZero():
			return btoi(b.Stopped.IsZero()) - btoi(a.Stopped.IsZero())
		default:
			return b.Stopped.Compare(a.Stopped)
		}
	})
	return found, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// merge merges lists that are opened one after the other.
type merge struct {
	list func(mapRun string) iter.Seq2[*Execution, error]
	open []*pulled
}

// pulled is one of the merged lists, with its next execution.
type pulled struct {
	head *Execution
	next func() (*Execution, error, bool)
	stop func()
}

// next returns the newest execution of all lists and removes it from its list.
func (m *merge) next(unopened *[]*MapRun) (*Execution, error) {
	for {
		best := -1
		for i, p := range m.open {
			if best < 0 || journal.PlaceOf(p.head).Compare(journal.PlaceOf(m.open[best].head)) < 0 {
				best = i
			}
		}
		if len(*unopened) > 0 {
			run := (*unopened)[0]
			if best < 0 || run.Stopped.IsZero() || !run.Stopped.Before(m.open[best].head.Start) {
				*unopened = (*unopened)[1:]
				if err := m.add(run.ARN); err != nil {
					return nil, err
				}
				continue
			}
		}
		if best < 0 {
			return nil, nil //nolint:nilnil // the end
		}
		x := m.open[best].head
		return x, m.advance(best)
	}
}

func (m *merge) add(mapRun string) error {
	p := &pulled{}
	p.next, p.stop = iter.Pull2(m.list(mapRun))
	m.open = append(m.open, p)
	return m.advance(len(m.open) - 1)
}

// advance moves list i to its next execution, and drops the list at its end.
func (m *merge) advance(i int) error {
	p := m.open[i]
	x, err, ok := p.next()
	if ok && err == nil {
		p.head = x
		return nil
	}
	p.stop()
	m.open = slices.Delete(m.open, i, i+1)
	return err
}

func (m *merge) stop() {
	for _, p := range m.open {
		p.stop()
	}
}

// DefaultPage and MaxPage are the default and the maximum number of executions on a page.
const (
	DefaultPage = 100
	MaxPage     = 1000
)

// ErrPageToken is returned for a page token that List did not issue.
var ErrPageToken = errors.New("engine: the page token is invalid")

// List returns a page of the executions that a query selects, and the token of the next page, which is empty if there
// is none. A token stays valid while executions start and end: the next page begins after the last execution of this
// one. size is at most MaxPage; 0 means DefaultPage. The errors are ErrPageToken and those of Listed.
func (e *Engine) List(ctx context.Context, q Query, size int, token string) (page []Listed, next string, err error) {
	if size <= 0 {
		size = DefaultPage
	}
	size = min(size, MaxPage)
	if token != "" {
		if q.After, err = placeOf(token); err != nil {
			return nil, "", err
		}
	}
	for x, err := range e.Listed(ctx, &q) {
		if err != nil {
			return nil, "", err
		}
		if len(page) == size {
			return page, placeToken(journal.PlaceOf(page[size-1].Execution)), nil
		}
		page = append(page, x)
	}
	return page, "", nil
}

// placeToken encodes a place as a page token.
func placeToken(p journal.Place) string {
	return base64.RawURLEncoding.EncodeToString([]byte(PlaceText(p)))
}

func placeOf(token string) (journal.Place, error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return journal.Place{}, ErrPageToken
	}
	return ParsePlace(string(text))
}

// PlaceText returns a place as text.
func PlaceText(p journal.Place) string { return fmt.Sprintf("%d %s", p.Start.UnixNano(), p.ARN) }

// ParsePlace parses text written by PlaceText. The error is ErrPageToken.
func ParsePlace(text string) (journal.Place, error) {
	nanos, arn, ok := strings.Cut(text, " ")
	n, err := strconv.ParseInt(nanos, 10, 64)
	if !ok || err != nil || arn == "" {
		return journal.Place{}, ErrPageToken
	}
	return journal.Place{Start: time.Unix(0, n), ARN: arn}, nil
}
