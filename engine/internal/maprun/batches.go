package maprun

import (
	"errors"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/itembatcher"
	"stepback/engine/internal/plan"
)

// openBatcher prepares the ItemBatcher, if there is one.
func (s *items) openBatcher(c *interpreter.MapRunCall) error {
	if c.State.Map.Batcher == nil {
		return nil
	}
	cfg := itembatcher.Config{MaxItemsPerBatch: c.MaxItemsPerBatch, MaxInputBytesPerBatch: c.MaxInputBytesPerBatch}
	if c.BatchInput != nil {
		cfg.BatchInput = c.BatchInput.JSON()
	}
	b, err := itembatcher.New(cfg)
	if err != nil {
		return &history.Failure{Name: plan.ErrRuntime, Cause: err.Error()}
	}
	s.batcher = b
	return nil
}

// add adds an item to the batcher. If that completes a batch, add queues the batch, which ends with this item or
// with the previous one. before is the mark of the previous item.
func (s *items) add(item []byte, before string) error {
	b, full, err := s.batcher.Add(item)
	var large *itembatcher.ItemTooLargeError
	if errors.As(err, &large) {
		return &history.Failure{Name: plan.ErrDataLimitExceeded, Cause: large.Error()}
	}
	if err != nil {
		return err
	}
	switch {
	case !full:
	case s.first+int64(b.Items) == s.at:
		s.put(b, s.mark)
	default:
		s.put(b, before)
	}
	return nil
}

// put queues a batch. Batches follow each other without gaps.
func (s *items) put(b itembatcher.Batch, mark string) {
	s.queued = append(s.queued, batch{b.Input, s.first, int64(b.Items), mark})
	s.first += int64(b.Items)
}

// flush queues the last, smaller batch.
func (s *items) flush() error {
	if s.batcher == nil {
		return nil
	}
	if b, some := s.batcher.Flush(); some {
		s.put(b, s.mark)
	}
	return nil
}
