package pipeline

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"stepback/internal/atomicfile"
	"stepback/internal/sealedjson"
)

// save stores a report atomically, so that it can be returned later for the same file, and is never incomplete if
// the process dies.
func (p *Pipeline) save(r *Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := p.reportPath(r.Execution)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(name, append(sealedjson.Seal(b, 1), '\n'), 0o600)
}

func (p *Pipeline) reportPath(arn string) string {
	return filepath.Join(p.cfg.Dir, "reports", arn[strings.LastIndexByte(arn, ':')+1:]+".json")
}

// earlier returns the report of an execution that ended before. If there is no stored report, because the process
// died first, or it cannot be read, earlier rebuilds it from the journal.
func (p *Pipeline) earlier(ctx context.Context, arn string) (*Report, error) {
	r, err := readReport(p.reportPath(arn))
	if err != nil {
		return p.rebuild(ctx, arn)
	}
	r.Earlier = true
	return r, nil
}

// rebuild builds the report of an execution from the journal.
func (p *Pipeline) rebuild(ctx context.Context, arn string) (*Report, error) {
	x, err := p.engine.DescribeExecution(ctx, arn)
	if err != nil {
		return nil, err
	}
	retries, err := p.recount(ctx, x)
	if err != nil {
		return nil, err
	}
	r := p.report(ctx, x, retries)
	r.Elapsed, r.Earlier = Seconds(x.Stop.Sub(x.Start)), true
	return r, nil
}
