package deadletters

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// enlisting is the number of letters that Enlist claims at once.
const enlisting = 32

// Enlist makes letters part of a delivery that Deliver does not hand over, because something else delivers them: an
// import whose file has them as rows. d has the delivery's ID, its Carrier, and Items with the letters' IDs. Enlist
// claims those that are dead, and returns the delivery as it was decided. Its Items are the letters that may be
// delivered; LeftOut says why the others may not, because they were redriven, discarded or enlisted elsewhere.
//
// Enlist may be repeated, concurrently and after a crash, and always returns the first decision. The carrier must not
// deliver anything before it knows the decision.
func (r *SourceStore) Enlist(ctx context.Context, d Delivery, by By) (Delivery, error) {
	if kept, ok, err := r.delivery(ctx, d.ID, decided); err != nil || ok {
		return kept, err
	}
	plan := d
	plan.Items = nil
	plan.At, plan.Who, plan.Reason = r.now().UnixMicro(), by.Who, by.Reason
	plan, err := r.keep(ctx, plan, planned)
	if err != nil {
		return d, err
	}
	errs := make([]error, len(d.Items))
	read := new(deliveries)
	first := map[string]bool{} // by letter
	work, working := errgroup.WithContext(ctx)
	work.SetLimit(enlisting)
	for i := range d.Items {
		id := d.Items[i].ID
		if first[id] {
			continue
		}
		first[id] = true
		work.Go(func() error {
			err := r.enlist(working, &plan, id, by, read)
			_, gone := errors.AsType[*NotDeadError](err)
			_, refused := errors.AsType[*BadActError](err)
			if errs[i] = err; err == nil || gone || refused || errors.Is(err, ErrNotFound) {
				return nil
			}
			return fmt.Errorf("the letter %s: %w", id, err)
		})
	}
	if err := work.Wait(); err != nil {
		return d, err
	}
	out := plan
	out.LeftOut = map[string]string{}
	for i := range d.Items {
		id := d.Items[i].ID
		switch {
		case !first[id]: // a repeat
		case errs[i] != nil:
			out.LeftOut[id] = why(errs[i])
		default:
			out.Items = append(out.Items, Item{ID: id})
		}
		first[id] = false
	}
	return r.keep(ctx, out, decided)
}

// why returns why a letter is left out of a delivery.
func why(err error) string {
	gone, ok := errors.AsType[*NotDeadError](err)
	if !ok {
		return err.Error()
	}
	text := fmt.Sprintf("its letter is %s", gone.State)
	if a := gone.Last; a != nil {
		text += fmt.Sprintf(": %s by %s at %s", a.Verb.Past(), a.Who, a.At.UTC().Format(time.RFC3339))
	}
	return text
}

// Decided returns a delivery with the letters that are part of it; ok is false if that is not decided yet.
func (r *SourceStore) Decided(ctx context.Context, id string) (d Delivery, ok bool, err error) {
	return r.delivery(ctx, id, decided)
}

// enlist claims one letter for a delivery that is not decided yet.
func (r *SourceStore) enlist(ctx context.Context, plan *Delivery, id string, by By, read *deliveries) error {
	for range maxAttempts {
		l, e, err := r.show(ctx, id, read)
		switch {
		case err != nil:
			return err
		case e.State == Underway && e.last() == plan.ID:
			return nil // claimed by an earlier attempt
		case l.Undecided:
			return undecided(&l)
		}
		if err := r.free(ctx, &l, &e); err != nil {
			return err
		}
		before, after := RedriveChange(&l)
		e.State, e.Edited, e.Deliveries = Underway, nil, append(e.Deliveries, plan.ID)
		e.Acts = append(e.Acts, Act{At: r.now().UTC(), Who: by.Who, Verb: VerbImport, ID: id, Reason: by.Reason,
			Before: before.JSON(), After: after.JSON()})
		if err := r.save(ctx, &e); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("%w, %d times; try again", ErrConflict, maxAttempts)
}
