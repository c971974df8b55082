package console

import (
	"fmt"
	"html/template"
	"net/url"
	"strings"
	"time"

	"stepback/engine/durable"
	"stepback/engine/timeline"
	"stepback/internal/spelling"
	"stepback/outbox/deadletters"
)

// pages holds the pages by name, each with the templates of the layout.
type pages map[string]*template.Template

// parsePages parses the pages. html/template escapes each when it is first shown.
func parsePages() pages {
	all := pages{}
	layout := template.Must(template.New("").Funcs(functions).ParseFS(files, "templates/layout.html"))
	entries, _ := files.ReadDir("templates") // embedded: it exists
	for _, e := range entries {
		if e.Name() != "layout.html" {
			with := template.Must(layout.Clone())
			all[strings.TrimSuffix(e.Name(), ".html")] = template.Must(with.ParseFS(files, "templates/"+e.Name()))
		}
	}
	return all
}

// functions are the functions that templates can call.
var functions = template.FuncMap{
	"at":    func(t time.Time) template.HTML { return timeTag(t, "2006-01-02 15:04:05") },
	"clock": func(t time.Time) template.HTML { return timeTag(t, "15:04:05.000") },
	"short": timeline.Short,
	"since": func(t, now time.Time) string { return timeline.Short(now.Sub(t)) },
	"until": func(t, now time.Time) string { return timeline.Short(max(0, t.Sub(now))) },
	"exec":  executionURL,
	"store": func(name string) string { return Path + "deadletters/" + url.PathEscape(name) },
	"letter": func(store, id string) string {
		return Path + "deadletters/" + url.PathEscape(store) + "/" + url.PathEscape(id)
	},
	"machine": func(name string) string { return Path + "machines/" + url.PathEscape(name) },
	"maprun":  func(arn string) string { return Path + "mapruns/" + url.PathEscape(arn) },
	"name":    lastOf,
	"tail": func(id string) string {
		if strings.HasPrefix(id, "arn:") {
			return lastOf(id)
		}
		if strings.HasPrefix(id, "row:") { // row:EXECUTION:LINE
			return "line " + lastOf(id)
		}
		return id
	},
	"kind": func(k deadletters.Kind) string {
		return map[deadletters.Kind]string{deadletters.KindOutbox: "messages of an outbox", deadletters.KindRow: "rows of imports",
			deadletters.KindEvent: "events that started no execution", deadletters.KindItem: "failed items of Maps",
			deadletters.KindQueue: "dead-letter queue"}[k]
	},
	"dashboard": func(name string) string { return Path + "dashboards/" + url.PathEscape(name) },
	"alarm":     alarmURL,
	"stack":     stackURL,
	"linked":    linked,
	"count":     count,
	"noun":      noun,
	"bytes":     sizeOf,
	"percent": func(part, whole int64) string {
		if whole == 0 {
			return "–"
		}
		return fmt.Sprintf("%.3g %%", 100*float64(part)/float64(whole))
	},
	"class": func(s any) string {
		return "s-" + strings.ToLower(strings.NewReplacer(" ", "-", "_", "-").Replace(fmt.Sprint(s)))
	},
	"add":             func(a, b int64) int64 { return a + b },
	"setparam":        with,
	"durablestatuses": func() []string { return []string{"RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "STOPPED"} },
	"statuses":        func() []string { return []string{"RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"} },
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
	"clip":    clip,
	"stateat": func(location string) string { return location[strings.LastIndexByte(location, '/')+1:] },
	"then":    func(states []string) string { return strings.Join(states, " → ") },
	"shorts": func(all []time.Duration) string {
		words := make([]string, 0, len(all))
		for _, d := range all {
			words = append(words, timeline.Short(d))
		}
		return strings.Join(words, ", ")
	},
	"changes": func(lines []DiffLine) string {
		plus, minus := 0, 0
		for _, l := range lines {
			plus, minus = plus+btoi(l.Kind == "+"), minus+btoi(l.Kind == "-")
		}
		return fmt.Sprintf("%s added, %d removed", spelling.Counted(plus, "line"), minus)
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

// lastOf returns the last part of an ARN, or the name of a durable execution.
func lastOf(arn string) string {
	if _, name, ok := strings.Cut(arn, durable.InARN); ok {
		name, _, _ = strings.Cut(name, "/")
		return name
	}
	return arn[strings.LastIndexByte(arn, ':')+1:]
}

// noun returns a noun in the form that a number needs.
func noun(n any, noun string) string {
	if fmt.Sprint(n) == "1" {
		return noun
	}
	return spelling.Noun(2, noun)
}

// count formats a number with commas between thousands.
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

// with returns an address with parameters set or, if their value is empty, removed: with .Address "from" 200.
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
