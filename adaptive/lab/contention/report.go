package contention

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"stepback/adaptive/lab/statistics"
)

// Row is the comparison for one number of clients.
type Row struct {
	Clients int
	Results []Result
}

// Table compares the strategies for each of the given numbers of clients. It returns the error of [Compare].
func Table(c Options, clients []int) ([]Row, error) {
	rows := make([]Row, 0, len(clients))
	for _, n := range clients {
		c.Clients = n
		results, err := Compare(c)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{n, results})
	}
	return rows, nil
}

// WriteTable writes calls and completion as a text table.
func WriteTable(w io.Writer, rows []Row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "clients\t")
	for _, r := range rows[0].Results {
		fmt.Fprintf(t, "%s\t", r.Strategy)
	}
	fmt.Fprintln(t)
	for _, row := range rows {
		fmt.Fprintf(t, "%d calls\t", row.Clients)
		for _, r := range row.Results {
			fmt.Fprintf(t, "%.0f\t", r.Calls.Mean)
		}
		fmt.Fprint(t, "\nseconds\t")
		for _, r := range row.Results {
			fmt.Fprintf(t, "%.2f\t", r.Completion.Mean)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// estimate is the JSON form of an estimate.
type estimate struct {
	Mean float64 `json:"mean"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

func estimateOf(e statistics.Estimate) estimate {
	if e.N < 2 { // a single trial has no interval
		return estimate{e.Mean, e.Mean, e.Mean}
	}
	return estimate{e.Mean, e.Low, e.High}
}

// WriteJSON writes, for each number of clients and strategy, the estimates of calls and of completion in seconds.
func WriteJSON(w io.Writer, rows []Row) error {
	type strategy struct {
		Strategy   string   `json:"strategy"`
		Calls      estimate `json:"calls"`
		Completion estimate `json:"completionSeconds"`
	}
	type row struct {
		Clients    int        `json:"clients"`
		Strategies []strategy `json:"strategies"`
	}
	out := make([]row, len(rows))
	for i, r := range rows {
		out[i].Clients = r.Clients
		for _, s := range r.Results {
			n := strategy{s.Strategy, estimateOf(s.Calls), estimateOf(s.Completion)}
			out[i].Strategies = append(out[i].Strategies, n)
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
