package stepfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"stepback/local/services/stepfunctions/statemachines"
)

// Sweep deletes the revisions in documents that neither a state machine nor an execution refers to, and returns their
// number. Nothing else may use the documents at the same time.
func Sweep(ctx context.Context, documents Documents, executions map[string]bool) (int, error) {
	needed := map[string]bool{}
	err := documents.EachDocument(ctx, machineKey, func(_ string, value []byte) error {
		var m statemachines.Machine
		if err := json.Unmarshal(value, &m); err != nil {
			return err
		}
		needed[m.Revision] = true
		for i := range m.Versions {
			needed[m.Versions[i].Revision] = true
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	var unneeded []string
	err = documents.EachDocument(ctx, revisionKey, func(key string, _ []byte) error {
		if id := strings.TrimPrefix(key, revisionKey); !needed[id] && !executions[id] {
			unneeded = append(unneeded, key)
		}
		return nil
	})
	for _, key := range unneeded {
		err = errors.Join(err, documents.DeleteDocument(key))
	}
	return len(unneeded), err
}
