package importrows

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/csvfile"
	"stepback/internal/objectevent"
	"stepback/outbox/deadletters"
)

// index holds the latest import of each file.
type index struct {
	files      map[string]*imported // by the file's name in the IDs of letters
	deliveries map[csvimport.Location]*imported
}

// imported is an import that has written a summary.
type imported struct {
	key      string // key of the summary
	modified time.Time
	out      aggregate.Output
	letters  map[int64]deadletters.Letter // by line; nil until they are read
}

// staleness is the maximum age of the list of summaries.
const staleness = 250 * time.Millisecond

// reading is the number of summaries read concurrently.
const reading = 16

const (
	outputs = "output/"
	summary = "/summary.json"
)

// index lists the summaries, and reads the new ones.
func (r *Rows) index(ctx context.Context, fresh bool) (*index, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !fresh && r.current != nil && time.Since(r.listed) < staleness {
		return r.current, nil
	}
	if r.imports == nil {
		r.imports = map[string]*imported{}
	}
	var changed []*imported
	listed := time.Now()
	err := r.Objects.List(ctx, r.Bucket, outputs, func(o csvimport.ObjectInfo) error {
		if im := r.imports[o.Key]; strings.HasSuffix(o.Key, summary) && (im == nil ||
			!im.modified.Equal(o.LastModified)) {
			changed = append(changed, &imported{key: o.Key, modified: o.LastModified})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(reading)
	for _, im := range changed {
		group.Go(func() error {
			return r.read(ctx, im.key, func(in io.Reader) error {
				return json.NewDecoder(in).Decode(&im.out)
			})
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, im := range changed {
		r.imports[im.key] = im
	}
	r.current, r.listed = latest(r.imports), listed
	return r.current, nil
}

// latest selects the latest import of each file.
func latest(all map[string]*imported) *index {
	x := &index{files: map[string]*imported{}, deliveries: map[csvimport.Location]*imported{}}
	for _, im := range all {
		source := im.out.Source
		if strings.HasPrefix(source.Key, redriven) {
			at := csvimport.Location{Bucket: source.Bucket, Key: source.Key}
			if before := x.deliveries[at]; before == nil || before.out.EndTime.Before(im.out.EndTime) {
				x.deliveries[at] = im
			}
			continue
		}
		name := objectevent.ExecutionName(source.Key, source.ETag)
		if before := x.files[name]; before == nil || before.out.EndTime.Before(im.out.EndTime) {
			x.files[name] = im
		}
	}
	return x
}

func (r *Rows) read(ctx context.Context, key string, read func(io.Reader) error) error {
	at := csvimport.Location{Bucket: r.Bucket, Key: key}
	object, err := r.Objects.Get(ctx, at, "")
	if err != nil {
		return err
	}
	defer object.Body.Close()
	if err := read(object.Body); err != nil {
		return fmt.Errorf("%s cannot be read: %w", at, err)
	}
	return nil
}

// letters reads the letters of an import.
func (r *Rows) letters(ctx context.Context, im *imported) (map[int64]deadletters.Letter, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if im.letters != nil {
		return im.letters, nil
	}
	all := map[int64]deadletters.Letter{}
	if im.out.Rejected+im.out.DeadLettered > 0 {
		dead := map[int64]deadLetter{}
		if err := r.read(ctx, im.out.DeadLetters.Key, func(in io.Reader) error {
			return readDeadLetters(in, dead)
		}); err != nil {
			return nil, err
		}
		if err := r.read(ctx, im.out.Corrections.Key, func(in io.Reader) error {
			return r.readCorrections(in, im, dead, all)
		}); err != nil {
			return nil, err
		}
	}
	im.letters = all
	return all, nil
}

// deadLetter is a line of dead-letters.jsonl.
type deadLetter struct {
	Reason, Error, Cause, FirstTime, LastTime, Child string
	Attempts                                         int
	Line                                             int64
	Payload                                          json.RawMessage
}

func readDeadLetters(in io.Reader, into map[int64]deadLetter) error {
	decoder := json.NewDecoder(bufio.NewReader(in))
	for {
		var d deadLetter
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		into[d.Line] = d
	}
}

// readCorrections creates letters from the rows of a corrections file. The file contains both the rejected and the
// dead-lettered rows.
func (r *Rows) readCorrections(
	in io.Reader, im *imported, dead map[int64]deadLetter, into map[int64]deadletters.Letter,
) error {
	reader := csv.NewReader(in)
	reader.ReuseRecord, reader.LazyQuotes = true, true
	const columns = 6 // user_id, login_count, post_count, line, error, reason
	reader.FieldsPerRecord = columns
	if _, err := reader.Read(); err != nil {
		return err
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		value := func(i int) string { return csvfile.Unguard(strings.ReplaceAll(row[i], `\\`, `\`)) }
		n, err := strconv.ParseInt(row[3], 10, 64)
		if err != nil {
			return err
		}
		l := r.letter(im, n)
		if d, ok := dead[n]; ok {
			d.describe(&l)
		} else {
			l.Reason, l.Error, l.Cause = ReasonRejected, value(4), value(5)
		}
		if len(l.Payload) == 0 || string(l.Payload) == "null" {
			l.Payload, err = json.Marshal(csvimport.Record{UserID: value(0), LoginCount: value(1), PostCount: value(2)})
			if err != nil {
				return err
			}
		}
		into[n] = l
	}
}

// letter returns a letter with the fields that all rows of an import share.
func (r *Rows) letter(im *imported, n int64) deadletters.Letter {
	source := im.out.Source
	began, _ := time.Parse(time.RFC3339Nano, im.out.StartTime) // the zero time if unknown
	return deadletters.Letter{
		ID: idOf(source, n), Kind: deadletters.KindRow, State: deadletters.Dead, Subject: source.String(),
		Execution: r.arn(im.out.Execution), CreatedAt: began, LastAttemptAt: im.out.EndTime, DeadAt: im.out.EndTime,
		ContentType: "application/json", Headers: map[string]string{headerBucket: source.Bucket, headerLine: line(n)},
	}
}

func (d *deadLetter) describe(l *deadletters.Letter) {
	l.Reason, l.Error, l.Cause, l.Attempts, l.Payload = d.Reason, d.Error, d.Cause, d.Attempts, d.Payload
	if at, err := time.Parse(time.RFC3339Nano, d.LastTime); err == nil {
		l.LastAttemptAt = at
	}
	if d.Child != "" {
		l.Headers[headerChild] = d.Child
	}
}
