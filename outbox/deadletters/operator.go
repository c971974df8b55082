package deadletters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"stepback/adaptive/pacing"
	"stepback/internal/ctxerr"
)

// MaxPayload is the maximum size of an edited payload, in bytes.
const MaxPayload = 10 << 20

// Clock is the clock of a paced redrive.
type Clock interface {
	Now() time.Time
	Timer(d time.Duration) (rang <-chan time.Time, stop func())
}

// Operator is a person who acts on a store.
type Operator struct {
	Store Store
	Who   string // recorded with every act; required
	Clock Clock  // nil means the system clock
}

// BadActError is returned if an act is refused; nothing was changed.
type BadActError struct{ Why string }

func (e *BadActError) Error() string { return e.Why }

func (o *Operator) check() error {
	if strings.TrimSpace(o.Who) == "" {
		return &BadActError{"give your name: every redrive, edit and discard is logged under a name"}
	}
	return nil
}

// Edit stores a payload next to the original of a dead letter, to be sent instead. If the letter is JSON, the payload
// must be too; otherwise Edit returns a [BadActError] with line and column.
func (o *Operator) Edit(ctx context.Context, id string, payload []byte, reason string) error {
	if err := o.check(); err != nil {
		return err
	}
	if len(payload) > MaxPayload {
		return &BadActError{fmt.Sprintf("the edited payload has %d bytes; the maximum is %d", len(payload), MaxPayload)}
	}
	l, err := o.Store.Show(ctx, id)
	if err != nil {
		return err
	}
	if isJSON(l.ContentType) {
		if err := checkJSON(payload); err != nil {
			return &BadActError{
				fmt.Sprintf("the letter %s is %s, and the edited payload is not: %v; nothing was changed", id,
					l.ContentType, err),
			}
		}
	}
	return o.Store.Edit(ctx, id, payload, By{o.Who, reason})
}

func isJSON(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "application/json" || strings.HasSuffix(media, "+json")
}

// checkJSON returns an error with the position of the first JSON syntax error.
func checkJSON(payload []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(payload, &v)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := string(payload[:min(max(0, int(syntax.Offset)-1), len(payload))])
		line := 1 + strings.Count(before, "\n")
		return fmt.Errorf("%w (line %d, column %d)", err, line, len(before)-strings.LastIndexByte(before, '\n'))
	}
	return err
}

// Selection selects letters by their IDs or by a filter.
type Selection struct {
	IDs    []string
	Filter *Filter // used if IDs is empty; nil selects none
}

// Pace controls a redrive.
type Pace struct {
	Rate   float64 // letters a second; 0 means unlimited
	DryRun bool    // only report what would be done
	// Auto learns how many letters may be under way at a time: more while they are delivered, fewer when they die again
	// (package pacing). Redrive then returns when all have been delivered or have died three times, and Rate must be 0.
	// Letters of an outbox need a running relay.
	Auto bool
	// Progress, if not nil, is called once a second if Auto is set, and at the end.
	Progress func(pacing.Progress)
}

// after returns the time, after the first letter, at which the nth further one is sent.
func (p Pace) after(n int) time.Duration {
	return time.Duration(min(float64(n)/p.Rate, 1e9) * float64(time.Second))
}

// Outcome is the result of an act on one letter.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"
	WouldDo  Outcome = "would do" // in a dry run
	NotDead  Outcome = "not dead" // another operator was faster; nothing was done
	NotFound Outcome = "not found"
	Failed   Outcome = "failed" // with Err; nothing was done, or that is unknown, and repeating it does no harm
)

// Text returns the outcome of an act in words: "redriven", "would be redriven", "not dead".
func (o Outcome) Text(act Verb) string {
	switch o {
	case Done:
		return act.Past()
	case WouldDo:
		return "would be " + act.Past()
	default:
		return string(o)
	}
}

// Result is the outcome of an act on one letter.
type Result struct {
	ID      string
	Outcome Outcome
	Err     error // set for all outcomes except Done and WouldDo
}

// MarshalJSON encodes a result for scripts.
func (r Result) MarshalJSON() ([]byte, error) {
	text := ""
	if r.Err != nil {
		text = r.Err.Error()
	}
	return json.Marshal(struct {
		ID      string  `json:"id"`
		Outcome Outcome `json:"outcome"`
		Error   string  `json:"error,omitempty"`
	}{r.ID, r.Outcome, text})
}

// Redrive redrives the selected letters and calls each with every result as it arrives. If the store is a [Batcher],
// Redrive passes it as many letters at once as the pace allows in a second, at most 1,000. Any other store gets them
// one after the other. Redrive returns early only if ctx ends, each fails, or the letters cannot be listed. A
// letter that dies again in the meantime is not redriven again.
func (o *Operator) Redrive(ctx context.Context, s Selection, pace Pace, reason string, each func(Result) error) error {
	if pace.Auto && !pace.DryRun {
		return o.learn(ctx, s, pace, reason, each)
	}
	return o.act(ctx, VerbRedrive, s, pace, each, func(ctx context.Context, ids []string) []error {
		return redriveAll(ctx, o.Store, ids, By{o.Who, reason})
	})
}

// learn redrives letters at the rate at which they are delivered.
func (o *Operator) learn(ctx context.Context, s Selection, pace Pace, reason string, each func(Result) error) error {
	if err := o.check(); err != nil {
		return err
	}
	if pace.Rate != 0 {
		return &BadActError{"give a rate or let it be learned, not both"}
	}
	var ids []string
	if err := o.choose(ctx, s, func(id string) error {
		ids = append(ids, id)
		return nil
	}); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	const attempts = 3
	_, err := pacing.Run(ctx, ids, redriving{o, By{o.Who, reason}}, pacing.Config{Attempts: attempts,
		Progress: pace.Progress},
		func(id string, err error) {
			if wrong := each(resultOf(id, Done, err)); wrong != nil {
				stop(wrong)
			}
		})
	return err
}

// redriving implements pacing.Work with redrives of letters.
type redriving struct {
	*Operator

	by By
}

// Begin implements pacing.Work.
func (r redriving) Begin(ctx context.Context, id string) error {
	return redriveAll(ctx, r.Store, []string{id}, r.by)[0]
}

// Ended implements pacing.Work.
func (r redriving) Ended(ctx context.Context, ids []string) (map[string]bool, error) {
	ended := map[string]bool{}
	for _, id := range ids {
		l, err := r.Store.Show(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case l.State != Underway:
			ended[id] = l.State != Dead
		}
	}
	return ended, nil
}

// Discard marks the selected letters as not to be delivered. It requires a reason.
func (o *Operator) Discard(
	ctx context.Context,
	s Selection,
	dryRun bool,
	reason string,
	each func(Result) error,
) error {
	if strings.TrimSpace(reason) == "" {
		return &BadActError{"give a reason: it is logged with the discarded letter"}
	}
	return o.act(ctx, VerbDiscard, s, Pace{DryRun: dryRun}, each, func(ctx context.Context, ids []string) []error {
		errs := make([]error, len(ids))
		for i, id := range ids {
			errs[i] = o.Store.Discard(ctx, id, By{o.Who, reason})
		}
		return errs
	})
}

// together returns the number of letters to act on at once.
func (o *Operator) together(pace Pace) int {
	if _, ok := o.Store.(Batcher); !ok || pace.DryRun {
		return 1
	}
	if pace.Rate == 0 {
		return maxBatch
	}
	return int(min(max(pace.Rate, 1), maxBatch))
}

func (o *Operator) act(
	ctx context.Context,
	act Verb,
	s Selection,
	pace Pace,
	each func(Result) error,
	do func(context.Context, []string) []error,
) error {
	if err := o.check(); err != nil {
		return err
	}
	if !(pace.Rate >= 0) {
		return &BadActError{
			fmt.Sprintf("the rate is %g letters a second; it must be positive, or 0 for no limit", pace.Rate),
		}
	}
	began, n := time.Time{}, 0
	most := o.together(pace)
	var ids []string
	flush := func() error {
		if len(ids) == 0 {
			return nil
		}
		if pace.Rate > 0 && !pace.DryRun {
			if n == 0 {
				began = o.now()
			} else if err := o.wait(ctx, began.Add(pace.after(n))); err != nil {
				return err
			}
			n += len(ids)
		}
		if err := ctxerr.Of(ctx); err != nil {
			return err
		}
		if pace.DryRun {
			id := ids[0]
			ids = ids[:0]
			return each(o.tryOut(ctx, id, act))
		}
		errs := do(ctx, ids)
		for i, id := range ids {
			if err := each(resultOf(id, Done, errs[i])); err != nil {
				return err
			}
		}
		ids = ids[:0]
		return nil
	}
	err := o.choose(ctx, s, func(id string) error {
		if ids = append(ids, id); len(ids) < most {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}

// tryOut returns the result that an act on a letter would have.
func (o *Operator) tryOut(ctx context.Context, id string, act Verb) Result {
	l, err := o.Store.Show(ctx, id)
	switch {
	case err != nil:
	case l.State != Dead:
		err = &NotDeadError{ID: id, State: l.State}
	case l.Undecided && act != VerbRedrive:
		err = undecided(&l)
	}
	return resultOf(id, WouldDo, err)
}

// resultOf returns the result of an act; good is the outcome if err is nil.
func resultOf(id string, good Outcome, err error) Result {
	_, gone := errors.AsType[*NotDeadError](err)
	switch {
	case err == nil:
		return Result{id, good, nil}
	case gone:
		return Result{id, NotDead, err}
	case errors.Is(err, ErrNotFound):
		return Result{id, NotFound, err}
	}
	return Result{id, Failed, err}
}

// choose calls visit for the selected letters. If they are selected by a filter, it always lists on from the last
// position, so a letter that dies again is not visited again.
func (o *Operator) choose(ctx context.Context, s Selection, visit func(id string) error) error {
	for _, id := range s.IDs {
		if err := visit(id); err != nil {
			return err
		}
	}
	if len(s.IDs) > 0 || s.Filter == nil {
		return nil
	}
	const pageSize = 100
	q := Query{Filter: *s.Filter, Limit: pageSize}
	for {
		page, err := o.Store.List(ctx, q)
		if err != nil {
			return err
		}
		for i := range page.Letters {
			if err := visit(page.Letters[i].ID); err != nil {
				return err
			}
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}

// Follow polls at the interval every until each letter is delivered, discarded or dead again. It calls each with
// the letter in that state.
func (o *Operator) Follow(ctx context.Context, ids []string, every time.Duration, each func(Letter) error) error {
	for len(ids) > 0 {
		var left []string
		for _, id := range ids {
			l, err := o.Store.Show(ctx, id)
			switch {
			case err != nil:
				return err
			case l.State == Underway:
				left = append(left, id)
			default:
				if err := each(l); err != nil {
					return err
				}
			}
		}
		if ids = left; len(ids) == 0 {
			return nil
		}
		if err := o.wait(ctx, o.now().Add(every)); err != nil {
			return err
		}
	}
	return nil
}

func (o *Operator) now() time.Time {
	if o.Clock != nil {
		return o.Clock.Now()
	}
	return time.Now()
}

func (o *Operator) wait(ctx context.Context, until time.Time) error {
	d := until.Sub(o.now())
	if d <= 0 {
		return ctxerr.Of(ctx)
	}
	var rang <-chan time.Time
	var stop func()
	if o.Clock != nil {
		rang, stop = o.Clock.Timer(d)
	} else {
		t := time.NewTimer(d)
		rang, stop = t.C, func() { t.Stop() }
	}
	defer stop()
	select {
	case <-rang:
		return nil
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
}
