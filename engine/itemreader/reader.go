package itemreader

import (
	"context"
	"errors"
	"io"

	"stepback/jsonvalue"
)

// Reader yields the items of one dataset in order. It must be used by one goroutine at a time.
type Reader interface {
	// Next returns the next item, or io.EOF after the last one or at MaxItems. Other errors are an *Error or the
	// context's. After an error, the reader cannot be used any more.
	Next(ctx context.Context) (Item, error)
	// NextText is Next for callers that need the item only as text: it appends the compact JSON of the item's value
	// to dst, and leaves Value null. CSV rows become text in a fraction of the time that building their values takes.
	NextText(ctx context.Context, dst []byte) ([]byte, Item, error)
	// Skip skips up to n items, which is cheaper than reading them, for resuming at a Position. If the dataset ends
	// earlier, it stops without an error.
	Skip(ctx context.Context, n int64) error
	// Position returns the reader's progress.
	Position() Position
	// Mark returns the position of the last item read or skipped if the dataset is a listing, and "" otherwise. As
	// long as the listing has not changed in a way that matters, the item with the same Index has the same mark.
	Mark() string
	// Close releases the open object.
	Close() error
}

// Open checks the configuration and opens the dataset, up to and including a CSV header or the value at ItemsPointer,
// so that most mistakes are reported here. The context of the call that opens an object (Open, or Next and Skip if
// there are several objects) also governs reading its content, so use one context for the life of the reader. The
// error is an *Error or the context's.
func Open(ctx context.Context, objects Objects, cfg Config) (Reader, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	src, err := openSource(ctx, objects, &cfg)
	if err != nil {
		return nil, err
	}
	return &counted{src: src, max: cfg.MaxItems}, nil
}

// source is a dataset whose items have a Source but no Index.
type source interface {
	next(ctx context.Context) (Item, error)
	skip(ctx context.Context) error
	position() Position
	mark() string
	close() error
}

// textSource is a source that can write items as text; see Reader.NextText.
type textSource interface {
	nextText(ctx context.Context, dst []byte) ([]byte, Item, error)
}

func openSource(ctx context.Context, objects Objects, cfg *Config) (source, error) {
	switch {
	case cfg.listing() && cfg.Transformation != "LOAD_AND_FLATTEN":
		return &listingSource{pages: pages{objects: objects, bucket: cfg.Bucket, prefix: cfg.Prefix}}, nil
	case cfg.listing():
		keys := &listedKeys{pages: pages{objects: objects, bucket: cfg.Bucket, prefix: cfg.Prefix}}
		return openSequence(ctx, objects, cfg, keys)
	case cfg.inventory():
		return openInventory(ctx, objects, cfg)
	case cfg.ManifestType == "ATHENA_DATA":
		return openAthena(ctx, objects, cfg)
	default:
		return openSequence(ctx, objects, cfg, &oneKey{at: cfg.location()})
	}
}

func (c *Config) location() location {
	return location{bucket: c.Bucket, key: c.Key, versionID: c.VersionID, expectedOwner: c.ExpectedBucketOwner}
}

// counted numbers the items, stops at MaxItems and makes errors final.
type counted struct {
	src   source
	max   int64
	index int64
	err   error
}

func (c *counted) Next(ctx context.Context) (Item, error) {
	if err := c.ready(ctx); err != nil {
		return Item{}, err
	}
	item, err := c.src.next(ctx)
	if err != nil {
		c.err = err
		return Item{}, err
	}
	item.Index = c.index
	c.index++
	return item, nil
}

func (c *counted) NextText(ctx context.Context, dst []byte) ([]byte, Item, error) {
	src, ok := c.src.(textSource)
	if !ok {
		item, err := c.Next(ctx)
		return asText(dst, item, err)
	}
	if err := c.ready(ctx); err != nil {
		return dst, Item{}, err
	}
	dst, item, err := src.nextText(ctx, dst)
	if err != nil {
		c.err = err
		return dst, Item{}, err
	}
	item.Index = c.index
	c.index++
	return dst, item, nil
}

// asText appends the text of an item's value to dst and clears the value. An error is passed on.
func asText(dst []byte, item Item, err error) ([]byte, Item, error) {
	if err != nil {
		return dst, Item{}, err
	}
	dst = item.Value.AppendJSON(dst)
	item.Value = jsonvalue.Value{}
	return dst, item, nil
}

func (c *counted) Skip(ctx context.Context, n int64) error {
	for ; n > 0; n-- {
		err := c.ready(ctx)
		if err == nil {
			err = c.src.skip(ctx)
			c.err = err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		c.index++
	}
	return nil
}

func (c *counted) ready(ctx context.Context) error {
	switch {
	case c.err != nil:
		return c.err
	case c.max > 0 && c.index >= c.max:
		return io.EOF
	}
	return ctx.Err()
}

func (c *counted) Position() Position {
	p := c.src.position()
	p.Index = c.index
	return p
}

func (c *counted) Mark() string { return c.src.mark() }

func (c *counted) Close() error { return c.src.close() }
