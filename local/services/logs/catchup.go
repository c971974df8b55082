package logs

import (
	"math"
	"strconv"
	"strings"

	"stepback/aws"
	"stepback/local/services/logs/logstore"
)

// positionKey is the key of the Number of the last event of a stream that is in a stored batch of a subscription.
func positionKey(scope aws.Scope, group, filter, stream string) string {
	return strings.Join([]string{scope.Account, scope.Region, group, filter, stream}, "\x00")
}

// CatchUp delivers the events of a log store that an earlier process has written, and was killed before it had stored
// them for their destinations. Call it once, after Resume.
func (s *Subscriptions) CatchUp(store *logstore.Store) error {
	at := map[string]int64{}
	if err := s.positions.Scan("", func(key string, text []byte) (err error) {
		at[key], err = strconv.ParseInt(string(text), 10, 64)
		return err
	}); err != nil {
		return err
	}
	known := map[string]bool{}
	place := func(scope aws.Scope, g *logstore.Group, f *logstore.Subscription, stream string) int64 {
		key := positionKey(scope, g.Name, f.Name, stream)
		known[key] = true
		if n, found := at[key]; found || f.Since > 0 {
			return n
		}
		return math.MaxInt64 // a filter of a version without positions: what was before the first is delivered
	}
	if err := store.Subscribed(func(scope aws.Scope, g logstore.Group, stream string) int64 {
		first := int64(math.MaxInt64)
		for i := range g.Subscriptions {
			first = min(first, place(scope, &g, &g.Subscriptions[i], stream))
		}
		return first
	}, func(scope aws.Scope, g logstore.Group, events []logstore.Event) {
		for i := range g.Subscriptions {
			f := &g.Subscriptions[i]
			matches, err := s.patterns.find(f.Pattern)
			if err != nil {
				continue // it was validated when it was put
			}
			last := place(scope, &g, f, events[0].Stream)
			for i := range events {
				e := &events[i]
				if e.Number > last && e.Ingestion >= max(f.Created, f.Since) && matches(e.Message) {
					s.add(batchKey{scope, g.Name, e.Stream, f.Name, f.Destination}, e)
				}
			}
		}
	}); err != nil {
		return err
	}
	return s.forget(at, known)
}

// forget removes the positions of streams, filters and groups that no longer exist.
func (s *Subscriptions) forget(at map[string]int64, known map[string]bool) error {
	var gone []string
	for key := range at {
		if !known[key] {
			gone = append(gone, key)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	b, err := s.o.Documents.Begin()
	if err != nil {
		return err
	}
	for _, key := range gone {
		b.Delete(s.positions, key)
	}
	return b.Apply()()
}
