package itemreader

import (
	"context"
	"errors"
	"io"
	"strconv"
)

// keys yields the objects of a dataset one after the other, and io.EOF after the last.
type keys interface {
	nextKey(ctx context.Context) (location, error)
	close() error
}

// oneKey is a dataset of a single object.
type oneKey struct {
	at   location
	used bool
}

func (o *oneKey) nextKey(context.Context) (location, error) {
	if o.used {
		return location{}, io.EOF
	}
	o.used = true
	return o.at, nil
}

func (o *oneKey) close() error { return nil }

// sequence reads the items of several objects as one dataset.
type sequence struct {
	objects Objects
	cfg     *Config
	keys    keys

	where string // the open object
	items openRecords
}

// openRecords are the records of the open object.
type openRecords interface {
	records
	close() error
}

// openSequence opens the first object at once, so that errors in it are reported when the reader is opened.
func openSequence(ctx context.Context, objects Objects, cfg *Config, from keys) (*sequence, error) {
	s := &sequence{objects: objects, cfg: cfg, keys: from}
	if err := s.openNext(ctx); err != nil && !errors.Is(err, io.EOF) {
		_ = s.close() // err is more helpful
		return nil, err
	}
	return s, nil
}

func (s *sequence) next(ctx context.Context) (Item, error) {
	for s.items != nil {
		item, err := s.items.next()
		if err == nil {
			item.Source = s.where
			return item, nil
		}
		if err := s.afterError(ctx, err); err != nil {
			return Item{}, err
		}
	}
	return Item{}, io.EOF
}

// nextText implements textSource.
func (s *sequence) nextText(ctx context.Context, dst []byte) ([]byte, Item, error) {
	for s.items != nil {
		text, item, err := s.items.nextText(dst)
		if err == nil {
			item.Source = s.where
			return text, item, nil
		}
		if err := s.afterError(ctx, err); err != nil {
			return dst, Item{}, err
		}
	}
	return dst, Item{}, io.EOF
}

func (s *sequence) skip(ctx context.Context) error {
	for s.items != nil {
		err := s.items.skip()
		if err == nil {
			return nil
		}
		if err := s.afterError(ctx, err); err != nil {
			return err
		}
	}
	return io.EOF
}

// afterError handles an error of the open object. At io.EOF it opens the next object; any other error is returned.
func (s *sequence) afterError(ctx context.Context, err error) error {
	if errors.Is(err, io.EOF) {
		return s.openNext(ctx)
	}
	return bodyError(ctx, s.where, err)
}

func (s *sequence) openNext(ctx context.Context) error {
	if err := s.closeItems(); err != nil {
		return bodyError(ctx, s.where, err)
	}
	at, err := s.keys.nextKey(ctx)
	if err != nil {
		return err
	}
	s.where = at.String()
	items, err := s.open(ctx, at)
	if err != nil {
		return err
	}
	s.items = items
	return nil
}

func (s *sequence) open(ctx context.Context, at location) (openRecords, error) {
	if s.cfg.InputType == "PARQUET" {
		return openFormatted(ctx, s.objects, s.cfg, at)
	}
	return openTextRecords(ctx, s.objects, s.cfg, at)
}

func (s *sequence) closeItems() error {
	if s.items == nil {
		return nil
	}
	items := s.items
	s.items = nil
	return items.close()
}

func (s *sequence) position() Position {
	p := Position{Source: s.where}
	if s.items != nil {
		p.Offset = s.items.offset()
	}
	return p
}

// mark returns the open object and the offset in it if the objects come from a listing, and "" otherwise.
func (s *sequence) mark() string {
	if _, listed := s.keys.(*listedKeys); !listed || s.items == nil {
		return ""
	}
	return s.where + "@" + strconv.FormatInt(s.items.offset(), 10)
}

func (s *sequence) close() error {
	return errors.Join(s.closeItems(), s.keys.close())
}
