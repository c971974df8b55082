package validate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"stepback/csvimport"
	"stepback/csvimport/objectstest"
	"stepback/csvimport/validate"
	"stepback/statemachine"
)

// replacing calls replace before request number at.
type replacing struct {
	*objectstest.Memory
	requests, at int
	replace      func()
}

func (r *replacing) request() {
	if r.requests++; r.requests == r.at {
		r.replace()
	}
}

func (r *replacing) Get(ctx context.Context, at csvimport.Location, etag string) (*csvimport.Object, error) {
	r.request()
	return r.Memory.Get(ctx, at, etag)
}

func (r *replacing) Put(ctx context.Context, at csvimport.Location, body io.ReadSeeker, size int64,
	contentType string) error {
	r.request()
	return r.Memory.Put(ctx, at, body, size, contentType)
}

func (r *replacing) Copy(ctx context.Context, from csvimport.Source, to csvimport.Location, contentType string) error {
	r.request()
	return r.Memory.Copy(ctx, from, to, contentType)
}

// TestReplacedUpload replaces the upload before each of the step's requests: the step either fails with
// CSVFileChanged, or the Map gets the version that the event named.
func TestReplacedUpload(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content  string
		requests int    // requests that the step makes if the file is not replaced
		refused  int    // how many of them detect that the upload was replaced
		copied   string // what the Map reads
	}{
		"regular": {head + "old,1,2\n", 2, 2, head + "old,1,2\n"}, // read and copied
		"irregular": {"user_id;login_count;post_count\nold;1;2\n", 3, 2, // read, read again, written
			"user_id,login_count,post_count,line,problem\nold,1,2,2,\n"},
		"late Shift_JIS": {head + strings.Repeat("old,1,2\n", 20000) + "\x82\xA0,1,2\n", 4, 3, ""},
	} {
		for at := 1; at <= c.requests+1; at++ {
			t.Run(fmt.Sprint(name, at), func(t *testing.T) {
				t.Parallel()
				place := csvimport.Location{Bucket: "in", Key: "a.csv"}
				r := &replacing{Memory: &objectstest.Memory{}, at: at}
				source := r.Set(place, c.content, "")
				r.replace = func() { r.Set(place, head+"new,1,2\n", "") }
				out, err := (&validate.Validator{Objects: r}).Validate(t.Context(), input(source))
				if at > c.refused {
					copied, _ := r.Content(out.Data.Location)
					if err != nil || c.copied != "" && copied != c.copied || strings.Contains(copied, "new") {
						t.Errorf("the Map reads %q (%v), want %q", copied, err, c.copied)
					}
					return
				}
				var f *csvimport.Failure
				if !errors.As(err, &f) || f.Name != statemachine.CSVFileChanged {
					t.Errorf("error is %v, want CSVFileChanged", err)
				}
			})
		}
	}
}
