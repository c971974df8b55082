package cloudformation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// apply creates and changes the resources of the target.
func (d *deployment) apply() error {
	failed := map[string]error{}
	var reason string
	var outputs []output
	err := d.begin(&d.op.Target)
	if err == nil {
		failed = d.walk(d.c.graph.IDs, func(id string) []string { return d.c.graph.Needs[id] }, true, d.bring)
	}
	if d.s.ctx.Err() != nil {
		return nil //nolint:nilerr // the next start goes on
	}
	if err == nil && len(failed) == 0 {
		if cause := context.Cause(d.waits.ctx); cause != nil {
			err = cause
		}
	}
	if err == nil && len(failed) == 0 {
		outputs, err = d.outputs()
	}
	if err == nil && len(failed) == 0 {
		err = d.monitored()
	}
	if d.s.ctx.Err() != nil {
		return nil //nolint:nilerr // the next start goes on
	}
	switch {
	case len(failed) > 0 && errors.Is(context.Cause(d.waits.ctx), errTimeout):
		reason = errTimeout.Error()
	case len(failed) > 0:
		verb := "create"
		if d.op.Kind == opImport {
			verb = "import"
		}
		if d.op.Kind == opUpdate {
			verb = d.verbs(failed)
		}
		reason = fmt.Sprintf("The following resource(s) failed to %s: [%s]. ", verb, strings.Join(failedNames(failed), ", "))
	case err != nil:
		reason = why(err)
	}
	if reason != "" {
		return d.failed(reason)
	}
	return d.s.change(func(k *keeper) error {
		st, op := d.st, d.op
		st.deployed = op.Target
		st.Outputs = outputs
		st.Imports = d.imports()
		st.DisableRollback = op.DisableRollback
		k.text(st, textCurrent, st.Template)
		k.text(st, textProcessed, st.Processed)
		if op.Kind != opUpdate {
			d.settle(k)
			d.end(k, op.Kind+"_COMPLETE", "")
			return nil
		}
		op.Phase = phaseCleanup
		st.Updated = d.s.now().UnixMilli()
		k.status(st, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", "")
		return nil
	})
}

func failedNames(failed map[string]error) []string { return slices.Sorted(maps.Keys(failed)) }

// verbs returns which actions failed: create, update or both.
func (d *deployment) verbs(failed map[string]error) string {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	created, updated := false, false
	for id := range failed {
		r := d.st.resources[id]
		created = created || r == nil || r.Doing == doCreate
		updated = updated || r != nil && r.Doing != doCreate
	}
	if created && updated {
		return "create or update"
	}
	if created {
		return "create"
	}
	return "update"
}

// sentence returns a reason that another sentence can follow. Reasons that list resources already end with a space.
func sentence(reason string) string {
	if reason == "" || strings.HasSuffix(reason, " ") {
		return reason
	}
	return strings.TrimSuffix(reason, ".") + ". "
}

// failed records the reason of a failure and determines what the operation does next: roll back, delete the stack,
// or pause.
func (d *deployment) failed(reason string) error {
	return d.s.change(func(k *keeper) error {
		st, op := d.st, d.op
		op.Failure = reason
		switch {
		case op.Kind == opCreate && (op.OnFailure == "DO_NOTHING" || op.DisableRollback):
			st.deployed = op.Target
			k.text(st, textCurrent, st.Template)
			k.text(st, textProcessed, st.Processed)
			st.Paused = op
			d.end(k, "CREATE_FAILED", reason)
		case op.Kind == opCreate && op.OnFailure == "DELETE":
			op.Phase = phaseDelete
			k.status(st, "DELETE_IN_PROGRESS", sentence(reason)+"Delete requested by user.")
		case op.Kind == opCreate:
			op.Phase = phaseRollback
			k.status(st, "ROLLBACK_IN_PROGRESS", sentence(reason)+"Rollback requested by user.")
		case op.Kind == opImport:
			op.Phase = phaseRollback
			k.status(st, "IMPORT_ROLLBACK_IN_PROGRESS", reason)
		case op.DisableRollback:
			st.Paused = op
			d.end(k, "UPDATE_FAILED", reason)
		default:
			op.Phase = phaseRollback
			k.status(st, "UPDATE_ROLLBACK_IN_PROGRESS", reason)
		}
		return nil
	})
}

// end ends the operation. The caller holds mu.
func (d *deployment) end(k *keeper, status, reason string) {
	k.concludeSet(d.st, status)
	k.status(d.st, status, reason) // while the operation is still set, so that the event has its token
	d.st.Operation = nil
	if d.st.Paused != d.op {
		d.st.Paused = nil
		k.b.Delete(d.s.table, d.st.textKey(textTarget))
		k.b.Delete(d.s.table, d.st.textKey(textExpanded))
	}
	k.stack(d.st)
}

// settle discards the previous states of the resources. The caller holds mu.
func (d *deployment) settle(k *keeper) {
	for _, r := range d.st.resources {
		if r.Before != nil || r.New || len(r.Trash) > 0 {
			r.Before, r.New, r.Trash = nil, false, nil
			k.resource(d.st, r)
		}
	}
}
