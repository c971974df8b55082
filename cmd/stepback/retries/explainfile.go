package retries

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"stepback/asl"
	"stepback/cmd/stepback/definitions"
	"stepback/cmd/stepback/exit"
	"stepback/cmd/stepback/terminal"
	"stepback/retry"
	"stepback/retrypatterns"
	"stepback/retrypatterns/review"
)

// file explains the retries of a definition's states.
func (c *retriesExplainCmd) file(std terminal.Streams) error {
	d, err := c.Read(c.Of, std)
	if err != nil {
		return err
	}
	m, _ := asl.Parse(d.Text)
	if found := d.Diagnose(false); m == nil || asl.HasErrors(found) {
		fmt.Fprint(std.Err, d.Render(found))
		return exit.With(exit.Data, nil)
	}
	var (
		all   = []retrypatterns.Explanation{}
		names []string
	)
	definitions.VisitStates(&m.Graph, func(s *asl.State) {
		if len(s.Retry) == 0 {
			return
		}
		names = append(names, s.Name)
		if c.State == "" || c.State == s.Name {
			all = append(all, explanationOf(m, s))
		}
	})
	if len(all) == 0 {
		if len(names) == 0 {
			return exit.With(exit.Usage, fmt.Errorf("no state of %s has a Retry", d.Path))
		}
		return exit.With(exit.Usage, fmt.Errorf("no state %q of %s has a Retry; %s have", c.State, d.Path,
			strings.Join(names, ", ")))
	}
	if c.JSON {
		return terminal.PrintJSON(std.Out, all)
	}
	for i, e := range all {
		if i > 0 {
			fmt.Fprintln(std.Out)
		}
		explain(std.Out, e)
		explainLayers(std.Out, e.Layers)
	}
	return nil
}

// explanationOf explains the retries of a state of a machine.
func explanationOf(m *asl.Machine, s *asl.State) retrypatterns.Explanation {
	e := retrypatterns.ExplainRetriers(s.Name, seconds(s.TimeoutSeconds), seconds(s.HeartbeatSeconds),
		retriersOf(s.Retry))
	e.Layers = review.LayersOf(m, s.Name)
	return e
}

// ExplainState writes what retries explain prints about a state of a machine: the waits of each retrier, and the worst
// case.
func ExplainState(w io.Writer, m *asl.Machine, s *asl.State) {
	e := explanationOf(m, s)
	explain(w, e)
	explainLayers(w, e.Layers)
}

// explainLayers prints the layers that attempt a state's work, if there are several.
func explainLayers(w io.Writer, layers []retrypatterns.Layer) {
	if len(layers) < 2 {
		return
	}
	fmt.Fprintln(w, "\nlayers, whose attempts multiply:")
	t := terminal.NewTable("", ">attempts", "")
	for _, l := range layers {
		t.Add(l.Name, l.Attempts, l.Note)
	}
	t.Print(w, "  ")
	fmt.Fprintf(w, "  all layers together: up to %s attempts of one call, and as many again after each redrive\n",
		terminal.Grouped(int64(retrypatterns.AttemptsOf(layers))))
}

// seconds returns a literal number of seconds, or 0 if there is none.
func seconds(s asl.Scalar) time.Duration {
	if s.Literal == nil {
		return 0
	}
	n, _ := s.Literal.Int()
	return time.Duration(n) * time.Second
}

func retriersOf(all []asl.Retrier) []retrypatterns.Retrier {
	made := make([]retrypatterns.Retrier, len(all))
	for i := range all {
		made[i] = retrierOf(&all[i])
	}
	return made
}

// retrierOf returns a definition's retrier with its defaults filled in.
func retrierOf(r *asl.Retrier) retrypatterns.Retrier {
	whole := func(n int64) int { return int(min(n, math.MaxInt32)) }
	made := retrypatterns.Retrier{
		ErrorEquals: r.ErrorEquals, IntervalSeconds: whole(r.IntervalSeconds), MaxAttempts: whole(r.MaxAttempts),
		BackoffRate: r.BackoffRate, MaxDelaySeconds: whole(r.MaxDelaySeconds), Comment: r.Comment,
	}
	if r.FullJitter {
		made.JitterStrategy = retry.JitterFull
	}
	return made
}
