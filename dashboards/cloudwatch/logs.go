package cloudwatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stepback/dashboards/render"
)

// A log query is asked for its result at this interval, up to so many times.
const (
	logInterval = 500 * time.Millisecond
	logAttempts = 60
)

// runQuery runs a query of CloudWatch Logs Insights and waits for its result.
func runQuery(ctx context.Context, logs Logs, from, to time.Time, q render.LogQuery) (render.Table, error) {
	const rows = 1000
	var started struct {
		ID string `json:"queryId"`
	}
	in := map[string]any{"queryString": q.Text, "startTime": from.Unix(), "endTime": to.Unix(), "limit": rows}
	if len(q.Groups) > 0 { // otherwise the query selects them itself
		in["logGroupNames"] = q.Groups
	}
	if err := logs.Call(ctx, "StartQuery", in, &started); err != nil {
		return render.Table{}, said(err)
	}
	for range logAttempts {
		var out struct {
			Status  string `json:"status"`
			Results [][]struct {
				Field string `json:"field"`
				Value string `json:"value"`
			} `json:"results"`
		}
		if err := logs.Call(ctx, "GetQueryResults", map[string]any{"queryId": started.ID}, &out); err != nil {
			return render.Table{}, said(err)
		}
		switch out.Status {
		case "Complete":
			t := render.Table{Columns: []string{}, Rows: [][]string{}}
			places := map[string]int{}
			for _, result := range out.Results {
				row := make([]string, len(t.Columns))
				for _, f := range result {
					if f.Field == "@ptr" {
						continue
					}
					at, ok := places[f.Field]
					if !ok {
						at = len(t.Columns)
						places[f.Field] = at
						t.Columns, row = append(t.Columns, f.Field), append(row, "")
					}
					row[at] = f.Value
				}
				t.Rows = append(t.Rows, row)
			}
			for i := range t.Rows {
				t.Rows[i] = append(t.Rows[i], make([]string, len(t.Columns)-len(t.Rows[i]))...)
			}
			return t, nil
		case "Failed", "Cancelled", "Timeout":
			return render.Table{}, fmt.Errorf("the log query ended with the status %s", out.Status)
		}
		timer := time.NewTimer(logInterval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return render.Table{}, ctx.Err()
		case <-timer.C:
		}
	}
	return render.Table{}, errors.New("the log query did not end in time")
}
