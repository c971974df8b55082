package console

import (
	"fmt"
	"strconv"
	"strings"

	"stepback/engine/history"
	"stepback/engine/journal"
	"stepback/timeline"
)

// testCase writes an execution as a test of its machine: the input, what tasks answered, and what came of it.
func (c *Console) testCase(x *journal.Execution, t *timeline.Timeline) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(&b, strings.Repeat("  ", indent)+format+"\n", args...)
	}
	line(0, "# %s of %s", x.Name, machineOf(x))
	line(0, "name: %s", strconv.Quote(x.Name))
	line(0, "input: %s", c.hidden.text(x.Input))
	line(0, "expect:")
	line(1, "status: %s", x.Status)
	if x.Failure.HasName() {
		line(1, "error: %s", strconv.Quote(x.Failure.Name))
	}
	if x.Status == history.Succeeded {
		line(1, "output: %s", c.hidden.text(x.Output))
	}
	var path []string
	for _, v := range t.Visits {
		if v.Depth == 0 {
			path = append(path, strconv.Quote(v.State))
		}
	}
	line(1, "path: [%s]", strings.Join(path, ", "))
	attempts := map[string]int{}
	for _, v := range t.Visits {
		if len(v.Attempts) > 1 {
			attempts[v.State] += len(v.Attempts)
		}
	}
	return b.String()
}
