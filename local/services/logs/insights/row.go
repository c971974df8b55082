package insights

import (
	"strconv"
	"strings"

	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// Event is an event of a log.
type Event struct {
	// Time and Ingestion are milliseconds since 1970.
	Time, Ingestion int64
	Message         string
	// Stream is the log stream. Log is the account and log group (ACCOUNT:GROUP). Pointer is the value of @ptr.
	Stream, Log, Pointer string
}

// Row is an event, or a row of statistics, as it passes through the commands of a query.
type Row struct {
	work   *work
	event  *Event // nil for statistics
	made   map[string]value
	parsed bool
	json   jsonvalue.Value
	report map[string]value
}

func (r *Row) set(name string, v value) {
	if r.made == nil {
		r.made = map[string]value{}
	}
	held := perField + len(v.text)
	if old, ok := r.made[name]; ok {
		held -= perField + len(old.text)
	}
	r.work.hold(held)
	r.made[name] = v
}

func (r *Row) get(name string) value {
	if v, ok := r.made[name]; ok {
		return v
	}
	e := r.event
	if e == nil {
		return value{}
	}
	switch name {
	case "@timestamp":
		return timeOf(e.Time)
	case "@ingestionTime":
		return timeOf(e.Ingestion)
	case "@message":
		return value{text: e.Message, present: true}
	case "@logStream":
		return value{text: e.Stream, present: true}
	case "@log":
		return value{text: e.Log, present: true}
	case "@ptr":
		return value{text: e.Pointer, present: true}
	}
	if strings.HasPrefix(name, "@") {
		return r.reported(name)
	}
	if !r.parsed {
		r.parsed = true
		if text := strings.TrimSpace(e.Message); strings.HasPrefix(text, "{") {
			r.work.spend(4 * len(text))
			if v, err := jsonvalue.Parse(text); err == nil {
				r.json = v
			}
		}
	}
	v := member(r.json, name)
	r.work.spend(len(name) + len(v.text))
	return v
}

// member returns the member at a dotted path. It also finds members whose names contain dots.
func member(v jsonvalue.Value, path string) value {
	if v.Kind() == jsonvalue.Array {
		head, rest, more := strings.Cut(path, ".")
		i, err := strconv.Atoi(head)
		if err != nil || i < 0 || i >= v.Len() {
			return value{}
		}
		if !more {
			return jsonOf(v.Elements()[i])
		}
		return member(v.Elements()[i], rest)
	}
	if v.Kind() != jsonvalue.Object {
		return value{}
	}
	if m, ok := v.Get(path); ok {
		return jsonOf(m)
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if m, ok := v.Get(path[:i]); ok {
			if found := member(m, path[i+1:]); found.present {
				return found
			}
		}
	}
	return value{}
}

func jsonOf(v jsonvalue.Value) value {
	switch v.Kind() {
	case jsonvalue.Null:
		return value{}
	case jsonvalue.String:
		return textOf(v.Text())
	default:
		return textOf(v.JSON())
	}
}

var (
	reportField = lazyregexp.New(`(Duration|Billed Duration|Init Duration|Memory Size|Max Memory Used): ([0-9.]+) (ms|MB)`)
	requestID   = lazyregexp.New(`RequestId: ([0-9a-fA-F-]{36})`)
	reportNames = map[string]string{"Duration": "@duration", "Billed Duration": "@billedDuration",
		"Init Duration": "@initDuration", "Memory Size": "@memorySize", "Max Memory Used": "@maxMemoryUsed"}
)

// reported returns the value of a field in a line that the Lambda runtime logged: START, END or REPORT.
func (r *Row) reported(name string) value {
	if r.report == nil {
		r.report = map[string]value{}
		message := r.event.Message
		r.work.spend(4 * len(message))
		kind, _, _ := strings.Cut(message, " ")
		if kind == "START" || kind == "END" || kind == "REPORT" {
			r.report["@type"] = textOf(kind)
			if m := requestID.FindStringSubmatch(message); m != nil {
				r.report["@requestId"] = value{text: m[1], present: true}
			}
		}
		if kind == "REPORT" {
			for _, m := range reportField.FindAllStringSubmatch(message, -1) {
				n, err := strconv.ParseFloat(m[2], 64)
				if err != nil {
					continue
				}
				const megabyte = 1e6
				if m[3] == "MB" {
					n *= megabyte
				}
				r.report[reportNames[m[1]]] = numberOf(n)
			}
		}
	}
	return r.report[name]
}
