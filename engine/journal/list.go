package journal

import (
	"cmp"
	"context"
	"hash/fnv"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"stepback/engine/history"
)

// Lists are the executions in the order of their starts.
type Lists interface {
	// Listed yields the executions that a List asks for, the newest first, those of one start in the order of their
	// ARNs. Their payloads (Input, Output, Failure.Cause) and RedriveTokens are left out. An implementation looks at no
	// more of the list than is asked for, so that the first of a million come as soon as the first of ten.
	Listed(ctx context.Context, l *List) iter.Seq2[*Execution, error]
}

// List says which executions are listed.
type List struct {
	// Of is a list that executions are in; see ListsOf.
	Of string
	// Statuses are those that are listed; none means all.
	Statuses []history.Status
	// Error, if not empty, leaves out what has ended otherwise than with this error name. What is under way is listed.
	Error string
	// Redriven and NotRedriven leave out what has not, or what has been redriven.
	Redriven, NotRedriven bool
	// Since, if not zero, leaves out what started earlier.
	Since time.Time
	// After, if not zero, is the place behind which the list goes on.
	After Place
	// Brief asks for no more than ARN, Status, Start and the failure's name of what has ended, as an index has them:
	// for counting very many. An execution that ends meanwhile may be listed twice then, under way and ended.
	Brief bool
}

// Place is where an execution stands in every list that it is in.
type Place struct {
	Start time.Time
	ARN   string
}

// PlaceOf returns the place of an execution.
func PlaceOf(x *Execution) Place { return Place{x.Start, x.ARN} }

// Compare orders places as lists do.
func (p Place) Compare(q Place) int {
	return cmp.Or(q.Start.Compare(p.Start), strings.Compare(p.ARN, q.ARN))
}

// ListsOf returns the lists that an execution is in: a child execution in that of its Map Run's ARN, any other in those
// of its account and region, of its state machine, and of the version and the alias that it was started by.
func ListsOf(x *Execution) []string {
	if x.MapRunARN != "" {
		return []string{x.MapRunARN}
	}
	lists := append(make([]string, 0, 4), ScopeOf(x.ARN), x.MachineARN) //nolint:mnd // and version and alias
	for _, by := range [...]string{x.VersionARN, x.AliasARN} {
		if by != "" {
			lists = append(lists, by)
		}
	}
	return lists
}

// scopeColons is how many colons an ARN has before what it names: arn:aws:states:REGION:ACCOUNT:
const scopeColons = 5

// ScopeOf returns what all ARNs of an account and region begin with: the list of their executions.
func ScopeOf(arn string) string {
	at := 0
	for range scopeColons {
		i := strings.IndexByte(arn[at:], ':')
		if i < 0 {
			return ""
		}
		at += i + 1
	}
	return arn[:at]
}

// ListID is a short name of a list, for keys. Whoever reads by it checks with ListsOf, as two lists may share one.
func ListID(list string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(list)) // cannot fail
	return h.Sum64()
}

// First is the place that the list begins behind: its After, or one before all others.
func (l *List) First() Place {
	if l.After.ARN != "" {
		return l.After
	}
	return Place{Start: time.Unix(0, math.MaxInt64)}
}

// Wants reports whether executions of a status are listed.
func (l *List) Wants(s history.Status) bool {
	return len(l.Statuses) == 0 || slices.Contains(l.Statuses, s)
}

// Selects reports whether an execution is listed.
func (l *List) Selects(x *Execution) bool {
	return slices.Contains(ListsOf(x), l.Of) && l.Wants(x.Status) &&
		l.Fits(x.Ended(), x.Failure.Name, x.RedriveCount > 0) &&
		!x.Start.Before(l.Since) && (l.After.ARN == "" || PlaceOf(x).Compare(l.After) > 0)
}

// Fits reports whether an execution is listed as far as its error and its redrives are concerned.
func (l *List) Fits(ended bool, errorName string, redriven bool) bool {
	return (l.Error == "" || !ended || errorName == l.Error) && (!l.Redriven || redriven) &&
		(!l.NotRedriven || !redriven)
}

// Collect lists executions that come in any order, for stores without an index: all of them are held at once.
func (l *List) Collect(executions iter.Seq2[*Execution, error]) iter.Seq2[*Execution, error] {
	return func(yield func(*Execution, error) bool) {
		var found []*Execution
		for x, err := range executions {
			if err != nil {
				yield(nil, err)
				return
			}
			if l.Selects(x) {
				listed := *x
				listed.dropPayloads()
				found = append(found, &listed)
			}
		}
		slices.SortFunc(found, func(a, b *Execution) int { return PlaceOf(a).Compare(PlaceOf(b)) })
		for _, x := range found {
			if !yield(x, nil) {
				return
			}
		}
	}
}

// dropPayloads leaves what a list shows.
func (x *Execution) dropPayloads() {
	x.Input, x.Output, x.RedriveTokens = "", "", nil
	f := history.Failure{}
	if x.Failure.HasName() {
		f.SetName(strings.Clone(x.Failure.Name))
	}
	x.Failure = f
}
