package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"stepback/local/services/stepfunctions/activities"
	"stepback/local/services/stepfunctions/statemachines"
)

// Documents is a durable store of small documents under keys.
type Documents interface {
	// PutDocument stores a document, replacing one with the same key, and returns once it is durable.
	PutDocument(key string, value []byte) error
	// DeleteDocument deletes a document, if it exists.
	DeleteDocument(key string) error
	// EachDocument calls each for the documents whose keys start with prefix, until it returns an error.
	EachDocument(ctx context.Context, prefix string, each func(key string, value []byte) error) error
}

// Kept is a Store that keeps its records in Documents, so they outlive the process. They are loaded once; changes
// are written before they become visible.
type Kept struct {
	*Memory
	documents Documents
}

// The key prefixes of the records.
const (
	machineKey  = "states/machine/"
	revisionKey = "states/revision/"
	activityKey = "states/activity/"
)

// Keep returns a store that loads its records from documents and writes changes there.
func Keep(ctx context.Context, documents Documents) (*Kept, error) {
	k := &Kept{NewMemory(), documents}
	err := errors.Join(
		load(ctx, documents, machineKey, k.Memory.PutMachine), load(ctx, documents, revisionKey, k.Memory.PutRevision),
		load(ctx, documents, activityKey, k.Memory.PutActivity),
	)
	if err != nil {
		return nil, fmt.Errorf("reading the state machines and activities: %w", err)
	}
	return k, nil
}

func load[T any](ctx context.Context, documents Documents, prefix string, put func(*T) error) error {
	return documents.EachDocument(ctx, prefix, func(key string, value []byte) error {
		record := new(T)
		if err := json.Unmarshal(value, record); err != nil {
			return fmt.Errorf("the document %s: %w", key, err)
		}
		return put(record)
	})
}

// PutMachine implements Store.
func (k *Kept) PutMachine(m *statemachines.Machine) error {
	if err := k.put(machineKey+m.ARN, m); err != nil {
		return err
	}
	return k.Memory.PutMachine(m)
}

// DeleteMachine implements Store.
func (k *Kept) DeleteMachine(arn string) error {
	if err := k.documents.DeleteDocument(machineKey + arn); err != nil {
		return err
	}
	return k.Memory.DeleteMachine(arn)
}

// PutRevision implements Store.
func (k *Kept) PutRevision(r *statemachines.Revision) error {
	if err := k.put(revisionKey+r.ID, r); err != nil {
		return err
	}
	return k.Memory.PutRevision(r)
}

// DeleteRevision implements Store.
func (k *Kept) DeleteRevision(id string) error {
	if err := k.documents.DeleteDocument(revisionKey + id); err != nil {
		return err
	}
	return k.Memory.DeleteRevision(id)
}

// PutActivity implements Store.
func (k *Kept) PutActivity(a *activities.Activity) error {
	if err := k.put(activityKey+a.ARN, a); err != nil {
		return err
	}
	return k.Memory.PutActivity(a)
}

// DeleteActivity implements Store.
func (k *Kept) DeleteActivity(arn string) error {
	if err := k.documents.DeleteDocument(activityKey + arn); err != nil {
		return err
	}
	return k.Memory.DeleteActivity(arn)
}

func (k *Kept) put(key string, record any) error {
	value, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return k.documents.PutDocument(key, value)
}
