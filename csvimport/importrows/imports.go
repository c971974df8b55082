package importrows

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/csvfile"
	"stepback/outbox/deadletters"
)

// index holds the latest import of each file.
type index struct {
	files      map[string]*imported             // by the file's name in the IDs of letters
	deliveries map[csvimport.Location]*imported // by the file that redrives rows
	versions   map[csvimport.Source]*imported   // by the version of the file, of all files
}

// imported is an import that has written a summary.
type imported struct {
	key      string // key of the summary
	modified time.Time
	out      aggregate.Output
	// letters has the rows that failed, by line, and failed those that came out of dead letters, by the letters' IDs.
	// Both are nil until they are read.
	letters map[int64]deadletters.Letter
	failed  map[string]deadletters.Letter
}

// idsOf returns the beginning of the IDs of the letters of the file's rows.
func (im *imported) idsOf() string {
	return cmp.Or(im.out.Letters, csvimport.EarlierLetters(im.out.Source))
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
			return readSummary(ctx, r.Objects, csvimport.Location{Bucket: r.Bucket, Key: im.key}, &im.out)
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
	x := &index{files: map[string]*imported{}, deliveries: map[csvimport.Location]*imported{},
		versions: map[csvimport.Source]*imported{}}
	for _, im := range all {
		source := im.out.Source.Normal()
		if before := x.versions[source]; before == nil || before.out.EndTime.Before(im.out.EndTime) {
			x.versions[source] = im
		}
		if strings.HasPrefix(source.Key, redriven) {
			at := csvimport.Location{Bucket: source.Bucket, Key: source.Key}
			if before := x.deliveries[at]; before == nil || before.out.EndTime.Before(im.out.EndTime) {
				x.deliveries[at] = im
			}
			continue
		}
		name := strings.TrimPrefix(im.idsOf(), prefix)
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

// letters reads the letters of an import: its own by line, and those that its rows came out of.
func (r *Rows) letters(ctx context.Context, im *imported) (own map[int64]deadletters.Letter,
	failed map[string]deadletters.Letter, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if im.letters != nil {
		return im.letters, im.failed, nil
	}
	own, failed = map[int64]deadletters.Letter{}, map[string]deadletters.Letter{}
	if im.out.Rejected+im.out.DeadLettered > 0 {
		dead := map[int64]deadLetter{}
		if err := r.read(ctx, im.out.DeadLetters.Key, func(in io.Reader) error {
			return readDeadLetters(in, dead)
		}); err != nil {
			return nil, nil, err
		}
		if err := r.read(ctx, im.out.Corrections.Key, func(in io.Reader) error {
			return csvfile.ReadCorrections(in, func(x csvfile.Correction) error {
				l, err := r.correction(im, x, dead)
				if x.Letter == "" || x.Letter == csvimport.LetterID(im.idsOf(), x.Line) {
					own[x.Line] = l
				} else {
					failed[x.Letter] = l
				}
				return err
			})
		}); err != nil {
			return nil, nil, err
		}
	}
	im.letters, im.failed = own, failed
	return own, failed, nil
}

// correction returns the letter of a row in a corrections file, which has both the rejected and the dead-lettered rows.
func (r *Rows) correction(im *imported, x csvfile.Correction, dead map[int64]deadLetter) (deadletters.Letter, error) {
	l := r.letter(im, x.Line)
	if d, ok := dead[x.Line]; ok {
		d.describe(&l)
	} else {
		l.Reason, l.Error, l.Cause = ReasonRejected, x.Error, x.Reason
	}
	if x.Letter != "" {
		l.ID = x.Letter
	}
	if own := x.Letter == "" || x.Letter == csvimport.LetterID(im.idsOf(), x.Line); own && len(l.Payload) > 0 &&
		string(l.Payload) != "null" {
		return l, nil
	}
	var err error
	l.Payload, err = json.Marshal(csvimport.Record{UserID: x.UserID, LoginCount: x.LoginCount, PostCount: x.PostCount})
	return l, err
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

// letter returns a letter with the fields that all rows of an import share.
func (r *Rows) letter(im *imported, n int64) deadletters.Letter {
	source := im.out.Source
	began, _ := time.Parse(time.RFC3339Nano, im.out.StartTime) // the zero time if unknown
	return deadletters.Letter{
		ID: csvimport.LetterID(im.idsOf(), n), Kind: deadletters.KindRow, State: deadletters.Dead,
		Subject:   source.String(),
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
