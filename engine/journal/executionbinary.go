package journal

import "stepback/engine/interpreter"

// AppendBinary appends the compact stored form of an execution's description. It is read back by Decode.
func (x *Execution) AppendBinary(dst []byte) []byte {
	w := writer{dst}
	for _, s := range [...]string{
		x.ARN, x.Name, x.MachineARN, x.MapRunARN, string(x.Status), x.Input, x.Output, x.Failure.Error, x.Failure.Cause,
	} {
		w.text(s)
	}
	w.flags(x.Express, x.Failure.HasError, x.Failure.HasCause, x.Sync)
	w.time(x.Start)
	w.time(x.Stop)
	w.number(x.Items)
	w.number(x.HistorySize)
	for _, s := range [...]string{x.VersionARN, x.AliasARN, x.Revision, x.TraceHeader, x.Definition, x.TestCase} {
		w.text(s)
	}
	w.number(x.FirstItem)
	if x.RedriveCount|x.MapRunRedrive != 0 || x.LastItem != "" || len(x.RedriveTokens) > 0 {
		w.number(x.RedriveCount)
		w.time(x.Redriven)
		w.number(x.MapRunRedrive)
	}
	if x.LastItem != "" || len(x.RedriveTokens) > 0 {
		w.text(x.LastItem)
	}
	for _, t := range x.RedriveTokens {
		w.text(t.Token)
		w.time(t.At)
	}
	return w.dst
}

// Decode reads a description that AppendBinary wrote. What stores of the first format lack comes last.
func Decode(src []byte) (*Execution, error) {
	r := reader{src: src}
	x := &Execution{ARN: r.text(), Name: r.text(), MachineARN: r.text(), MapRunARN: r.text(),
		Status: interpreter.Status(r.text())}
	x.Input, x.Output = r.text(), r.text()
	x.Failure.Error, x.Failure.Cause = r.text(), r.text()
	r.flags(&x.Express, &x.Failure.HasError, &x.Failure.HasCause, &x.Sync)
	x.Start, x.Stop = r.time(), r.time()
	x.Items, x.HistorySize = r.number(), r.number()
	for _, s := range [...]*string{&x.VersionARN, &x.AliasARN, &x.Revision, &x.TraceHeader, &x.Definition,
		&x.TestCase} {
		if r.more() {
			*s = r.text()
		}
	}
	if r.more() {
		x.FirstItem = r.number()
	}
	if r.more() {
		x.RedriveCount, x.Redriven, x.MapRunRedrive = r.number(), r.time(), r.number()
	}
	if r.more() {
		x.LastItem = r.text()
	}
	for r.more() {
		x.RedriveTokens = append(x.RedriveTokens, RedriveToken{r.text(), r.time()})
	}
	return x, r.err("execution")
}
