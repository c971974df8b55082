package cloudformation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stepback/local/services/cloudformation/resource"
)

// opImport imports existing resources into a stack, without changing others.
const opImport = "IMPORT"

// doImport is the action on an imported resource.
const doImport = "import"

// toImport identifies an existing resource.
type toImport struct {
	Type       string            `json:"ResourceType"`
	LogicalID  string            `json:"LogicalResourceId"`
	Identifier map[string]string `json:"ResourceIdentifier"`
}

// imports returns the identifiers of the resources to import, by their logical IDs.
func (s *Service) imports(list []toImport) (map[string]string, error) {
	all := map[string]string{}
	for _, r := range list {
		t := s.typeOf(r.Type)
		if t == nil || t.Read == nil {
			return nil, invalid("ResourceTypes [%s] are not supported for Import", r.Type)
		}
		names := t.IdentifiedBy()
		parts := make([]string, len(names))
		for i, name := range names {
			if parts[i] = r.Identifier[name]; parts[i] == "" || len(r.Identifier) != len(names) {
				return nil, invalid("Provided identifiers for resource [%s] do not match the expected identifiers [%s]. ", r.LogicalID,
					strings.Join(names, ", "))
			}
		}
		all[r.LogicalID] = strings.Join(parts, "|")
	}
	return all, nil
}

// judgeImport checks that a change set only imports, and marks its changes as imports.
func (s *Service) judgeImport(st *stack, set *changeSet, c *compiled) error {
	var missing, changed, unkept []string
	for i := range set.Changes {
		ch := &set.Changes[i]
		identifier, ok := set.Imports[ch.LogicalID]
		switch {
		case ch.Action == "Add" && !ok:
			missing = append(missing, ch.LogicalID)
		case ch.Action != "Add":
			changed = append(changed, ch.LogicalID)
		default:
			ch.Action = "Import"
			if t := s.typeOf(ch.Type); t != nil {
				ch.Physical, _, _ = t.Locate(identifier)
			}
			if s.owned(st.scope(), ch.Type, ch.Physical) {
				return invalid("Resource %s of type %s already belongs to a stack", ch.Physical, ch.Type)
			}
			if c.Resource(ch.LogicalID).DeletionPolicy == nil {
				unkept = append(unkept, ch.LogicalID)
			}
		}
	}
	listed := func(names []string) string { slices.Sort(names); return strings.Join(names, ", ") }
	if len(missing) > 0 {
		return invalid("Resources [%s] is missing from ResourceToImport list", listed(missing))
	}
	if len(changed) > 0 {
		return invalid("As part of the import operation, you cannot modify or add [%s]", listed(changed))
	}
	if len(unkept) > 0 {
		return invalid("The following resources to import [%s] must have DeletionPolicy attribute specified in the template.", listed(unkept))
	}
	for id := range set.Imports {
		if !slices.ContainsFunc(set.Changes, func(ch change) bool { return ch.LogicalID == id }) {
			return invalid("Resources [%s] passed in ResourceToImport list are not in the template, or in the stack already", id)
		}
	}
	return nil
}

// take makes an existing resource part of the stack.
func (d *deployment) take(ctx context.Context, r *record, to made, identifier string) error {
	if to.Suffix = r.Suffix; to.Suffix == "" {
		to.Suffix = newSuffix()
	}
	if err := d.s.change(func(k *keeper) error {
		r.Operation, r.Doing, r.New = d.op.ID, doImport, true
		r.made = to
		k.progress(d.st, r, "IMPORT_IN_PROGRESS", "Resource import started.")
		return nil
	}); err != nil {
		return err
	}
	t := d.s.typeOf(to.Type)
	id, told, ok := t.Locate(identifier)
	if !ok {
		return d.fail(r, fmt.Errorf("%s is no identifier of %s", identifier, to.Type), to)
	}
	for name, value := range told {
		if p, ok := to.Properties[name].(string); ok && p != value {
			return d.fail(r, fmt.Errorf("the property %s is %s in the template, and %s in ResourcesToImport", name, p, value), to)
		}
	}
	to.Physical = id
	q := d.request(r, to, nil)
	if _, err := t.Read(ctx, q); err != nil {
		if errors.Is(err, resource.ErrGone) {
			//nolint:staticcheck,revive // AWS's words
			err = fmt.Errorf("Resource of type '%s' with identifier '%s' was not found.", to.Type, identifier)
		}
		to.Physical = ""
		return d.fail(r, err, to)
	}
	state := resource.State{ID: id}
	if t.Update != nil { // which returns the attributes, and sets the stack's tags
		q.Previous = maps.Clone(to.Properties)
		var err error
		if state, err = t.Update(ctx, q); err != nil {
			to.Physical = ""
			return d.fail(r, err, to)
		}
	}
	return d.s.change(func(k *keeper) error {
		to.Physical, to.Ref, to.Attributes = state.ID, state.Ref, state.Attributes
		r.made = to
		k.progress(d.st, r, "IMPORT_COMPLETE", "Resource import completed.")
		return nil
	})
}

// abandon ends a failed import: the stack and the resources are as they were before.
func (d *deployment) abandon() error {
	return d.s.change(func(k *keeper) error {
		for _, id := range sortedIDs(d.st.resources) {
			r := d.st.resources[id]
			switch {
			case r.New:
				k.progress(d.st, r, "IMPORT_ROLLBACK_COMPLETE", "")
				k.forget(d.st, id)
			case r.Before != nil:
				r.made, r.Before = *r.Before, nil
				k.resource(d.st, r)
			}
		}
		d.end(k, "IMPORT_ROLLBACK_COMPLETE", d.op.Failure)
		return nil
	})
}
