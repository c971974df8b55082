package lsp

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"sync"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
	"stepback/internal/lazyregexp"
	"stepback/retrypatterns/review"
)

// maxText is the length of the longest text that is checked, in bytes.
const maxText = 5 << 20

// document is one version of a text in the editor. It does not change; what is computed from the text is computed once.
type document struct {
	uri, path string
	version   int32
	text      string
	*lines

	read     func() ([]definitions.File, []definitions.Unread)
	examine  sync.Once
	examined []examination
}

// examination is the result of checking one definition of a document.
type examination struct {
	file  *definitions.File
	found []asl.Diagnostic // of validate
	// advice are the findings of review at their positions in the text, and report is the whole review. Both are empty
	// for a definition that is refused or lacks values.
	advice []asl.Diagnostic
	report review.Report
}

func newDocument(uri string, version int32, text string) *document {
	d := &document{uri: uri, path: pathOf(uri), version: version, text: text, lines: newLines(text)}
	d.read = sync.OnceValues(func() ([]definitions.File, []definitions.Unread) {
		if len(text) > maxText {
			return nil, []definitions.Unread{{Path: d.path, Named: true, Err: fmt.Errorf(
				"the file has %.1f MB and is not checked: files over 5 MB are skipped", float64(len(text))/(1<<20))}}
		}
		return definitions.InText(d.path, text)
	})
	return d
}

// windowsDrive matches the path of a file URL that begins with a drive.
var windowsDrive = lazyregexp.New(`^/[A-Za-z]:`)

// pathOf returns the path of the file that a URI names. Of other schemes, such as untitled, it returns the rest of the
// URI, whose suffix may tell the language.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return uri
	case u.Opaque != "":
		return u.Opaque
	case windowsDrive.MatchString(u.Path):
		return filepath.FromSlash(u.Path[1:])
	}
	return filepath.FromSlash(u.Path)
}

// examinations validates and reviews the definitions of the document. If ctx ends, the rest is left out; it only ends
// for a document that the editor has replaced or closed.
func (d *document) examinations(ctx context.Context) []examination {
	d.examine.Do(func() {
		files, _ := d.read()
		for i := range files {
			if ctx.Err() != nil {
				return
			}
			x := examination{file: &files[i], found: files[i].Diagnose(false)}
			if !asl.HasErrors(x.found) && ctx.Err() == nil {
				report, err := definitions.Opinion(x.file, review.Options{Express: x.file.Express})
				if err == nil {
					x.report, x.advice = report, x.file.Document.Place(report.Advice())
				}
			}
			d.examined = append(d.examined, x)
		}
	})
	return d.examined
}

// opened holds the current version of each document that the editor has open, and the documents whose diagnostics are
// out of date.
type opened struct {
	mu        *sync.Mutex
	documents map[string]*document
	stale     []string // URIs; the last is the next
	wake      chan struct{}

	// current is the URI whose diagnostics are being computed, and cancel ends that work.
	current string
	cancel  context.CancelFunc
}

func newOpened() opened {
	return opened{mu: new(sync.Mutex), documents: map[string]*document{}, wake: make(chan struct{}, 1)}
}

// get returns the current version of a document.
func (o *opened) get(uri string) (*document, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if d := o.documents[uri]; d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("%s is not open: send textDocument/didOpen first", uri)
}

// set makes a document the current version of its URI.
func (o *opened) set(d *document) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.documents[d.uri] = d
	o.outdate(d.uri)
}

// remove forgets a document.
func (o *opened) remove(uri string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.documents, uri)
	o.outdate(uri)
}

// outdate makes the diagnostics of a URI the next to be computed, and cancels the work on an earlier version. The
// caller holds mu.
func (o *opened) outdate(uri string) {
	o.stale = append(slices.DeleteFunc(o.stale, func(s string) bool { return s == uri }), uri)
	if o.current == uri && o.cancel != nil {
		o.cancel()
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// next returns the next URI whose diagnostics are out of date, its document (nil if it was closed), and a context that
// ends when the document changes. ok is false if all diagnostics are up to date.
func (o *opened) next(ctx context.Context) (work context.Context, uri string, d *document, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cancel != nil {
		o.cancel()
		o.current, o.cancel = "", nil
	}
	if len(o.stale) == 0 {
		return nil, "", nil, false
	}
	uri = o.stale[len(o.stale)-1]
	o.stale = o.stale[:len(o.stale)-1]
	work, o.cancel = context.WithCancel(ctx)
	o.current = uri
	return work, uri, o.documents[uri], true
}
