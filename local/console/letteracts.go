package console

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stepback/outbox/deadletters"
)

// shownOutcomes is the most letters that the result of an action lists individually.
const shownOutcomes = 20

// outcomes collects the results of an action on letters.
type outcomes struct {
	act    deadletters.Verb
	counts map[deadletters.Outcome]int
	each   []string
	failed []string
}

func (o *outcomes) add(r deadletters.Result) error {
	if o.counts == nil {
		o.counts = map[deadletters.Outcome]int{}
	}
	o.counts[r.Outcome]++
	text := fmt.Sprintf("%s %s", r.ID, r.Outcome.Text(o.act))
	if r.Err != nil {
		text += ": " + r.Err.Error()
		if len(o.failed) < shownOutcomes {
			o.failed = append(o.failed, text)
		}
	}
	if len(o.each) <= shownOutcomes {
		o.each = append(o.each, text)
	}
	return nil
}

// String returns the result for each letter or, for many, the number of letters with each outcome and why some
// failed.
func (o *outcomes) String() string {
	parts := make([]string, 0, len(o.counts))
	for outcome, n := range o.counts {
		parts = append(parts, fmt.Sprintf("%s: %s", outcome.Text(o.act), count(n)))
	}
	slices.Sort(parts)
	named := o.each
	if len(named) > shownOutcomes {
		named = o.failed
	}
	switch {
	case len(parts) == 0:
		return "No letters match."
	case len(named) == 0:
		return "Letters " + strings.Join(parts, ", ") + "."
	}
	return "Letters " + strings.Join(parts, ", ") + ".\n" + strings.Join(named, "\n")
}

// actOnLetters redrives or discards letters: one, the selected ones, or all that match the filter. In a dry run it
// returns what it would do.
func (c *Console) actOnLetters(ctx context.Context, _ Engine, f url.Values) (said, to string, err error) {
	store, err := c.store(ctx, f.Get("store"))
	if err != nil {
		return "", "", err
	}
	o := deadletters.Operator{Store: store.Store, Who: c.cfg.Who}
	s := deadletters.Selection{IDs: f["id"]}
	if f.Get("all") != "" {
		filter := LetterFilter{f.Get("reason"), f.Get("error"), f.Get("subject"), f.Get("execution")}.filter()
		s = deadletters.Selection{Filter: &filter}
	} else if len(s.IDs) == 0 {
		return "", "", &badForm{"select letters first, or all that match the filter"}
	}
	pace := deadletters.Pace{DryRun: f.Get("dry") != "" || f.Get("do") == "try"}
	if text := strings.TrimSpace(f.Get("rate")); text != "" {
		if pace.Rate, err = strconv.ParseFloat(text, 64); err != nil || pace.Rate <= 0 {
			return "", "", &badForm{"the rate is a number of letters per second, such as 10; leave it empty for no limit"}
		}
	}
	found := outcomes{act: deadletters.VerbRedrive}
	why := strings.TrimSpace(f.Get("why"))
	switch f.Get("do") {
	case "discard":
		found.act = deadletters.VerbDiscard
		err = o.Discard(ctx, s, pace.DryRun, why, found.add)
	case "redrive", "try":
		err = o.Redrive(ctx, s, pace, why, found.add)
	default:
		err = &badForm{"the form says neither redrive nor discard"}
	}
	c.stores.forget()
	if err != nil {
		return "", "", err
	}
	said = found.String()
	if pace.DryRun {
		said = "Dry run, nothing was done. " + said
	}
	return said, "", nil
}

func (c *Console) editLetter(ctx context.Context, _ Engine, f url.Values) (said, to string, err error) {
	store, err := c.store(ctx, f.Get("store"))
	if err != nil {
		return "", "", err
	}
	o := deadletters.Operator{Store: store.Store, Who: c.cfg.Who}
	return "The edited payload is saved; the original is kept. Redrive the letter to send it.", "",
		o.Edit(ctx, f.Get("id"), []byte(f.Get("payload")), strings.TrimSpace(f.Get("why")))
}
