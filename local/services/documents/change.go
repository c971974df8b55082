package documents

import "sync"

// Write applies the changes that f makes, in one batch, and returns when they are on disk. If f returns an error, it is
// returned unchanged, and nothing is changed.
func (s *Store) Write(f func(*Batch) error) error {
	b, err := s.Begin()
	if err != nil {
		return err
	}
	if err := f(b); err != nil {
		return err
	}
	return b.Apply()()
}

// Change calls f to fill a batch, makes the batch visible, and returns when it is on disk. order is held while f runs
// and until the batch is visible, so f may base its decisions on what it reads; it is not held while waiting for the
// disk. If f returns an error, it is returned unchanged, and nothing is changed.
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
