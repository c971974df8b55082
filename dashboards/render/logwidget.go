package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (l *loader) logs(ctx context.Context, w *Widget) error {
	q := LogQuery{Text: w.properties.Query, Language: w.properties.Language, Region: w.properties.Region}
	for {
		m := sourced.FindStringSubmatch(q.Text)
		if m == nil {
			break
		}
		q.Groups = append(q.Groups, m[1]+m[2])
		for more := range strings.SplitSeq(m[3], ",") {
			if more = strings.Trim(strings.TrimSpace(more), "'"); more != "" {
				q.Groups = append(q.Groups, more)
			}
		}
		q.Text = q.Text[len(m[0]):]
	}
	switch {
	case q.Language != "" && q.Language != "CWLI":
		return fmt.Errorf("log queries in %s are not supported", q.Language)
	case len(q.Groups) == 0 && !selecting.MatchString(q.Text):
		return errors.New("the query names no log group: it begins with SOURCE 'NAME' |")
	}
	t, err := l.source.Logs(ctx, l.window.From, l.window.To, q)
	if err != nil {
		return err
	}
	w.Table = &t
	if w.View != viewTable {
		w.Lines = t.lines(w.View == viewTimeSeries)
	}
	return nil
}

// lines returns the lines of a log query's result. As a time series, the first column that holds times has the times;
// columns of numbers are lines, and the other columns tell groups of lines apart. Otherwise each row is one value: the
// first column of numbers, labelled by the columns of texts.
func (t *Table) lines(series bool) []Line {
	var all []Line
	for _, row := range t.Rows {
		var at time.Time
		var group, names []string
		var values []float64
		for i, cell := range row {
			switch v, err := strconv.ParseFloat(cell, 64); {
			case err == nil:
				values, names = append(values, v), append(names, t.Columns[i])
			case at.IsZero() && series && logTime(cell, &at):
			default:
				group = append(group, cell)
			}
		}
		if !series {
			values = values[:min(1, len(values))]
		}
		for i, v := range values {
			label := strings.Join(group, " ")
			if series && len(values) > 1 || label == "" {
				label = strings.TrimSpace(label + " " + names[i])
			}
			n := slices.IndexFunc(all, func(l Line) bool { return l.Label == label })
			if n < 0 {
				n = len(all)
				all = append(all, Line{Series: Series{Label: label}, Color: palette[n%len(palette)],
					Period: time.Minute})
			}
			all[n].Times, all[n].Values = append(all[n].Times, at), append(all[n].Values, v)
		}
	}
	for i := range all {
		all[i].ascending()
	}
	return all
}

func logTime(text string, to *time.Time) bool {
	at, err := time.Parse("2006-01-02 15:04:05.000", text)
	if err == nil {
		*to = at
	}
	return err == nil
}

// ascending sorts the values of a line by time, and sets its period to the shortest distance of two of them.
func (l *Line) ascending() {
	order := make([]int, len(l.Times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return l.Times[a].Compare(l.Times[b]) })
	times, values := make([]time.Time, len(order)), make([]float64, len(order))
	for to, from := range order {
		times[to], values[to] = l.Times[from], l.Values[from]
	}
	l.Times, l.Values = times, values
	least := time.Duration(0)
	for i := 1; i < len(times); i++ {
		if d := times[i].Sub(times[i-1]); d > 0 && (least == 0 || d < least) {
			least = d
		}
	}
	l.Period = cmp.Or(least, l.Period)
}
