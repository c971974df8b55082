package maprun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"stepback/engine/history"
	"stepback/engine/internal/interpreter"
	"stepback/engine/internal/itembatcher"
	"stepback/engine/internal/plan"
	"stepback/engine/itemreader"
	"stepback/jsonvalue"
)

// batch is the input of one child execution, the index of its first item and the number of items.
type batch struct {
	input        string
	first, items int64
	mark         string // of the last item; see itemreader.Reader
}

// items is the stream of child inputs of one Map Run: read, selected, batched.
type items struct {
	call    *interpreter.MapRunCall
	reader  itemSource
	batcher *itembatcher.Batcher // nil if each item has its own child
	at      int64                // index of the next item to read
	first   int64                // index of the first item in the batch being filled
	covered []covered            // items that already have child executions, in order
	done    bool
	queued  []batch
	text    []byte // of the last item read
	value   []byte // of its value only
	mark    string // of the last item read
}

// covered is a range of items.
type covered struct {
	from, to int64
	mark     string // of the last of them
}

// itemSource yields items until io.EOF.
type itemSource interface {
	Next(ctx context.Context) (itemreader.Item, error)
	NextText(ctx context.Context, dst []byte) ([]byte, itemreader.Item, error)
	// Skip skips up to n items.
	Skip(ctx context.Context, n int64) error
	Mark() string
	Close() error
}

// open opens the dataset of a Map Run.
func (m *Run) open(ctx context.Context) (*items, error) {
	s := &items{call: m.Call}
	if r := m.Call.State.Map.Reader; r != nil {
		if m.Objects == nil {
			return nil, &history.Failure{Name: plan.ErrItemReaderFailed,
				Cause: "No object store is configured for the ItemReader."}
		}
		reader, err := itemreader.Open(ctx, m.Objects, m.readerConfig(r))
		if err != nil {
			return nil, readerError(err)
		}
		s.reader = reader
	} else {
		s.reader = &stateItems{call: m.Call}
	}
	return s, s.openBatcher(m.Call)
}

func (m *Run) readerConfig(r *plan.Reader) itemreader.Config {
	c := m.Call
	text := func(field string) string {
		v, _ := c.ReaderParameters.Get(field)
		return v.Text()
	}
	limit, _ := c.MaxItems.Int()
	return itemreader.Config{
		Resource: r.Resource, Bucket: text("Bucket"), Key: text("Key"), VersionID: text("VersionId"),
		ExpectedBucketOwner: text("ExpectedBucketOwner"), Prefix: text("Prefix"),
		InputType: r.InputType, Transformation: r.Transformation, ManifestType: r.ManifestType,
		CSVDelimiter: r.CSVDelimiter, CSVHeaderLocation: r.CSVHeaderLocation, CSVHeaders: r.CSVHeaders,
		ItemsPointer: r.ItemsPointer, MaxItems: limit, Formats: m.Formats,
	}
}

// readerError converts an error of the reader to the failure that the workflow sees.
func readerError(err error) error {
	var e *itemreader.Error
	if errors.As(err, &e) {
		return &history.Failure{Name: plan.ErrItemReaderFailed, Cause: e.Cause}
	}
	return err
}

// next returns the next child input, or io.EOF.
func (s *items) next(ctx context.Context) (batch, error) {
	for len(s.queued) == 0 {
		if s.done {
			return batch{}, io.EOF
		}
		if err := s.read(ctx); err != nil {
			return batch{}, err
		}
	}
	b := s.queued[0]
	s.queued = s.queued[1:]
	return b, nil
}

// read reads one item into the queue or the batch being filled.
func (s *items) read(ctx context.Context) error {
	if len(s.covered) > 0 && s.covered[0].from == s.at {
		return s.skip(ctx)
	}
	before := s.mark
	index, input, err := s.nextInput(ctx)
	if errors.Is(err, io.EOF) {
		s.done = true
		return s.flush()
	}
	if err != nil {
		return err
	}
	if s.batcher == nil {
		if len(input) > interpreter.MaxPayload {
			return &history.Failure{Name: plan.ErrDataLimitExceeded, Cause: fmt.Sprintf(
				"Item %d of the Map is %d bytes as the input of a child execution; the limit is %d.", index,
				len(input), interpreter.MaxPayload)}
		}
		s.queued = append(s.queued, batch{string(input), index, 1, s.mark})
		return nil
	}
	return s.add(input, before)
}

// cover marks items as having a child execution. Ranges must be given in order.
func (s *items) cover(first, items int64, mark string) {
	if n := len(s.covered); n > 0 && s.covered[n-1].to == first {
		s.covered[n-1].to += items
		s.covered[n-1].mark = mark
		return
	}
	s.covered = append(s.covered, covered{first, first + items, mark})
}

// skip skips items that have child executions. Items collected before them form a separate batch, as they did
// originally.
func (s *items) skip(ctx context.Context) error {
	c := s.covered[0]
	s.covered = s.covered[1:]
	if err := s.flush(); err != nil {
		return err
	}
	s.at, s.first = c.to, c.to
	if err := s.reader.Skip(ctx, c.to-c.from); err != nil {
		return readerError(err)
	}
	if s.mark = s.reader.Mark(); c.mark != "" && c.mark != s.mark {
		return &history.Failure{Name: plan.ErrItemReaderFailed, Cause: fmt.Sprintf(
			"The items have changed since the Map Run began: in the listing, item %d was %s and is %s now.", c.to-1,
			c.mark, cmp.Or(s.mark, "not there"))}
	}
	return nil
}

// most is the largest text, in bytes, that is written for an item. Anything larger than an input is refused anyway,
// but the text of nested parts could be immense.
const most = 16 * interpreter.MaxPayload

// nextInput reads the next item and returns its index and the input of its child execution, which is valid until the
// next call.
func (s *items) nextInput(ctx context.Context) (index int64, input []byte, err error) {
	if m := s.call.State.Map; m.ItemSelector != nil && m.Direct == nil {
		return s.nextSelected(ctx)
	}
	value, item, err := s.reader.NextText(ctx, s.value[:0])
	if s.value = value; err != nil {
		return 0, nil, readerError(err)
	}
	s.passed()
	switch direct := s.call.State.Map.Direct; {
	case direct != nil:
		s.text = appendDirect(s.text[:0], direct, item.Index, value)
		if len(s.text) > most {
			return 0, nil, tooLong(item.Index, most)
		}
	case item.Keyed:
		s.text = appendKeyed(s.text[:0], item.Key, value)
	default:
		return item.Index, value, nil
	}
	return item.Index, s.text, nil
}

// nextSelected is nextInput for an ItemSelector that must be evaluated.
func (s *items) nextSelected(ctx context.Context) (index int64, input []byte, err error) {
	item, err := s.reader.Next(ctx)
	if err != nil {
		return 0, nil, readerError(err)
	}
	s.passed()
	v, err := s.call.Select(ctx, item.Index, item.Value, item.Key, item.Source)
	var failed *interpreter.ItemSelectorError
	if errors.As(err, &failed) {
		return 0, nil, &history.Failure{Name: failed.Name, Cause: failed.Cause}
	}
	if err != nil {
		return 0, nil, err
	}
	text, ok := v.JSONUpTo(most)
	if !ok {
		return 0, nil, tooLong(item.Index, most)
	}
	s.text = append(s.text[:0], text...)
	return item.Index, s.text, nil
}

// passed advances past the item that was read.
func (s *items) passed() {
	s.at++
	s.mark = s.reader.Mark()
}

// appendDirect appends the result of an ItemSelector with these members for an item.
func appendDirect(dst []byte, members []plan.DirectMember, index int64, value []byte) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(jsonvalue.AppendQuoted(dst, m.Name), ':')
		if m.Index {
			dst = strconv.AppendInt(dst, index, 10)
		} else {
			dst = append(dst, value...)
		}
	}
	return append(dst, '}')
}

// appendKeyed appends the child input for a member of an object, if there is no ItemSelector.
func appendKeyed(dst []byte, key string, value []byte) []byte {
	dst = append(jsonvalue.AppendQuoted(append(dst, `{"Key":`...), key), `,"Value":`...)
	return append(append(dst, value...), '}')
}

func tooLong(index int64, most int) error {
	return &history.Failure{Name: plan.ErrDataLimitExceeded, Cause: fmt.Sprintf(
		"Item %d of the Map is more than %d bytes as the input of a child execution; the limit is %d.", index, most,
		interpreter.MaxPayload)}
}

// Close closes the dataset.
func (s *items) Close() { _ = s.reader.Close() }

// stateItems is an itemSource for a Map whose items are in its input.
type stateItems struct {
	call *interpreter.MapRunCall
	at   int
}

func (s *stateItems) Next(context.Context) (itemreader.Item, error) {
	if s.at >= len(s.call.Items) {
		return itemreader.Item{}, io.EOF
	}
	item := itemreader.Item{Index: int64(s.at), Value: s.call.Items[s.at], Source: "STATE_DATA"}
	if s.call.Keys != nil {
		item.Key, item.Keyed = s.call.Keys[s.at], true
	}
	s.at++
	return item, nil
}

func (s *stateItems) NextText(ctx context.Context, dst []byte) ([]byte, itemreader.Item, error) {
	item, err := s.Next(ctx)
	if err != nil {
		return dst, item, err
	}
	dst = item.Value.AppendJSON(dst)
	item.Value = jsonvalue.Value{}
	return dst, item, nil
}

func (s *stateItems) Skip(_ context.Context, n int64) error {
	s.at += int(n)
	return nil
}

func (s *stateItems) Mark() string { return "" }

func (s *stateItems) Close() error { return nil }
