package main

import (
	"context"
	"encoding/json"
	"io"

	"stepback/csvimport/aggregate"
	"stepback/csvimport/handlers"
	"stepback/retrymetrics"
)

// published wraps next so that it also prints the rows by outcome in CloudWatch's embedded metric format. If a
// response is lost and the request repeated, the rows are counted twice.
func published(next handlers.Func[aggregate.Output], machine string, out io.Writer) handlers.Func[aggregate.Output] {
	if machine == "" {
		return next
	}
	return func(ctx context.Context, event json.RawMessage) (aggregate.Output, error) {
		answer, err := next(ctx, event)
		if err != nil {
			return answer, err
		}
		counted := answer.Counted() // the rows of earlier parts were published with these
		var c retrymetrics.Collector
		c.AddRows(machine, counted.EndTime, retrymetrics.Rows{
			Applied: counted.Applied, AlreadyApplied: counted.AlreadyApplied, Rejected: counted.Rejected,
			DeadLettered: counted.DeadLettered, Retried: counted.Retried, Recovered: counted.Recovered,
		})
		lines, err := retrymetrics.AppendEMF(nil, c.Points())
		if err != nil {
			return answer, err
		}
		_, err = out.Write(lines)
		return answer, err
	}
}
