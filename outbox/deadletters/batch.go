package deadletters

import "context"

// Batcher is a Store that can redrive several letters for the cost of one.
type Batcher interface {
	// RedriveAll redrives letters and returns an error for each, as Store.Redrive would.
	RedriveAll(ctx context.Context, ids []string, by By) []error
}

// maxBatch is the most letters in one call of RedriveAll.
const maxBatch = 1000

// redriveAll redrives letters of any store, together if the store is a Batcher.
func redriveAll(ctx context.Context, r Store, ids []string, by By) []error {
	if b, ok := r.(Batcher); ok && len(ids) > 0 {
		return b.RedriveAll(ctx, ids, by)
	}
	errs := make([]error, len(ids))
	for i, id := range ids {
		errs[i] = r.Redrive(ctx, id, by)
	}
	return errs
}
