package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"stepback/deadletters"
)

// LetterCount is how many dead letters a room has.
type LetterCount struct {
	Room   string    `json:"room"`
	Count  int64     `json:"count"`
	Oldest time.Time `json:"oldest,omitzero"`
	Error  string    `json:"error,omitempty"` // why it cannot be looked into
}

// letterCounts counts the dead letters of all rooms.
func (c *Console) letterCounts(ctx context.Context) []LetterCount {
	all := make([]LetterCount, 0, len(c.cfg.Rooms))
	for _, room := range c.cfg.Rooms {
		n := LetterCount{Room: room.Name}
		groups, err := room.Room.Groups(ctx, deadletters.Filter{})
		if err != nil {
			n.Error = err.Error()
		}
		for _, g := range groups {
			n.Count += g.Count
			if n.Oldest.IsZero() || g.Oldest.Before(n.Oldest) {
				n.Oldest = g.Oldest
			}
		}
		all = append(all, n)
	}
	return all
}

// LettersView lists the rooms.
type LettersView struct {
	Rooms []LetterCount `json:"rooms"`
	Now   time.Time     `json:"at"`
}

func (c *Console) letters(r *request) (*answer, error) {
	return &answer{Title: "Dead letters", Template: "letters",
		View: &LettersView{c.letterCounts(r.Context()), r.now}}, nil
}

func (c *Console) room(name string) (deadletters.Room, error) {
	i := slices.IndexFunc(c.cfg.Rooms, func(r Room) bool { return r.Name == name })
	if i < 0 {
		return nil, &notFound{"There is no room of dead letters called " + name + "."}
	}
	return c.cfg.Rooms[i].Room, nil
}

// LettersOfView is a room: its groups, and a page of its letters.
type LettersOfView struct {
	Room    string              `json:"room"`
	Groups  []deadletters.Group `json:"groups"`
	Letters []LetterRow         `json:"letters"`
	Next    string              `json:"next,omitempty"`
	Filter  LetterFilter        `json:"filter"`
	Acts    []deadletters.Act   `json:"acts"`
	Now     time.Time           `json:"at"`
}

// LetterFilter is a filter as the address has it.
type LetterFilter struct {
	Reason  string `json:"reason,omitempty"`
	Error   string `json:"error,omitempty"`
	Subject string `json:"subject,omitempty"`
}

func (f LetterFilter) filter() deadletters.Filter {
	return deadletters.Filter{Reason: f.Reason, Error: f.Error, Subject: f.Subject}
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
	name := r.PathValue("room")
	room, err := c.room(name)
	if err != nil {
		return nil, err
	}
	v := &LettersOfView{Room: name, Now: r.now, Letters: []LetterRow{},
		Filter: LetterFilter{r.param("reason"), r.param("error"), r.param("subject")}}
	if v.Groups, err = room.Groups(r.Context(), deadletters.Filter{}); err != nil {
		return nil, err
	}
	slices.SortFunc(v.Groups, func(a, b deadletters.Group) int { return cmp.Compare(b.Count, a.Count) })
	page, err := room.List(r.Context(), deadletters.Query{Filter: v.Filter.filter(), After: r.param("after"), Limit: pageSize})
	if err != nil {
		return nil, err
	}
	for i := range page.Letters {
		v.Letters = append(v.Letters, c.letterRow(&page.Letters[i]))
	}
	v.Next = page.Next
	const lately = 10
	if v.Acts, err = room.Acts(r.Context(), "", lately); err != nil {
		return nil, err
	}
	return &answer{Title: "Dead letters: " + name, Template: "lettersof", View: v}, nil
}

// LetterView is one letter with its payload and all that was done to it.
type LetterView struct {
	LetterRow
	Room    string            `json:"room"`
	Payload Payload           `json:"payload"`
	Edited  Payload           `json:"edited,omitzero"`
	Headers map[string]string `json:"headers,omitempty"`
	Acts    []deadletters.Act `json:"acts"`
	CanEdit bool              `json:"editable"`
	Now     time.Time         `json:"at"`
}

func (c *Console) letter(r *request) (*answer, error) {
	name := r.PathValue("room")
	room, err := c.room(name)
	if err != nil {
		return nil, err
	}
	l, err := room.Show(r.Context(), r.PathValue("id"))
	if errors.Is(err, deadletters.ErrNotFound) {
		return nil, &notFound{"There is no dead letter " + r.PathValue("id") + "."}
	}
	if err != nil {
		return nil, err
	}
	v := &LetterView{LetterRow: c.letterRow(&l), Room: name, Payload: c.payload(string(l.Payload), maxEvent),
		Edited: c.payload(string(l.Edited), maxEvent), Headers: l.Headers, Now: r.now,
		CanEdit: l.State == deadletters.Dead && len(c.cfg.Redact) == 0}
	const all = 100
	if v.Acts, err = room.Acts(r.Context(), l.ID, all); err != nil {
		return nil, err
	}
	return &answer{Title: "Dead letter " + clip(24, l.ID), Template: "letter", View: v}, nil
}

// actOnLetters redrives or discards letters: one, those that were chosen, or all of the filter.
func (c *Console) actOnLetters(ctx context.Context, _ Engine, f url.Values) (said, to string, err error) {
	room, err := c.room(f.Get("room"))
	if err != nil {
		return "", "", err
	}
	o := deadletters.Operator{Room: room, Who: c.cfg.Who}
	s := deadletters.Selection{IDs: f["id"]}
	if f.Get("all") != "" {
		filter := LetterFilter{f.Get("reason"), f.Get("error"), f.Get("subject")}.filter()
		s = deadletters.Selection{Filter: &filter}
	} else if len(s.IDs) == 0 {
		return "", "", &badForm{"choose letters first"}
	}
	outcomes := map[deadletters.Outcome]int{}
	var last error
	each := func(r deadletters.Result) error {
		outcomes[r.Outcome]++
		if r.Err != nil {
			last = r.Err
		}
		return nil
	}
	dry := f.Get("dry") != ""
	switch f.Get("do") {
	case "discard":
		err = o.Discard(ctx, s, dry, strings.TrimSpace(f.Get("why")), each)
	default:
		err = o.Redrive(ctx, s, deadletters.Pace{DryRun: dry}, strings.TrimSpace(f.Get("why")), each)
	}
	if err != nil {
		return "", "", err
	}
	var parts []string
	for outcome, n := range outcomes {
		parts = append(parts, fmt.Sprintf("%s: %s", outcome, count(n)))
	}
	slices.Sort(parts)
	said = "Letters " + strings.Join(parts, ", ") + "."
	if len(parts) == 0 {
		said = "There are no such letters."
	}
	if last != nil {
		said += " The last that was not done: " + last.Error()
	}
	return said, "", nil
}

func (c *Console) editLetter(ctx context.Context, _ Engine, f url.Values) (said, to string, err error) {
	room, err := c.room(f.Get("room"))
	if err != nil {
		return "", "", err
	}
	o := deadletters.Operator{Room: room, Who: c.cfg.Who}
	return "The edited payload is kept beside the original.", "",
		o.Edit(ctx, f.Get("id"), []byte(f.Get("payload")), strings.TrimSpace(f.Get("why")))
}
