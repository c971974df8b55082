package deadletters

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"
)

// maxAttempts limits the attempts at an act while other operators act on the same letter.
const maxAttempts = 5

// change changes a dead letter and records the act, in one document.
func (r *SourceStore) change(ctx context.Context, id string, verb Verb, by By,
	do func(l *Letter, e *entry) (before, after Snapshot, err error),
) error {
	for range maxAttempts {
		l, e, err := r.show(ctx, id, new(deliveries))
		if err != nil {
			return err
		}
		if l.Undecided {
			return undecided(&l)
		}
		if err := r.free(ctx, &l, &e); err != nil {
			return err
		}
		before, after, err := do(&l, &e)
		if err != nil {
			return err
		}
		e.Acts = append(e.Acts, Act{At: r.now().UTC(), Who: by.Who, Verb: verb, ID: id, Reason: by.Reason,
			Before: before.JSON(), After: after.JSON()})
		if err := r.save(ctx, &e); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("the letter %s: %w, %d times; try again", id, ErrConflict, maxAttempts)
}

// free makes sure that a letter is dead and that no delivery can deliver it any more. It fails with a NotDeadError
// otherwise. If the letter's last delivery was abandoned before it was decided, free decides it, as one without
// letters.
func (r *SourceStore) free(ctx context.Context, l *Letter, e *entry) error {
	if l.State != Dead {
		return notDead(l, e)
	}
	if !e.open {
		return nil
	}
	d, err := r.keep(ctx, Delivery{ID: e.last(), At: r.now().UnixMicro()}, decided)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(d.Items, func(it Item) bool { return it.ID == l.ID }) { // decided at the same moment
		l.State = Underway
		return notDead(l, e)
	}
	return nil
}

func notDead(l *Letter, e *entry) error {
	err := &NotDeadError{ID: l.ID, State: l.State}
	if len(e.Acts) > 0 {
		err.Last = &e.Acts[len(e.Acts)-1]
	}
	return err
}

// Edit implements Store.
func (r *SourceStore) Edit(ctx context.Context, id string, payload []byte, by By) error {
	return r.change(ctx, id, VerbEdit, by, func(l *Letter, e *entry) (before, after Snapshot, err error) {
		if string(payload) == string(l.Payload) {
			before, after = WithPayload(l.Sent()), WithPayload(payload)
			if e.Edited = nil; e.imported() {
				e.Edited = append([]byte{}, payload...) // the import may have sent other values
			}
			return before, after, nil
		}
		if err := r.Source.CheckEdit(l, payload); err != nil {
			return before, after, err
		}
		before, after = WithPayload(l.Sent()), WithPayload(payload)
		e.Edited = append([]byte{}, payload...)
		return before, after, nil
	})
}

// Discard implements Store.
func (r *SourceStore) Discard(ctx context.Context, id string, by By) error {
	err := r.change(ctx, id, VerbDiscard, by, func(l *Letter, e *entry) (before, after Snapshot, err error) {
		before = WithPayload(l.Sent())
		before.Status, before.Reason, before.Error, before.Attempts = string(Dead), l.Reason, l.Error, &l.Attempts
		e.State = Discarded
		return before, Snapshot{Status: string(Discarded)}, nil
	})
	remover, ok := r.Source.(Remover)
	if err != nil || !ok {
		return err
	}
	if err := remover.Remove(ctx, id); err != nil {
		return fmt.Errorf("the letter %s is discarded, but could not be removed from its source: %w", id, err)
	}
	return nil
}

// Redrive implements Store.
func (r *SourceStore) Redrive(ctx context.Context, id string, by By) error {
	return r.RedriveAll(ctx, []string{id}, by)[0]
}

func newDeliveryID() string { return rand.Text() }

// RedriveAll implements Batcher. The letters form one delivery.
func (r *SourceStore) RedriveAll(ctx context.Context, ids []string, by By) []error {
	errs := make([]error, len(ids))
	at := map[string]int{} // the index of each letter in ids
	d := Delivery{ID: newDeliveryID(), At: r.now().UnixMicro(), Who: by.Who, Reason: by.Reason}
	resumed, read := map[string]error{}, new(deliveries)
	for i, id := range ids {
		if _, twice := at[id]; twice {
			errs[i] = &NotDeadError{ID: id, State: Underway}
			continue
		}
		at[id] = i
		var l Letter
		var e entry
		l, e, errs[i] = r.show(ctx, id, read)
		switch {
		case errs[i] != nil:
		case l.Undecided:
			errs[i] = r.again(ctx, &e, by, read, resumed)
		case l.State == Dead:
			if errs[i] = r.free(ctx, &l, &e); errs[i] != nil {
				continue
			}
			d.Items = append(d.Items, Item{ID: id, Payload: l.Sent(), Edited: l.Edited != nil, Found: Found(l),
				Version: e.version})
		case l.State == Underway && e.last() != "":
			errs[i] = r.resume(ctx, &l, &e, resumed)
		default:
			errs[i] = notDead(&l, &e)
		}
	}
	if len(d.Items) == 0 {
		return errs
	}
	wanted := d.Items
	outcome, err := r.redrive(ctx, d, by)
	for _, it := range wanted {
		errs[at[it.ID]] = err
		if err == nil {
			errs[at[it.ID]] = outcome[it.ID]
		}
	}
	return errs
}

// redrive plans a delivery and carries it out.
func (r *SourceStore) redrive(ctx context.Context, d Delivery, by By) (map[string]error, error) {
	if _, err := r.keep(ctx, d, planned); err != nil {
		return nil, err
	}
	return r.finish(ctx, d, by)
}

// again resumes the delivery of a letter that it left undecided, and records that for the letter. resumed has the
// results of the deliveries that were resumed before.
func (r *SourceStore) again(ctx context.Context, e *entry, by By, read *deliveries, resumed map[string]error) error {
	resumer, ok := r.Source.(Resumer)
	if !ok {
		return &BadActError{"the letter " + e.ID + " may have been delivered, and its delivery cannot be resumed"}
	}
	status := Snapshot{Status: string(Dead)}
	e.Acts = append(e.Acts, Act{At: r.now().UTC(), Who: by.Who, Verb: VerbRedrive, ID: e.ID, Reason: by.Reason,
		Before: status.JSON(), After: Snapshot{Status: string(Underway)}.JSON()})
	if err := r.save(ctx, e); errors.Is(err, ErrConflict) {
		return &NotDeadError{ID: e.ID, State: Underway}
	} else if err != nil {
		return err
	}
	id := e.last()
	if err, done := resumed[id]; done {
		return err
	}
	d, err := read.delivery(ctx, r, id)
	if err == nil {
		err = resumer.Resume(ctx, &d.Delivery)
	}
	resumed[id] = err
	return err
}

// resume completes an abandoned delivery. If the delivery has been handed over, resume reports that its letters are
// being delivered.
func (r *SourceStore) resume(ctx context.Context, l *Letter, e *entry, resumed map[string]error) error {
	id := e.last()
	if err, done := resumed[id]; done {
		return err
	}
	_, done, err := r.delivery(ctx, id, complete)
	if err != nil {
		return err
	}
	d, ok, err := r.delivery(ctx, id, planned)
	if err != nil {
		return err
	}
	since := r.now().Sub(time.UnixMicro(d.At))
	if done || !ok || since < abandoned && since > -abandoned { // below: the clock was set back
		return notDead(l, e)
	}
	outcome, err := r.finish(ctx, d, By{d.Who, d.Reason})
	if err == nil {
		err = outcome[l.ID]
	}
	resumed[id] = err
	return err
}

// finish claims the letters of a planned delivery, decides which are part of it, hands it over, and records that. It
// may be repeated by any operator, at any point, and concurrently.
func (r *SourceStore) finish(ctx context.Context, plan Delivery, by By) (map[string]error, error) {
	outcome := map[string]error{}
	d := plan
	d.Items = nil
	for i := range plan.Items {
		it := &plan.Items[i]
		switch err := r.claim(ctx, plan.ID, it, by); err.(type) { //nolint:errorlint // claim's own, as they are
		case nil:
			d.Items = append(d.Items, *it)
		case *NotDeadError, *BadActError:
			outcome[it.ID] = err
		default:
			return nil, err
		}
	}
	if len(d.Items) == 0 {
		return outcome, nil
	}
	d, err := r.keep(ctx, d, decided)
	if err != nil {
		return nil, err
	}
	if d, err = r.outstanding(ctx, d); err != nil {
		return nil, err
	}
	known := true
	for i, err := range r.Source.Deliver(ctx, &d) {
		if d.Items[i].Gone {
			continue
		}
		id := d.Items[i].ID
		outcome[id] = err
		_, refused := errors.AsType[*BadActError](err)
		_, gone := errors.AsType[*NotDeadError](err)
		switch {
		case refused || gone:
			if err := r.giveBack(ctx, id, d.ID); err != nil {
				outcome[id] = errors.Join(outcome[id], err)
			}
		case err != nil:
			known = false
			outcome[id] = fmt.Errorf("%w; it may or may not have been sent: redrive it again after %s, "+
				"which does not send it twice", err, abandoned)
		}
	}
	if !known {
		return outcome, nil
	}
	_, err = r.keep(ctx, Delivery{ID: d.ID, At: r.now().UnixMicro()}, complete)
	return outcome, err
}

// outstanding marks the letters that are no longer part of a delivery. They were given back, or they died again and
// were redriven before the delivery was resumed.
func (r *SourceStore) outstanding(ctx context.Context, d Delivery) (Delivery, error) {
	for i := range d.Items {
		e, err := r.entry(ctx, d.Items[i].ID)
		if err != nil {
			return d, err
		}
		d.Items[i].Gone = e.State != Underway || e.last() != d.ID
	}
	return d, nil
}

// claim makes a letter part of a delivery. The error is also nil if another operator has already claimed it for the
// same delivery.
func (r *SourceStore) claim(ctx context.Context, delivery string, it *Item, by By) error {
	e, err := r.entry(ctx, it.ID)
	if err != nil {
		return err
	}
	if e.partOf(delivery) {
		return nil
	}
	if e.version == it.Version {
		before, none := Letter(it.Found), 0
		if e.version == "" {
			e.Found = it.Found
		}
		e.State, e.Deliveries = Underway, append(e.Deliveries, delivery)
		status, _ := RedriveChange(&before)
		e.Acts = append(e.Acts, Act{At: r.now().UTC(), Who: by.Who, Verb: VerbRedrive, ID: it.ID, Reason: by.Reason,
			Before: status.JSON(), After: Snapshot{Status: string(Underway), Attempts: &none}.JSON()})
		if err = r.save(ctx, &e); !errors.Is(err, ErrConflict) {
			return err
		}
		if e, err = r.entry(ctx, it.ID); err != nil || e.partOf(delivery) {
			return err
		}
	}
	if e.State == Dead {
		return &BadActError{"the letter " + it.ID + " was edited in the meantime; check it and redrive it again"}
	}
	l := Letter{ID: it.ID, State: e.State}
	return notDead(&l, &e)
}

// RedriveChange returns the snapshots before and after a redrive.
func RedriveChange(l *Letter) (before, after Snapshot) {
	none := 0
	return Snapshot{Status: string(Dead), Reason: l.Reason, Error: l.Error, Attempts: &l.Attempts},
		Snapshot{Status: string(Underway), Attempts: &none}
}

// giveBack marks a letter that could not be handed over as dead again.
func (r *SourceStore) giveBack(ctx context.Context, id, delivery string) error {
	for range maxAttempts {
		e, err := r.entry(ctx, id)
		if err != nil || e.last() != delivery || e.State != Underway {
			return err
		}
		e.State = Dead
		if err := r.save(ctx, &e); !errors.Is(err, ErrConflict) {
			return err
		}
	}
	return ErrConflict
}
