package cloudformation

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// reverse returns a function that lists, for each record, the records that have to be deleted first.
func (d *deployment) reverse(ids []string) func(string) []string {
	dependents := map[string][]string{}
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	for _, id := range ids {
		for _, n := range d.st.resources[id].Needs {
			dependents[n] = append(dependents[n], id)
		}
	}
	return func(id string) []string { return dependents[id] }
}

// choose returns the IDs of the resources for which f is true.
func (d *deployment) choose(f func(*record) bool) []string {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	var ids []string
	for _, id := range sortedIDs(d.st.resources) {
		if f(d.st.resources[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// remove deletes a physical resource, unless its deletion policy retains it.
func (d *deployment) remove(ctx context.Context, r *record, of made, policy string, rolledBack bool) (kept bool, err error) {
	t := d.s.typeOf(of.Type)
	switch {
	case of.Physical == "" && (of.Suffix == "" || !rolledBack):
		return false, nil
	case of.Physical == "":
		return false, nil // it failed before it existed
	case policy == "Retain", policy == "RetainExceptOnCreate" && !rolledBack:
		return true, nil
	case policy == "Snapshot":
		return false, invalid("resources of type %s have no snapshots here", of.Type)
	case t == nil:
		return false, invalid("resources of type %s are not known any more", of.Type)
	}
	q := d.request(r, of, nil)
	return false, t.Delete(withRecord(ctx, d, r), q)
}

// discard returns a function that deletes a record's resource and adds its events.
func (d *deployment) discard(rolledBack, forget bool) func(context.Context, string) error {
	return func(ctx context.Context, id string) error {
		d.s.mu.Lock()
		r := d.st.resources[id]
		of := r.made
		policy := of.DeletionPolicy
		d.s.mu.Unlock()
		if rolledBack && d.op.RetainNew && policy == "Retain" {
			policy = "RetainExceptOnCreate"
		}
		if slices.Contains(d.op.Retain, id) {
			policy = "Retain"
		}
		if err := d.s.change(func(k *keeper) error {
			r.Operation = d.op.ID
			if r.Token == "" || r.Status != "DELETE_IN_PROGRESS" {
				r.Token = newToken()
			}
			k.progress(d.st, r, "DELETE_IN_PROGRESS", "")
			return nil
		}); err != nil {
			return err
		}
		kept, err := d.remove(ctx, r, of, policy, rolledBack)
		for _, old := range r.Trash { // from a failed deployment that was never rolled back
			if err == nil && old.Physical != of.Physical {
				_, err = d.remove(ctx, r, old, old.UpdateReplacePolicy, rolledBack)
			}
		}
		if d.s.ctx.Err() != nil {
			return d.s.ctx.Err()
		}
		return firstError(d.s.change(func(k *keeper) error {
			switch {
			case err != nil && d.op.Force:
				k.progress(d.st, r, "DELETE_SKIPPED", d.reasonOf(r, err))
				err = nil
			case err != nil:
				k.progress(d.st, r, "DELETE_FAILED", d.reasonOf(r, err))
			case kept:
				k.progress(d.st, r, "DELETE_SKIPPED", "")
			default:
				k.progress(d.st, r, "DELETE_COMPLETE", "")
			}
			if err == nil && forget {
				k.forget(d.st, id)
			}
			return nil
		}), err)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// delete deletes all resources of the stack.
func (d *deployment) delete() error {
	failed := d.deleteAll(false)
	if d.s.ctx.Err() != nil {
		return nil //nolint:nilerr // the next start goes on
	}
	return d.s.change(func(k *keeper) error {
		if len(failed) > 0 {
			d.end(k, "DELETE_FAILED", fmt.Sprintf("The following resource(s) failed to delete: [%s]. ",
				strings.Join(failed, ", ")))
			return nil
		}
		d.st.Deleted = d.s.now().UnixMilli()
		d.st.Outputs, d.st.Imports = nil, nil
		for _, c := range d.s.sets {
			if c.StackID == d.st.ID {
				delete(d.s.sets, c.ID)
				k.b.Delete(d.s.table, c.key())
			}
		}
		d.end(k, "DELETE_COMPLETE", "")
		return nil
	})
}

func (d *deployment) deleteAll(rolledBack bool) (failed []string) {
	ids := d.choose(func(r *record) bool { return r.Status != "DELETE_COMPLETE" && r.Status != "DELETE_SKIPPED" })
	errs := d.walk(ids, d.reverse(ids), false, d.discard(rolledBack, false))
	return failedNames(errs)
}

// rollback undoes an operation: a create by deleting the resources, an update by restoring the previous state.
func (d *deployment) rollback() error {
	if d.op.Kind == opImport {
		return d.abandon()
	}
	if d.op.Kind == opCreate {
		failed := d.deleteAll(true)
		if d.s.ctx.Err() != nil {
			return nil //nolint:nilerr // the next start goes on
		}
		return d.s.change(func(k *keeper) error {
			d.st.deployed = d.op.Target
			k.text(d.st, textCurrent, d.st.Template)
			k.text(d.st, textProcessed, d.st.Processed)
			if len(failed) > 0 {
				d.end(k, "ROLLBACK_FAILED", fmt.Sprintf("The following resource(s) failed to delete: [%s]. ",
					strings.Join(failed, ", ")))
			} else {
				d.end(k, "ROLLBACK_COMPLETE", "")
			}
			return nil
		})
	}
	ids := d.choose(func(r *record) bool { return r.Before != nil })
	needs := map[string][]string{}
	d.s.mu.Lock()
	for _, id := range ids {
		needs[id] = d.st.resources[id].Before.Needs
	}
	d.s.mu.Unlock()
	failed := d.walk(ids, func(id string) []string { return needs[id] }, false, d.restore)
	if d.s.ctx.Err() != nil {
		return nil //nolint:nilerr // the next start goes on
	}
	return d.s.change(func(k *keeper) error {
		if len(failed) > 0 {
			d.st.Paused = d.op
			d.end(k, "UPDATE_ROLLBACK_FAILED", fmt.Sprintf("The following resource(s) failed to update: [%s]. ",
				strings.Join(failedNames(failed), ", ")))
			return nil
		}
		d.op.Phase = phaseRollbackCleanup
		k.status(d.st, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS", "")
		return nil
	})
}

// restore restores a resource to its state before the update.
func (d *deployment) restore(ctx context.Context, id string) error {
	d.s.mu.Lock()
	r := d.st.resources[id]
	before, attempted := *r.Before, r.made
	skip := slices.Contains(d.op.Skip, id)
	d.s.mu.Unlock()
	if before.Physical != attempted.Physical || skip || before.Type != attempted.Type {
		return d.s.change(func(k *keeper) error {
			if before.Physical != attempted.Physical && attempted.Physical != "" {
				r.Trash = append(r.Trash, attempted)
			}
			r.Trash = slices.DeleteFunc(r.Trash, func(m made) bool { return m.Physical == before.Physical })
			r.made, r.Before = before, nil
			r.Operation, r.Doing = d.op.ID, doUpdate
			k.progress(d.st, r, "UPDATE_COMPLETE", "")
			return nil
		})
	}
	if len(changedProperties(before.Properties, attempted.Properties)) == 0 && r.Status != "UPDATE_FAILED" {
		return d.s.change(func(k *keeper) error { // only the engine's record of it, or its tags, have changed
			r.made, r.Before = before, nil
			k.resource(d.st, r)
			return nil
		})
	}
	if err := d.s.change(func(k *keeper) error {
		r.Operation, r.Doing, r.Token = d.op.ID, doUpdate, newToken()
		k.progress(d.st, r, "UPDATE_IN_PROGRESS", "")
		return nil
	}); err != nil {
		return err
	}
	state, err := d.s.typeOf(before.Type).Update(withRecord(ctx, d, r), d.request(r, before, &attempted))
	if d.s.ctx.Err() != nil {
		return d.s.ctx.Err()
	}
	return firstError(d.s.change(func(k *keeper) error {
		if err != nil {
			k.progress(d.st, r, "UPDATE_FAILED", d.reasonOf(r, err))
			return nil //nolint:nilerr // the error is returned below
		}
		before.Physical, before.Ref, before.Attributes = state.ID, state.Ref, state.Attributes
		r.made, r.Before = before, nil
		k.progress(d.st, r, "UPDATE_COMPLETE", "")
		return nil
	}), err)
}

// cleanup deletes what an update has made obsolete. A resource that cannot be deleted is kept, and the update still
// succeeds.
func (d *deployment) cleanup() error {
	if d.c == nil {
		if err := d.begin(&d.op.Target); err != nil {
			return err
		}
	}
	if err := d.sweep(func(r *record) bool { return !slices.Contains(d.c.graph.IDs, r.ID) }, false); err != nil ||
		d.s.ctx.Err() != nil {
		return err
	}
	return d.s.change(func(k *keeper) error {
		d.settle(k)
		d.end(k, "UPDATE_COMPLETE", "")
		return nil
	})
}

// rollbackCleanup deletes what an update created before it failed.
func (d *deployment) rollbackCleanup() error {
	if err := d.sweep(func(r *record) bool { return r.New }, true); err != nil || d.s.ctx.Err() != nil {
		return err
	}
	return d.s.change(func(k *keeper) error {
		d.settle(k)
		d.end(k, "UPDATE_ROLLBACK_COMPLETE", d.op.Failure)
		return nil
	})
}

// sweep deletes unwanted resources, and resources that have been replaced.
func (d *deployment) sweep(unwanted func(*record) bool, rolledBack bool) error {
	ids := d.choose(func(r *record) bool { return unwanted(r) || len(r.Trash) > 0 })
	whole := d.discard(rolledBack, true)
	d.walk(ids, d.reverse(ids), false, func(ctx context.Context, id string) error {
		d.s.mu.Lock()
		r := d.st.resources[id]
		all := unwanted(r)
		trash := slices.Clone(r.Trash)
		d.s.mu.Unlock()
		if all {
			return whole(ctx, id)
		}
		for _, old := range trash {
			if err := d.sweepOne(ctx, r, old, rolledBack); err != nil {
				return err
			}
		}
		return nil
	})
	return nil
}

// sweepOne deletes a resource that has been replaced.
func (d *deployment) sweepOne(ctx context.Context, r *record, old made, rolledBack bool) error {
	say := func(status, reason string) error {
		return d.s.change(func(k *keeper) error {
			k.event(d.st, event{LogicalID: r.ID, Physical: old.Physical, Type: old.Type, Status: status,
				Reason: reason})
			k.stack(d.st)
			if status != "DELETE_IN_PROGRESS" {
				r.Trash = slices.DeleteFunc(r.Trash, func(m made) bool { return m.Physical == old.Physical })
				k.resource(d.st, r)
			}
			return nil
		})
	}
	if err := say("DELETE_IN_PROGRESS", ""); err != nil {
		return err
	}
	policy := old.UpdateReplacePolicy
	if rolledBack {
		policy = ""
	}
	kept, err := d.remove(ctx, r, old, policy, rolledBack)
	switch {
	case d.s.ctx.Err() != nil:
		return d.s.ctx.Err()
	case err != nil:
		return firstError(say("DELETE_FAILED", d.reasonOf(r, err)), err)
	case kept:
		return say("DELETE_SKIPPED", "")
	}
	return say("DELETE_COMPLETE", "")
}
