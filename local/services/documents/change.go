package documents

import "sync"

// Change has f fill a batch, makes it visible, and returns when it is on the disk. order is held while f runs and until
// the batch is visible, so that f may decide by what it reads; it is not held while the disk is waited for. The error
// of f is returned as it is, and nothing is changed then.
func (s *Store) Change(order sync.Locker, f func(*Batch) error) error {
	b, err := s.Begin()
	if err != nil {
		return err
	}
	wait, err := b.under(order, f)
	if err != nil {
		return err
	}
	return wait()
}

func (b *Batch) under(order sync.Locker, f func(*Batch) error) (wait func() error, err error) {
	order.Lock()
	defer order.Unlock()
	if err := f(b); err != nil {
		return nil, err
	}
	return b.Apply(), nil
}
