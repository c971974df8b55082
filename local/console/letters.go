package console

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"stepback/outbox/deadletters"
)

// LettersView lists the stores of dead letters.
type LettersView struct {
	Stores []LetterCount `json:"stores"`
	Now    time.Time     `json:"at"`
}

// lookTime limits the time for counting the letters of one store on the page that lists the stores.
const lookTime = 5 * time.Second

func (c *Console) letters(r *request) (*answer, error) {
	return &answer{Title: "Dead letters", Template: "letters",
		View: &LettersView{c.letterCounts(r.Context(), lookTime), r.now}}, nil
}

func (c *Console) store(ctx context.Context, name string) (*LetterStore, error) {
	stores, err := c.storesNow(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(stores, func(r LetterStore) bool { return r.Name == name })
	if i < 0 {
		return nil, &notFound{"There is no source of dead letters called " + name + "."}
	}
	return &stores[i], nil
}

func (c *Console) storesNow(ctx context.Context) ([]LetterStore, error) {
	if c.cfg.LetterStores == nil {
		return nil, nil
	}
	return c.cfg.LetterStores(ctx)
}

// LettersOfView shows a store: its groups, and one page of its letters.
type LettersOfView struct {
	Store   string              `json:"store"`
	Kind    deadletters.Kind    `json:"kind"`
	Groups  []deadletters.Group `json:"groups"`
	Letters []LetterRow         `json:"letters"`
	Next    string              `json:"next,omitempty"`
	Filter  LetterFilter        `json:"filter"`
	Acts    []deadletters.Act   `json:"acts"`
	Now     time.Time           `json:"at"`
}

// LetterFilter is a filter from the address.
type LetterFilter struct {
	Reason  string `json:"reason,omitempty"`
	Error   string `json:"error,omitempty"`
	Subject string `json:"subject,omitempty"`
	// Execution is the ARN of the execution that letters come from.
	Execution string `json:"executionArn,omitempty"`
}

// Set reports whether the filter excludes anything.
func (f LetterFilter) Set() bool { return f != LetterFilter{} }

func (f LetterFilter) filter() deadletters.Filter {
	return deadletters.Filter{Reason: f.Reason, Error: f.Error, Subject: f.Subject, Execution: f.Execution}
}

// Lost counts the dead letters of an execution in one store.
type Lost struct {
	Store string           `json:"store"`
	Kind  deadletters.Kind `json:"kind"`
	Count int64            `json:"count"`
}

// lostTime limits the time for searching for the dead letters of one execution; they are left out if it takes longer.
const lostTime = 150 * time.Millisecond

// lostBy counts the dead letters of a completed execution with Map Runs, in the stores that receive letters from such
// executions.
func (c *Console) lostBy(r *request, execution string) []Lost {
	stores, err := c.storesNow(r.Context())
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), lostTime)
	defer cancel()
	var lost []Lost
	for i := range stores {
		if stores[i].Kind != deadletters.KindRow && stores[i].Kind != deadletters.KindItem {
			continue
		}
		groups, err := stores[i].Store.Groups(ctx, deadletters.Filter{Execution: execution})
		if err != nil {
			continue // the stores' own pages show the error
		}
		n := Lost{Store: stores[i].Name, Kind: stores[i].Kind}
		for _, g := range groups {
			n.Count += g.Count
		}
		if n.Count > 0 {
			lost = append(lost, n)
		}
	}
	return lost
}

// LetterRow is a letter in a list.
type LetterRow struct {
	ID        string    `json:"id"`
	Subject   string    `json:"subject"`
	Key       string    `json:"key,omitempty"`
	Reason    string    `json:"reason"`
	Error     string    `json:"error"`
	Cause     Payload   `json:"cause,omitzero"`
	Attempts  int       `json:"attempts"`
	Redrives  int       `json:"redrives"`
	DeadAt    time.Time `json:"deadAt"`
	State     string    `json:"state"`
	Execution string    `json:"executionArn,omitempty"`
}

func (c *Console) letterRow(l *deadletters.Letter) LetterRow {
	return LetterRow{ID: l.ID, Subject: l.Subject, Key: l.Key, Reason: l.Reason, Error: l.Error,
		Cause:    c.causeOf(l.Cause),
		Attempts: l.Attempts, Redrives: l.Redrives, DeadAt: l.DeadAt, State: string(l.State), Execution: l.Execution}
}

func (c *Console) lettersOf(r *request) (*answer, error) {
	name := r.PathValue("store")
	of, err := c.store(r.Context(), name)
	if err != nil {
		return nil, err
	}
	store := of.Store
	v := &LettersOfView{Store: name, Kind: of.Kind, Now: r.now, Letters: []LetterRow{},
		Filter: LetterFilter{r.param("reason"), r.param("error"), r.param("subject"), r.param("execution")}}
	if v.Groups, err = store.Groups(r.Context(), deadletters.Filter{Execution: v.Filter.Execution}); err != nil {
		return nil, err
	}
	slices.SortFunc(v.Groups, func(a, b deadletters.Group) int { return cmp.Compare(b.Count, a.Count) })
	page, err := store.List(r.Context(), deadletters.Query{Filter: v.Filter.filter(), After: r.param("after"), Limit: pageSize})
	if err != nil {
		return nil, err
	}
	for i := range page.Letters {
		v.Letters = append(v.Letters, c.letterRow(&page.Letters[i]))
	}
	v.Next = page.Next
	const lately = 10
	if v.Acts, err = store.Acts(r.Context(), "", lately); err != nil {
		return nil, err
	}
	return &answer{Title: "Dead letters: " + name, Template: "lettersof", View: v}, nil
}

// LetterView shows one letter with its payload and everything done to it.
type LetterView struct {
	LetterRow
	Store   string            `json:"store"`
	Payload Payload           `json:"payload"`
	Edited  Payload           `json:"edited,omitzero"`
	Diff    []DiffLine        `json:"-"` // from the payload to the edited one that is sent instead
	Headers map[string]string `json:"headers,omitempty"`
	Acts    []deadletters.Act `json:"acts"`
	CanEdit bool              `json:"editable"`
	Now     time.Time         `json:"at"`
}

func (c *Console) letter(r *request) (*answer, error) {
	name := r.PathValue("store")
	of, err := c.store(r.Context(), name)
	if err != nil {
		return nil, err
	}
	store := of.Store
	l, err := store.Show(r.Context(), r.PathValue("id"))
	if errors.Is(err, deadletters.ErrNotFound) {
		return nil, &notFound{"There is no dead letter " + r.PathValue("id") + "."}
	}
	if err != nil {
		return nil, err
	}
	v := &LetterView{LetterRow: c.letterRow(&l), Store: name, Payload: c.payload(string(l.Payload), maxEvent),
		Edited: c.payload(string(l.Edited), maxEvent), Headers: l.Headers, Now: r.now,
		CanEdit: l.State == deadletters.Dead && len(c.cfg.Redact) == 0}
	if len(l.Edited) > 0 {
		v.Diff = diff(v.Payload.Text, v.Edited.Text)
	}
	const all = 100
	if v.Acts, err = store.Acts(r.Context(), l.ID, all); err != nil {
		return nil, err
	}
	return &answer{Title: "Dead letter " + clip(24, l.ID), Template: "letter", View: v}, nil
}
