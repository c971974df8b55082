package cloudformation

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/cloudformation/template"
)

// The actions on a resource.
const (
	doCreate  = "create"
	doUpdate  = "update"
	doReplace = "replace"
)

// newSuffix returns the random part of the names generated for a resource.
func newSuffix() string { return strings.ToUpper(strings.ReplaceAll(aws.NewID(), "-", ""))[:12] }

// wanted evaluates the template's resource to its desired state.
func (d *deployment) wanted(id string) (made, error) {
	t := d.c.Resource(id)
	env := d.env
	v, err := env.Evaluate(t.Properties)
	if err != nil {
		return made{}, err
	}
	properties, ok := v.(map[string]any)
	if !ok {
		return made{}, invalid("Template format error: the properties of %s are not an object", id)
	}
	to := made{Type: t.Type, Properties: properties, Tags: d.op.Target.Tags, Needs: d.c.graph.Needs[id],
		SystemTags: true}
	if typ := d.s.typeOf(t.Type); typ != nil {
		if err := typ.Check(id, properties); err != nil {
			return to, err
		}
	}
	for name, policy := range map[*string]any{&to.DeletionPolicy: t.DeletionPolicy,
		&to.UpdateReplacePolicy: t.UpdateReplacePolicy} {
		v, err := env.Evaluate(policy)
		if err != nil {
			return to, err
		}
		*name, _ = v.(string)
	}
	if t.Metadata != nil {
		if to.Metadata, err = env.Evaluate(t.Metadata); err != nil {
			to.Metadata = t.Metadata // metadata may hold anything
		}
	}
	return to, nil
}

// bring creates, changes or replaces a resource, or leaves it unchanged.
func (d *deployment) bring(ctx context.Context, id string) error {
	to, err := d.wanted(id)
	var r *record
	d.s.mu.Lock()
	if r = d.st.resources[id]; r == nil {
		r = &record{ID: id, made: made{Type: d.c.Resource(id).Type}}
		d.st.resources[id] = r
	}
	again := r.Operation == d.op.ID && strings.HasSuffix(r.Status, "_IN_PROGRESS")
	done := r.Operation == d.op.ID && (r.Status == "CREATE_COMPLETE" || r.Status == "UPDATE_COMPLETE" ||
		r.Status == "IMPORT_COMPLETE")
	there := r.exists()
	current := r.made
	d.s.mu.Unlock()
	if done {
		return nil
	}
	if err == nil && there && current.Type == to.Type {
		d.settled.keep(id, current.Properties, to.Properties)
	}
	if err != nil {
		if r.Doing = doUpdate; d.op.Imports[id] != "" {
			r.Doing = doImport
		} else if !there {
			r.Doing = doCreate
		}
		return d.fail(r, err, to)
	}
	if identifier, ok := d.op.Imports[id]; ok && !there {
		return d.take(ctx, r, to, identifier)
	}
	if again {
		return d.resume(ctx, r, to)
	}
	if !there {
		if d.op.Import && d.s.importable(ctx, d.st, id, to) != "" {
			return d.adopt(ctx, r, to)
		}
		return d.create(ctx, r, to, doCreate)
	}
	replaces, changed, err := d.compare(id, current, to)
	switch {
	case err != nil:
		r.Doing = doUpdate
		return d.fail(r, err, to)
	case replaces:
		return d.create(ctx, r, to, doReplace)
	case changed:
		return d.update(ctx, r, to)
	case !reflect.DeepEqual(current.Metadata, to.Metadata) || current.DeletionPolicy != to.DeletionPolicy ||
		current.UpdateReplacePolicy != to.UpdateReplacePolicy || !slices.Equal(current.Needs, to.Needs):
		return d.s.change(func(k *keeper) error {
			if r.Before == nil {
				before := current
				r.Before = &before
			}
			r.Metadata, r.DeletionPolicy, r.UpdateReplacePolicy, r.Needs = to.Metadata, to.DeletionPolicy,
				to.UpdateReplacePolicy, to.Needs
			k.resource(d.st, r)
			return nil
		})
	}
	return nil
}

// changedProperties returns the names of properties that differ, sorted.
func changedProperties(a, b map[string]any) []string {
	names := map[string]bool{}
	for k := range a {
		names[k] = true
	}
	for k := range b {
		names[k] = true
	}
	var changed []string
	for k := range names {
		x, inA := a[k]
		y, inB := b[k]
		if inA != inB || template.JSON(x) != template.JSON(y) {
			changed = append(changed, k)
		}
	}
	slices.Sort(changed)
	return changed
}

// compare reports whether a resource has to be replaced or changed. It returns an error if a replacement would have
// the same name, or the stack's policy forbids the change.
func (d *deployment) compare(id string, current, to made) (replaces, changed bool, err error) {
	names := changedProperties(current.Properties, to.Properties)
	tagged := !reflect.DeepEqual(nonNil(current.Tags), nonNil(to.Tags))
	t := d.s.typeOf(to.Type)
	if current.Type != to.Type {
		return true, true, d.permitted(id, to.Type, "Update:Replace")
	}
	which := t.Replaces(names)
	if len(which) > 0 {
		if err := customNamed(t, current, to); err != nil {
			return false, false, err
		}
		return true, true, d.permitted(id, to.Type, "Update:Replace")
	}
	_, takesTags := t.Properties["Tags"]
	if len(names) > 0 || tagged && takesTags && t.Update != nil {
		return false, true, d.permitted(id, to.Type, "Update:Modify")
	}
	return false, false, nil
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// customNamed rejects a replacement that would have the same name as the resource it replaces.
func customNamed(t *resource.Type, current, to made) error {
	for name, p := range t.Properties {
		if !p.Name {
			continue
		}
		now, given := to.Properties[name]
		if before, had := current.Properties[name]; given && had && reflect.DeepEqual(now, before) && t.Update != nil {
			return invalid("CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename %v and update the stack again.",
				now)
		}
	}
	return nil
}

// fail records that a resource failed.
func (d *deployment) fail(r *record, err error, to made) error {
	if d.s.ctx.Err() != nil {
		return err // the outcome is unknown; it continues later
	}
	status := "UPDATE_FAILED"
	if r.Doing == doCreate {
		status = "CREATE_FAILED"
	}
	if r.Doing == doImport {
		status = "IMPORT_FAILED"
	}
	if e := d.s.change(func(k *keeper) error {
		r.Operation = d.op.ID
		if r.Physical == "" {
			r.New = true
			r.made = to
		}
		k.progress(d.st, r, status, d.reasonOf(r, err))
		return nil
	}); e != nil {
		return e
	}
	return err
}

// create creates a resource, either new or as a replacement.
func (d *deployment) create(ctx context.Context, r *record, to made, doing string) error {
	to.Suffix = newSuffix()
	if err := d.s.change(func(k *keeper) error {
		r.Operation, r.Doing, r.Token = d.op.ID, doing, aws.NewID()
		status, reason, physical := "CREATE_IN_PROGRESS", "", to.Physical
		if doing == doReplace {
			status = "UPDATE_IN_PROGRESS"
			reason = "Requested update requires the creation of a new physical resource; hence creating one."
			if r.Before == nil && !r.New {
				before := r.made
				r.Before = &before
			}
			r.Trash = append(r.Trash, r.made)
			physical = r.Physical // as recorded from AWS, the ID of the resource that it replaces
		} else {
			r.New = true
		}
		r.made = to
		k.progressOf(d.st, r, physical, status, reason)
		return nil
	}); err != nil {
		return err
	}
	return d.make(ctx, r, to, false)
}

// importable returns the physical ID of a resource that exists under the name given by the template, belongs to no
// stack, and is retained on deletion according to the template; empty if there is none.
func (s *Service) importable(ctx context.Context, st *stack, id string, to made) string {
	t := s.typeOf(to.Type)
	if t == nil || t.Read == nil || !strings.HasPrefix(to.DeletionPolicy, "Retain") {
		return ""
	}
	name := ""
	for property, p := range t.Properties {
		if text, ok := to.Properties[property].(string); ok && p.Name {
			name = text
		}
	}
	if name == "" || s.owned(st.scope(), to.Type, name) {
		return ""
	}
	q := &resource.Request{API: s.opts.API(st.scope(), s.identity(ctx, st.scope(), st.RoleARN)), Scope: st.scope(),
		Stack: st.Name, StackID: st.ID,
		LogicalID: id,
		Type:      to.Type, ID: name, Properties: to.Properties}
	if _, err := t.Read(ctx, q); err != nil {
		return ""
	}
	return name
}

// owned reports whether a resource belongs to a stack.
func (s *Service) owned(scope aws.Scope, typ, physical string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.stacks {
		for _, r := range st.resources {
			if st.scope() == scope && r.Type == typ && r.Physical == physical && r.exists() {
				return true
			}
		}
	}
	return false
}

// adopt adds an existing resource to the stack and updates it.
func (d *deployment) adopt(ctx context.Context, r *record, to made) error {
	to.Suffix = newSuffix()
	if err := d.s.change(func(k *keeper) error {
		r.Operation, r.Doing, r.Token, r.New = d.op.ID, doCreate, aws.NewID(), true
		r.made = to
		k.progress(d.st, r, "IMPORT_IN_PROGRESS", "Resource import started.")
		return nil
	}); err != nil {
		return err
	}
	return d.make(ctx, r, to, true)
}

// make calls the type's Create.
func (d *deployment) make(ctx context.Context, r *record, to made, again bool) error {
	q := d.request(r, to, nil)
	q.Again = again
	state, err := d.s.typeOf(to.Type).Create(withRecord(ctx, d, r), q)
	return d.made(r, to, state, err)
}

// made records the result of a creation or a change.
func (d *deployment) made(r *record, to made, state resource.State, err error) error {
	if err != nil && state.ID == "" {
		return d.fail(r, err, to)
	}
	if e := d.s.change(func(k *keeper) error {
		// a custom resource has created a replacement
		if r.Doing == doUpdate && r.Physical != "" && r.Physical != state.ID {
			r.Trash = append(r.Trash, *r.Before)
		}
		initiated := r.Physical == state.ID // and recorded
		to.Physical, to.Ref, to.Attributes = state.ID, state.Ref, state.Attributes
		r.made = to
		if err != nil {
			k.resource(d.st, r)
			return nil //nolint:nilerr // whoever asked for it is told below
		}
		status := "CREATE_COMPLETE"
		if r.Doing != doCreate {
			status = "UPDATE_COMPLETE"
		}
		r.Drift = nil
		if doing, _, _ := strings.Cut(status, "_"); r.Doing != doUpdate && r.Status == doing+"_IN_PROGRESS" && !initiated {
			k.progress(d.st, r, r.Status, "Resource creation Initiated")
		}
		k.progress(d.st, r, status, "")
		return nil
	}); e != nil {
		return e
	}
	if err != nil {
		return d.fail(r, err, to)
	}
	return nil
}

// update changes a resource in place.
func (d *deployment) update(ctx context.Context, r *record, to made) error {
	to.Suffix, to.Physical, to.Ref, to.Attributes = r.Suffix, r.Physical, r.Ref, r.Attributes
	before := r.made
	if err := d.s.change(func(k *keeper) error {
		if r.Before == nil && !r.New {
			r.Before = &before
		}
		r.Operation, r.Doing, r.Token = d.op.ID, doUpdate, aws.NewID()
		r.made = to
		k.progress(d.st, r, "UPDATE_IN_PROGRESS", "")
		return nil
	}); err != nil {
		return err
	}
	return d.alter(ctx, r, to, before)
}

// alter calls the type's Update.
func (d *deployment) alter(ctx context.Context, r *record, to, from made) error {
	t := d.s.typeOf(to.Type)
	if t.Update == nil {
		return d.fail(r, fmt.Errorf("resources of type %s cannot be changed", to.Type), to)
	}
	state, err := t.Update(withRecord(ctx, d, r), d.request(r, to, &from))
	if err != nil {
		return d.fail(r, err, to)
	}
	return d.made(r, to, state, nil)
}

// resume repeats an interrupted action.
func (d *deployment) resume(ctx context.Context, r *record, to made) error {
	to.Suffix = r.Suffix
	switch {
	case r.Doing == doUpdate && r.Before != nil:
		to.Physical, to.Ref, to.Attributes = r.Physical, r.Ref, r.Attributes
		return d.alter(ctx, r, to, *r.Before)
	case r.Physical != "":
		to.Physical, to.Ref, to.Attributes = r.Physical, r.Ref, r.Attributes
	}
	to.Physical = ""
	return d.make(ctx, r, to, true)
}
