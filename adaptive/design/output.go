package design

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stepback/asl"
	"stepback/asl/source"
	"stepback/jsonvalue"
	"stepback/retrypatterns"
)

// Change is a change of a definition.
type Change struct {
	// Text is the changed definition. Diff is the change as a unified diff; empty if nothing changes.
	Text, Diff string
	// Notes say what the definition lacks besides.
	Notes []string
}

// Apply writes the settings into a definition in JSON: the Retry array and TimeoutSeconds of the state, and
// MaxConcurrency of the Map around it. Retriers of the definition that never retry stay in front. It returns an error
// if the text is not a valid definition in JSON, or has no such Task state. file names the definition in the diff.
func (d *Design) Apply(file, text string) (*Change, error) {
	root, err := jsonvalue.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: the settings can be written into definitions in JSON only: %w", file, err)
	}
	if _, found := asl.Parse(text); asl.HasErrors(found) {
		return nil, fmt.Errorf("%s is not a valid definition:\n%s", file, asl.Render(found, text, file))
	}
	at := pathOf(root, nil, nil, d.State)
	if at.state == nil {
		return nil, fmt.Errorf("%s: there is no Task state %q", file, d.State)
	}
	c := &Change{}
	e := &editor{text: text, index: source.NewIndex(text)}
	s := &d.Result.Settings
	block := d.RetryBlock(s)
	var never []retrypatterns.Retrier
	for _, r := range at.retriers {
		if r.MaxAttempts == 0 && !slices.ContainsFunc(block, func(b retrypatterns.Retrier) bool {
			return slices.Equal(b.ErrorEquals, r.ErrorEquals)
		}) {
			never = append(never, r)
		}
	}
	e.set(at.state, "Retry", indented(append(never, block...)))
	if s.Timeout > 0 {
		e.set(at.state, "TimeoutSeconds", fmt.Sprintf("%.0f", s.Timeout))
	}
	if s.Concurrency > 0 {
		if at.around == nil {
			c.Notes = append(c.Notes, "the state is not inside a Map, so its MaxConcurrency is not set")
		} else {
			e.set(at.around, "MaxConcurrency", strconv.Itoa(s.Concurrency))
		}
	}
	if !at.catches {
		c.Notes = append(c.Notes, fmt.Sprintf("%s has no Catch: a record that fails for good fails its execution; add a Catch for "+
			"States.ALL that keeps the record as a dead letter", d.State))
	}
	c.Text, c.Diff = e.apply(file)
	if _, found := asl.Parse(c.Text); asl.HasErrors(found) {
		return nil, fmt.Errorf("%s: the settings do not fit the state %q:\n%s", file, d.State, asl.Render(found, c.Text, file))
	}
	return c, nil
}

// place is the place of a state in a definition: its path, that of the Map around it, its retriers, and whether it has
// a Catch.
type place struct {
	state, around source.Path
	retriers      []retrypatterns.Retrier
	catches       bool
}

// pathOf finds a Task state by name at any depth.
func pathOf(graph jsonvalue.Value, at, around source.Path, name string) place {
	states, ok := graph.Get("States")
	if !ok || states.Kind() != jsonvalue.Object {
		return place{}
	}
	for _, key := range states.Keys() {
		s, _ := states.Get(key)
		here := at.Join(source.Member("States"), source.Member(key))
		if kind, ok := s.Get("Type"); ok && kind.JSON() == `"Task"` && key == name {
			p := place{state: here, around: around}
			if retry, ok := s.Get("Retry"); ok {
				for _, item := range retry.Elements() {
					r := retrypatterns.Retrier{MaxAttempts: 3}
					if json.Unmarshal([]byte(item.JSON()), &r) == nil {
						p.retriers = append(p.retriers, r)
					}
				}
			}
			_, p.catches = s.Get("Catch")
			return p
		}
		for _, inner := range []string{"ItemProcessor", "Iterator"} {
			if g, ok := s.Get(inner); ok {
				if p := pathOf(g, here.Join(source.Member(inner)), here, name); p.state != nil {
					return p
				}
			}
		}
		if branches, ok := s.Get("Branches"); ok && branches.Kind() == jsonvalue.Array {
			for i, g := range branches.Elements() {
				if p := pathOf(g, here.Join(source.Member("Branches"), source.Element(i)), around, name); p.state != nil {
					return p
				}
			}
		}
	}
	return place{}
}

// indented returns a Retry array with one retrier on each line.
func indented(block []retrypatterns.Retrier) string {
	if len(block) == 0 {
		return "[]"
	}
	var b strings.Builder
	b.WriteString("[")
	for i, r := range block {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  ")
		b.Write(retrierJSON(r))
	}
	b.WriteString("\n]")
	return b.String()
}

func retrierJSON(r retrypatterns.Retrier) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(r) // a retrier consists of texts and finite numbers
	return bytes.TrimSpace(b.Bytes())
}

// edit replaces a span of a text.
type edit struct {
	span source.Span
	text string
}

type editor struct {
	text  string
	index *source.Index
	edits []edit
}

// indent returns the white space at the start of the line of an offset.
func (e *editor) indent(offset int) string {
	line := e.text[strings.LastIndexByte(e.text[:offset], '\n')+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// set sets a member of the object at a path. value has its own lines indented from column 0.
func (e *editor) set(object source.Path, name, value string) {
	whole := e.index.Value(object)
	if span := e.index.Value(object.Join(source.Member(name))); span != whole {
		value = strings.ReplaceAll(value, "\n", "\n"+e.indent(span.Start))
		if old, err := jsonvalue.Parse(e.text[span.Start:span.End]); err == nil {
			if now, err := jsonvalue.Parse(value); err == nil && jsonvalue.Equal(old, now) {
				return
			}
		}
		e.edits = append(e.edits, edit{span, value})
		return
	}
	// After the opening brace, with the white space of the first member.
	start := whole.Start + 1
	blank := e.text[start : start+len(e.text[start:])-len(strings.TrimLeft(e.text[start:], " \t\r\n"))]
	indent := blank[strings.LastIndexByte(blank, '\n')+1:]
	if !strings.Contains(blank, "\n") {
		indent = ""
	}
	value = strings.ReplaceAll(value, "\n", "\n"+indent)
	e.edits = append(e.edits, edit{source.Span{Start: start, End: start}, fmt.Sprintf("%s%q: %s,", blank, name, value)})
}

// apply applies the edits and returns the new text with a unified diff.
func (e *editor) apply(file string) (text, diff string) {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return cmp.Compare(a.span.Start, b.span.Start) })
	var b strings.Builder
	at := 0
	for _, x := range e.edits {
		b.WriteString(e.text[at:x.span.Start])
		b.WriteString(x.text)
		at = x.span.End
	}
	b.WriteString(e.text[at:])
	return b.String(), e.diff(file)
}

// hunk is a range of whole lines of the old text, [from, to) from 0, and the lines that replace it.
type hunk struct {
	from, to int
	lines    []string
}

// diff returns the edits as a unified diff with three lines of context.
func (e *editor) diff(file string) string {
	if len(e.edits) == 0 {
		return ""
	}
	const context = 3
	lines := strings.SplitAfter(e.text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	starts := make([]int, len(lines)+1)
	for i, l := range lines {
		starts[i+1] = starts[i] + len(l)
	}
	lineOf := func(offset int) int {
		i, found := slices.BinarySearch(starts, offset)
		if !found {
			i--
		}
		return min(i, len(lines)-1)
	}
	var hunks []hunk
	for i := 0; i < len(e.edits); {
		// Edits on the same lines are one change.
		from, to := lineOf(e.edits[i].span.Start), lineOf(e.edits[i].span.End)+1
		var b strings.Builder
		at := starts[from]
		for ; i < len(e.edits) && lineOf(e.edits[i].span.Start) < to; i++ {
			b.WriteString(e.text[at:e.edits[i].span.Start] + e.edits[i].text)
			at = e.edits[i].span.End
			to = max(to, lineOf(at)+1)
		}
		b.WriteString(e.text[at:starts[to]])
		now := strings.SplitAfter(b.String(), "\n")
		if now[len(now)-1] == "" {
			now = now[:len(now)-1]
		}
		for from < to && len(now) > 0 && lines[from] == now[0] {
			from, now = from+1, now[1:]
		}
		for to > from && len(now) > 0 && lines[to-1] == now[len(now)-1] {
			to, now = to-1, now[:len(now)-1]
		}
		hunks = append(hunks, hunk{from, to, now})
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- a/%s\n+++ b/%s\n", file, file)
	write := func(sign, line string) {
		out.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
	shift := 0
	for i := 0; i < len(hunks); {
		last := i
		for last+1 < len(hunks) && hunks[last+1].from-hunks[last].to <= 2*context {
			last++
		}
		first, end := max(0, hunks[i].from-context), min(len(lines), hunks[last].to+context)
		added := 0
		for _, h := range hunks[i : last+1] {
			added += len(h.lines) - (h.to - h.from)
		}
		fmt.Fprintf(&out, "@@ -%d,%d +%d,%d @@\n", first+1, end-first, first+1+shift, end-first+added)
		at := first
		for _, h := range hunks[i : last+1] {
			for ; at < h.from; at++ {
				write(" ", lines[at])
			}
			for ; at < h.to; at++ {
				write("-", lines[at])
			}
			for _, l := range h.lines {
				write("+", l)
			}
		}
		for ; at < end; at++ {
			write(" ", lines[at])
		}
		shift += added
		i = last + 1
	}
	return out.String()
}

// TableRow returns the state's row of a retry table, as package tablefile reads it.
func (d *Design) TableRow() string {
	var b strings.Builder
	s := &d.Result.Settings
	fmt.Fprintf(&b, "states:\n  %q:\n    timeout: %.0f\n    retry:\n", d.State, max(s.Timeout, 1))
	block := d.RetryBlock(s)
	if len(block) == 0 {
		b.WriteString("      - {errors: [States.ALL], retries: 0}\n")
	}
	for _, r := range block {
		names, _ := json.Marshal(r.ErrorEquals)
		if r.MaxAttempts == 0 {
			fmt.Fprintf(&b, "      - {errors: %s, retries: 0}\n", names)
			continue
		}
		fmt.Fprintf(&b, "      - {errors: %s, interval: %d, rate: %g, maxDelay: %d, retries: %d, jitter: FULL}\n", names,
			r.IntervalSeconds, r.BackoffRate, r.MaxDelaySeconds, r.MaxAttempts)
	}
	return b.String()
}

// CDK returns the state's retries as calls of the AWS CDK in TypeScript.
func (d *Design) CDK() string {
	var b strings.Builder
	s := &d.Result.Settings
	if s.Timeout > 0 {
		fmt.Fprintf(&b, "// taskTimeout: sfn.Timeout.duration(Duration.seconds(%.0f))\n", s.Timeout)
	}
	if s.Concurrency > 0 {
		fmt.Fprintf(&b, "// on the DistributedMap: maxConcurrency: %d\n", s.Concurrency)
	}
	for _, r := range d.RetryBlock(s) {
		names, _ := json.Marshal(r.ErrorEquals)
		if r.MaxAttempts == 0 {
			fmt.Fprintf(&b, "task.addRetry({ errors: %s, maxAttempts: 0 });\n", names)
			continue
		}
		fmt.Fprintf(&b, "task.addRetry({ errors: %s, interval: Duration.seconds(%d), backoffRate: %g,\n"+
			"  maxDelay: Duration.seconds(%d), maxAttempts: %d, jitterStrategy: sfn.JitterType.FULL });\n", names, r.IntervalSeconds,
			r.BackoffRate, r.MaxDelaySeconds, r.MaxAttempts)
	}
	return b.String()
}
