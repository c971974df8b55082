package importrows

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"stepback/aws/objects"
	"stepback/csvimport"
	"stepback/csvimport/aggregate"
	"stepback/csvimport/csvfile"
	"stepback/csvimport/s3objects"
	"stepback/internal/objectevent"
	"stepback/outbox/deadletters"
	"stepback/outbox/deadletters/s3documents"
)

// RecordPrefix is the prefix, in the bucket of results, of the record of acts on dead letters. Operators and imports
// must use the same record, because each letter's entry decides which of them may deliver the row.
const RecordPrefix = "dead-letters/"

// Enlister implements validate.Letters: it claims the dead letters whose rows a file has, in the same record as
// operators do. It is safe for concurrent use.
type Enlister struct {
	Store objects.Store

	mu           sync.Mutex
	letterStores map[string]*deadletters.SourceStore // by bucket
}

// letterStore returns the letters of the imports whose results are in a bucket.
func (e *Enlister) letterStore(bucket string) *deadletters.SourceStore {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.letterStores[bucket] == nil {
		if e.letterStores == nil {
			e.letterStores = map[string]*deadletters.SourceStore{}
		}
		e.letterStores[bucket] = &deadletters.SourceStore{
			Source:    &Rows{Objects: s3objects.New(e.Store), Bucket: bucket},
			Documents: &s3documents.Documents{Store: e.Store, Bucket: bucket, Prefix: RecordPrefix},
		}
	}
	return e.letterStores[bucket]
}

// Of implements validate.Letters. It reads the summaries of the executions that have the name which earlier versions
// gave the file's import; usually there are none.
func (e *Enlister) Of(ctx context.Context, source csvimport.Source, bucket string) (string, error) {
	store, earlier := s3objects.New(e.Store), csvimport.EarlierLetters(source)
	name := objectevent.EarlierExecutionName(source.Key, source.ETag)
	const cut = 4 // of the longest names, a number may replace the end
	var found []string
	err := store.List(ctx, bucket, outputs+name[:len(name)-cut], func(o csvimport.ObjectInfo) error {
		if strings.HasSuffix(o.Key, summary) {
			found = append(found, o.Key)
		}
		return nil
	})
	if err != nil {
		return "", s3objects.Failure("list the imports of", source.String(), err)
	}
	for _, key := range found {
		var out aggregate.Output
		if err := readSummary(ctx, store, csvimport.Location{Bucket: bucket, Key: key}, &out); err != nil {
			return "", s3objects.Failure("read the imports of", source.String(), err)
		}
		if cmp.Or(out.Letters, earlier) == earlier && out.Source.Normal() == source.Normal() {
			return earlier, nil
		}
	}
	return csvimport.Letters(source), nil
}

func readSummary(ctx context.Context, from csvimport.Objects, at csvimport.Location, out *aggregate.Output) error {
	object, err := from.Get(ctx, at, "")
	if err != nil {
		return err
	}
	defer object.Body.Close()
	if err := json.NewDecoder(object.Body).Decode(out); err != nil {
		return fmt.Errorf("%s cannot be read: %w", at, err)
	}
	return nil
}

// Enlist implements validate.Letters.
func (e *Enlister) Enlist(ctx context.Context, source csvimport.Source, bucket string, rows []csvfile.RowLetter) (
	map[int64]string, error) {
	letterStore := e.letterStore(bucket)
	d, own, err := e.redriven(ctx, letterStore, source)
	if err == nil && !own {
		d, err = e.carried(ctx, letterStore, source, rows)
	}
	if err != nil {
		return nil, s3objects.Failure("claim the dead letters of", source.String(), err)
	}
	part := map[string]bool{}
	for i := range d.Items {
		part[d.Items[i].ID] = true
	}
	leftOut, lines := map[int64]string{}, map[string]int64{}
	for _, row := range rows {
		line, again := lines[row.Letter]
		switch {
		case again:
			leftOut[row.Row] = fmt.Sprintf("line %d has the same letter", line)
		case part[row.Letter]:
		case d.LeftOut[row.Letter] != "":
			leftOut[row.Row] = d.LeftOut[row.Letter]
		default:
			leftOut[row.Row] = "the letter was redriven, edited or discarded before this import could claim it"
		}
		if !again {
			lines[row.Letter] = row.Line
		}
	}
	return leftOut, nil
}

// carried claims the letters of a file for a delivery that the file's import carries.
func (e *Enlister) carried(ctx context.Context, letterStore *deadletters.SourceStore, source csvimport.Source,
	rows []csvfile.RowLetter) (deadletters.Delivery, error) {
	carrier, err := json.Marshal(source)
	if err != nil {
		return deadletters.Delivery{}, err
	}
	sum := sha256.Sum256([]byte(source.Bucket + "\x00" + source.Key + "\x00" + source.ETag))
	const digest = 16
	d := deadletters.Delivery{ID: "import-" + hex.EncodeToString(sum[:digest]), Carrier: string(carrier)}
	for _, row := range rows {
		d.Items = append(d.Items, deadletters.Item{ID: row.Letter})
	}
	return letterStore.Enlist(ctx, d, deadletters.By{Who: "the import of " + source.String()})
}

// redriven returns the delivery whose file is source, exactly as a redrive wrote it; ok is false if source is another
// file.
func (e *Enlister) redriven(ctx context.Context, letterStore *deadletters.SourceStore, source csvimport.Source) (
	d deadletters.Delivery, ok bool, err error) {
	id, cut := strings.CutPrefix(source.Key, redriven)
	id, suffix := strings.CutSuffix(id, ".csv")
	if !cut || !suffix || strings.Contains(id, "/") {
		return d, false, nil
	}
	d, ok, err = letterStore.Decided(ctx, id)
	if err != nil || !ok || d.Carrier != "" {
		return d, false, err
	}
	want := fileOf(&d, source.Bucket)
	object, err := s3objects.New(e.Store).Get(ctx, csvimport.Location{Bucket: source.Bucket, Key: source.Key},
		source.ETag)
	if err != nil {
		return d, false, err
	}
	defer object.Body.Close()
	got, err := io.ReadAll(io.LimitReader(object.Body, int64(len(want))+1))
	return d, string(got) == want, err
}
