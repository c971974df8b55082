package pebble

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
)

// ForgetDefinitions removes the definitions that no execution uses any more. It returns how many it removed and the
// revisions of state machines that executions refer to. No execution may be started meanwhile.
func (j *Journal) ForgetDefinitions(ctx context.Context) (removed int, revisions map[string]bool, err error) {
	needed, revisions := map[string]bool{}, map[string]bool{}
	for x, err := range j.Executions(ctx, "") {
		if err != nil {
			return 0, nil, err
		}
		needed[x.Definition], revisions[x.Revision] = true, true
	}
	var unneeded [][]byte
	for it, err := range j.scan(ctx, definitionPrefix) {
		if err != nil {
			return 0, nil, err
		}
		if key := string(it.Key()); !needed[key[len(definitionPrefix):]] {
			unneeded = append(unneeded, []byte(key))
		}
	}
	err = j.write(func(b *pebble.Batch) error {
		for _, key := range unneeded {
			if err := b.Delete(key, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		j.mu.Lock()
		clear(j.definitions)
		j.mu.Unlock()
	}
	return len(unneeded), revisions, err
}
