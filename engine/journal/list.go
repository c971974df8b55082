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

// Lists reads executions in the order of their start times.
type Lists interface {
	// Listed yields the executions that a List selects, newest first; those with the same start are in the order of
	// their ARNs. Payloads (Input, Output, Failure.Cause) and RedriveTokens are left out. An implementation reads no
	// more of the list than the caller consumes, so the first of a million executions arrive as soon as the first of
	// ten.
	Listed(ctx context.Context, l *List) iter.Seq2[*Execution, error]
}

// List selects the executions to list.
type List struct {
	// Of is the list to read; see ListsOf.
	Of string
	// Statuses are the statuses to list; empty means all.
	Statuses []history.Status
	// Error, if not empty, leaves out ended executions whose error name differs. Running executions are listed.
	Error string
	// Redriven leaves out executions that have not been redriven; NotRedriven leaves out those that have.
	Redriven, NotRedriven bool
	// Since, if not zero, leaves out executions that started earlier.
	Since time.Time
	// After, if not zero, is the place after which the list continues.
	After Place
	// Brief requests only ARN, Status, Start and, for ended executions, the failure's name, all of which the index
	// holds. It is meant for counting very many executions. An execution that ends while it is listed may then appear
	// twice, as running and as ended.
	Brief bool
}

// Place is the position of an execution in every list that contains it.
type Place struct {
	Start time.Time
	ARN   string
}

// PlaceOf returns the place of an execution.
func PlaceOf(x *Execution) Place { return Place{x.Start, x.ARN} }

// Compare orders places in list order.
func (p Place) Compare(q Place) int {
	return cmp.Or(q.Start.Compare(p.Start), strings.Compare(p.ARN, q.ARN))
}

// ListsOf returns the lists that contain an execution. A child execution is in the list of its Map Run's ARN; any
// other is in the lists of its account and region, its state machine, and the version and alias that started it.
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

// scopeColons is the number of colons in an ARN before the resource: arn:aws:states:REGION:ACCOUNT:
const scopeColons = 5

// ScopeOf returns the prefix shared by all ARNs of arn's account and region, which names the list of their
// executions.
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

// ListID returns a short identifier of a list for use in keys. Two lists may share one, so readers check each result
// with ListsOf.
func ListID(list string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(list)) // cannot fail
	return h.Sum64()
}

// First returns the place after which the list starts: After, or a place before all others.
func (l *List) First() Place {
	if l.After.ARN != "" {
		return l.After
	}
	return Place{Start: time.Unix(0, math.MaxInt64)}
}

// Wants reports whether the list includes executions with status s.
func (l *List) Wants(s history.Status) bool {
	return len(l.Statuses) == 0 || slices.Contains(l.Statuses, s)
}

// Selects reports whether the list includes execution x.
func (l *List) Selects(x *Execution) bool {
	return slices.Contains(ListsOf(x), l.Of) && l.Wants(x.Status) &&
		l.Fits(x.Ended(), x.Failure.Name, x.RedriveCount > 0) &&
		!x.Start.Before(l.Since) && (l.After.ARN == "" || PlaceOf(x).Compare(l.After) > 0)
}

// Fits reports whether the list's filters on errors and redrives accept an execution.
func (l *List) Fits(ended bool, errorName string, redriven bool) bool {
	return (l.Error == "" || !ended || errorName == l.Error) && (!l.Redriven || redriven) &&
		(!l.NotRedriven || !redriven)
}

// Collect lists executions that arrive in any order. It serves stores without an index and holds all selected
// executions in memory at once.
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

// dropPayloads clears the fields that lists do not show.
func (x *Execution) dropPayloads() {
	x.Input, x.Output, x.RedriveTokens = "", "", nil
	f := history.Failure{}
	if x.Failure.HasName() {
		f.SetName(strings.Clone(x.Failure.Name))
	}
	x.Failure = f
}
