package pipeline

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"stepback/internal/atomicfile"
)

// save keeps a report, so that the same file can be answered with it later. The report is there as a whole or not at
// all, whenever the process dies.
func (p *Pipeline) save(r *Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := p.reportPath(r.Execution)
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	return atomicfile.Write(name, append(b, '\n'), 0o600)
}

func (p *Pipeline) reportPath(arn string) string {
	return filepath.Join(p.cfg.Dir, "reports", arn[strings.LastIndexByte(arn, ':')+1:]+".json")
}

// earlier returns the report of an execution that ended before. One that was not kept, because the process died before,
// or cannot be read is built again from the journal.
func (p *Pipeline) earlier(ctx context.Context, arn string) (*Report, error) {
	r := &Report{}
	b, err := os.ReadFile(p.reportPath(arn))
	if err == nil {
		err = json.Unmarshal(b, r)
	}
	if err != nil {
		return p.rebuild(ctx, arn)
	}
	r.Earlier = true
	return r, nil
}

// rebuild makes the report of an execution from the journal.
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
