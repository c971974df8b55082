package console

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"stepback/deadletters"
	"stepback/engine"
	"stepback/timeline"
)

// request is what a page is asked for.
type request struct {
	*http.Request
	console *Console
	engine  Engine
	now     time.Time
	live    bool // a page that is open asks for itself again
}

func (r *request) param(name string) string { return strings.TrimSpace(r.URL.Query().Get(name)) }

// number is a parameter that is a number, or the default.
func (r *request) number(name string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(r.param(name), 10, 64); err == nil && n >= 0 {
		return n
	}
	return otherwise
}

// answer is a page: what it shows, which is its JSON, too, and the template that shows it.
type answer struct {
	Title    string
	Template string
	View     any
	// Topics are the ARNs of the executions and Map Runs whose steps change the page; none for those of all. Still pages
	// never change.
	Topics []string
	Still  bool
	// Text is answered as it is, in place of a page.
	Text string
}

// liveHeader is on the requests of pages that are open and ask for themselves again.
const liveHeader = "X-Stepback-Live"

// notFound says that there is nothing at an address.
type notFound struct{ what string }

func (e *notFound) Error() string { return e.what }

// layout is what every page has around its view.
type layout struct {
	*answer
	Section  string
	Token    string
	ReadOnly bool
	Notice   string
	Now      time.Time
	Version  string
	Address  string // of the page, with its query
	Stream   string
}

// page answers with a page, or in JSON.
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
	l.Section, _, _ = strings.Cut(rest, "/")
	q.Del("said")
	l.Address = (&url.URL{Path: r.URL.Path, RawQuery: q.Encode()}).String()
	if !a.Still {
		l.Stream = Path + "stream?" + url.Values{"of": a.Topics}.Encode()
	}
	var body bytes.Buffer
	if err := c.pages[a.Template].ExecuteTemplate(&body, "layout", l); err != nil {
		c.cfg.Log.Error("a page of the console cannot be written", "page", a.Template, "error", err)
		http.Error(w, "This page cannot be written: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	sendAs(w, r, status, body.Bytes())
}

// failed answers with what went wrong.
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
		c.cfg.Log.Warn("a page of the console failed", "page", r.URL.Path, "error", err)
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

// worthwhile is from how many bytes on an answer is compressed.
const worthwhile = 1 << 10

// writers compress answers; making one takes longer than using it.
var writers = sync.Pool{New: func() any { w, _ := gzip.NewWriterLevel(io.Discard, gzip.BestSpeed); return w }}

// send writes the body of an answer.
func send(w http.ResponseWriter, r *http.Request, body []byte) { sendAs(w, r, http.StatusOK, body) }

// sendAs writes a status and a body, compressed where the browser takes that.
func sendAs(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	if len(body) < worthwhile || !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
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

// asset answers with the style sheet or the script.
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

// pages are the templates by name.
type pages map[string]*template.Template

func parsePages() pages {
	all := pages{}
	entries, _ := files.ReadDir("templates") // embedded: it is there
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".html")
		if name == "layout" {
			continue
		}
		all[name] = template.Must(template.New(name).Funcs(functions).ParseFS(files, "templates/layout.html",
			"templates/"+e.Name()))
	}
	return all
}

// functions are what templates call.
var functions = template.FuncMap{
	"at":    func(t time.Time) template.HTML { return timeTag(t, "2006-01-02 15:04:05") },
	"clock": func(t time.Time) template.HTML { return timeTag(t, "15:04:05.000") },
	"short": timeline.Short,
	"since": func(t, now time.Time) string { return timeline.Short(now.Sub(t)) },
	"until": func(t, now time.Time) string { return timeline.Short(max(0, t.Sub(now))) },
	"exec":  executionURL,
	"room":  func(name string) string { return Path + "deadletters/" + url.PathEscape(name) },
	"letter": func(room, id string) string {
		return Path + "deadletters/" + url.PathEscape(room) + "/" + url.PathEscape(id)
	},
	"machine": func(name string) string { return Path + "machines/" + url.PathEscape(name) },
	"maprun":  func(arn string) string { return Path + "mapruns/" + url.PathEscape(arn) },
	"name":    lastOf,
	"tail": func(id string) string {
		if strings.HasPrefix(id, "arn:") {
			return lastOf(id)
		}
		return id
	},
	"kind": func(k deadletters.Kind) string {
		return map[deadletters.Kind]string{deadletters.KindOutbox: "messages of an outbox", deadletters.KindRow: "rows of imports",
			deadletters.KindEvent: "events that started nothing", deadletters.KindItem: "failed items of Maps",
			deadletters.KindQueue: "dead-letter queue"}[k]
	},
	"count": count,
	"bytes": sizeOf,
	"percent": func(part, whole int64) string {
		if whole == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
	},
	"class": func(s any) string {
		return "s-" + strings.ToLower(strings.NewReplacer(" ", "-", "_", "-").Replace(fmt.Sprint(s)))
	},
	"add":      func(a, b int64) int64 { return a + b },
	"setparam": with,
	"statuses": func() []string { return []string{"RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"} },
	"machinearn": func(execution string) string {
		of, _, _ := strings.Cut(strings.Replace(execution, ":execution:", ":stateMachine:", 1), "/")
		if i := strings.LastIndexByte(of, ':'); strings.Count(of, ":") > 6 { // stateMachine:NAME:EXECUTION
			of = of[:i]
		}
		return of
	},
	"amplified": func(l Load) string {
		if l.Attempts == l.Failed {
			return "–"
		}
		return fmt.Sprintf("%.3g", float64(l.Attempts)/float64(l.Attempts-l.Failed))
	},
	"seconds": func(s float64) string { return timeline.Short(time.Duration(s * float64(time.Second))) },
	"between": func(a, b float64) string {
		low, high := fmt.Sprintf("%.0f", min(a, b)), fmt.Sprintf("%.0f", max(a, b))
		if low == high {
			return low
		}
		return low + "–" + high
	},
	"clip": clip,
	"changes": func(lines []DiffLine) string {
		plus, minus := 0, 0
		for _, l := range lines {
			plus, minus = plus+btoi(l.Kind == "+"), minus+btoi(l.Kind == "-")
		}
		return fmt.Sprintf("%d lines added, %d removed", plus, minus)
	},
	"dict": func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i+1 < len(pairs); i += 2 {
			m[fmt.Sprint(pairs[i])] = pairs[i+1]
		}
		return m
	},
}

func executionURL(arn string) string { return Path + "executions/" + url.PathEscape(arn) }

func timeTag(t time.Time, layout string) template.HTML {
	if t.IsZero() {
		return "–"
	}
	t = t.UTC()
	return template.HTML(`<time datetime="` + t.Format(time.RFC3339Nano) + `">` + t.Format(layout) + `</time>`) //nolint:gosec // digits
}

// lastOf is the last part of an ARN.
func lastOf(arn string) string { return arn[strings.LastIndexByte(arn, ':')+1:] }

// count writes a number with separators.
func count(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func sizeOf(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

func clip(n int, s string) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// with is an address with parameters set or, when empty, removed: with .Address "from" 200.
func with(address string, pairs ...any) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	q := u.Query()
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := fmt.Sprint(pairs[i]), fmt.Sprint(pairs[i+1])
		q.Del(name)
		if value != "" {
			q.Set(name, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// notices are what pages say once, after something was done.
type notices struct {
	mu    sync.Mutex
	next  int
	texts map[string]string
}

// maxNotices bounds what nobody has read.
const maxNotices = 100

// keep keeps a text and returns by what the next page finds it.
func (n *notices) keep(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.texts == nil || len(n.texts) >= maxNotices {
		n.texts = map[string]string{}
	}
	n.next++
	id := strconv.Itoa(n.next)
	n.texts[id] = text
	return id
}

func (n *notices) take(id string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := n.texts[id]
	delete(n.texts, id)
	return text
}
