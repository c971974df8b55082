package console

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/engine"
)

// request is a request for a page.
type request struct {
	*http.Request
	console *Console
	engine  Engine
	now     time.Time
	live    bool // the request is an update of an open page
}

func (r *request) param(name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }

// number returns a numeric parameter, or otherwise if it is missing or invalid.
func (r *request) number(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(r.param(name), 10, 64); err == nil && n >= 0 {
		return n
	}
	return otherwise
}

// answer is a page: its view, which is also its JSON, and the template that renders it.
type answer struct {
	Title    string
	Template string
	View     any
	// Topics are the ARNs of the executions and Map Runs whose steps change the page; none means any execution. A
	// page marked Still never changes.
	Topics []string
	Still  bool
	// Every is the interval at which the page updates itself in addition; 0 means that it does not. A page with an
	// interval and without Topics ignores executions.
	Every time.Duration
	// All makes a page with an interval change with any execution, too.
	All bool
	// Section is the screen that the page belongs to; empty means the first part of its address.
	Section string
	// Text is sent unchanged instead of a page.
	Text string
}

// liveHeader marks the requests by which open pages update themselves.
const liveHeader = "X-Stepback-Live"

// notFound reports that nothing exists at an address.
type notFound struct{ what string }

func (e *notFound) Error() string { return e.what }

// layout is the part of every page around its view.
type layout struct {
	*answer
	Section  string
	Token    string
	ReadOnly bool
	Notice   string
	Now      time.Time
	Version  string
	Address  string // of the page, including its query
	Stream   string
}

// page serves a page, as HTML or JSON.
func (c *Console) page(show func(*request) (*answer, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e, err := c.cfg.Engine()
		if err != nil {
			c.failed(w, r, err)
			return
		}
		live := r.Header.Get(liveHeader) != ""
		if live {
			defer func(began time.Time) { c.pace.took(time.Since(began)) }(time.Now())
		}
		a, err := show(&request{r, c, e, c.cfg.Now(), live})
		if err != nil {
			c.failed(w, r, err)
			return
		}
		switch {
		case a.Text != "":
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			send(w, r, []byte(a.Text))
		case r.URL.Query().Get("format") == "json":
			body, err := json.MarshalIndent(a.View, "", "  ")
			if err != nil {
				c.failed(w, r, err)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			send(w, r, append(body, '\n'))
		default:
			c.show(w, r, http.StatusOK, a)
		}
	}
}

func (c *Console) show(w http.ResponseWriter, r *http.Request, status int, a *answer) {
	q := r.URL.Query()
	l := layout{answer: a, Token: c.token, ReadOnly: c.cfg.ReadOnly, Notice: c.told.take(q.Get("said")), Now: c.cfg.Now(),
		Version: c.cfg.Version}
	rest := strings.TrimPrefix(r.URL.Path, Path)
	if l.Section = a.Section; l.Section == "" {
		l.Section, _, _ = strings.Cut(rest, "/")
	}
	q.Del("said")
	l.Address = (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String()
	if !a.Still {
		l.Stream = Path + "stream?" + a.stream().Encode()
	}
	var body bytes.Buffer
	if err := c.pages()[a.Template].ExecuteTemplate(&body, "layout", l); err != nil {
		c.cfg.Log.Error("a console page cannot be rendered", "page", a.Template, "error", err)
		http.Error(w, "This page cannot be rendered: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	sendAs(w, r, status, body.Bytes())
}

// stream returns the parameters of the page's stream of changes.
func (a *answer) stream() url.Values {
	q := url.Values{"of": a.Topics}
	if a.Every > 0 {
		q.Set("every", strconv.Itoa(int(a.Every/time.Second)))
	}
	if a.Every > 0 && len(a.Topics) == 0 && !a.All {
		q.Set("of", "none")
	}
	return q
}

// failed sends an error response.
func (c *Console) failed(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusInternalServerError
	var missing *notFound
	switch {
	case errors.As(err, &missing), errors.Is(err, engine.ErrNoExecution), errors.Is(err, engine.ErrNoMapRun):
		status = http.StatusNotFound
	case errors.Is(err, engine.ErrPageToken), errors.As(err, new(*badForm)):
		status = http.StatusBadRequest
	case r.Context().Err() != nil:
		return
	default:
		c.cfg.Log.Warn("a console page failed", "page", r.URL.Path, "error", err)
	}
	if r.URL.Query().Get("format") == "json" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	c.show(w, r, status, &answer{Title: http.StatusText(status), Template: "error", Still: true,
		View: map[string]any{"Status": status, "Error": err.Error()}})
}

// minCompressed is the number of bytes from which a response is compressed.
const minCompressed = 1 << 10

// writers pools gzip writers, because creating one takes longer than using it.
var writers = sync.Pool{New: func() any { w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed); return w }}

// send writes the body of a response.
func send(w http.ResponseWriter, r *http.Request, body []byte) { sendAs(w, r, http.StatusOK, body) }

// sendAs writes a status and a body, compressed if the browser accepts it.
func sendAs(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	if len(body) < minCompressed || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		w.WriteHeader(status)
		_, _ = w.Write(body)
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Add("Vary", "Accept-Encoding")
	w.WriteHeader(status)
	z, _ := writers.Get().(*gzip.Writer)
	defer writers.Put(z)
	z.Reset(w)
	_, _ = z.Write(body)
	_ = z.Close()
}

// asset serves the style sheet or the script.
func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	text, err := files.ReadFile(path.Join("assets", path.Base(name)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	types := map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml"}
	w.Header().Set("Content-Type", types[path.Ext(name)])
	w.Header().Set("Cache-Control", "max-age=60")
	send(w, r, text)
}
