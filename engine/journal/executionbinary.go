package journal

import (
	"fmt"

	"stepback/engine/history"
	"stepback/engine/internal/wire"
)

// AppendBinary appends the compact stored form of an execution's description. Decode reads it back.
func (x *Execution) AppendBinary(dst []byte) []byte {
	w := wire.Writer{Bytes: dst}
	for _, s := range [...]string{
		x.ARN, x.Name, x.MachineARN, x.MapRunARN, string(x.Status), x.Input, x.Output, x.Failure.Name, x.Failure.Cause,
	} {
		w.Text(s)
	}
	w.Flags(x.Express, x.Failure.HasName(), x.Failure.HasCause(), x.Sync)
	w.Time(x.Start)
	w.Time(x.Stop)
	w.Varint(x.Items)
	w.Varint(x.HistorySize)
	for _, s := range [...]string{x.VersionARN, x.AliasARN, x.Revision, x.TraceHeader, x.Definition, x.TestCase} {
		w.Text(s)
	}
	w.Varint(x.FirstItem)
	if x.RedriveCount|x.MapRunRedrive != 0 || x.LastItem != "" || len(x.RedriveTokens) > 0 {
		w.Varint(x.RedriveCount)
		w.Time(x.Redriven)
		w.Varint(x.MapRunRedrive)
	}
	if x.LastItem != "" || len(x.RedriveTokens) > 0 {
		w.Text(x.LastItem)
	}
	for _, t := range x.RedriveTokens {
		w.Text(t.Token)
		w.Time(t.At)
	}
	return w.Bytes
}

// Decode reads a description written by AppendBinary. Fields that stores of the first format lack come last.
func Decode(src []byte) (*Execution, error) { return DecodeLike(src, &Execution{}) }

// DecodeLike reads a description like Decode. Texts that many executions have in common, such as the ARN of the state
// machine, are taken from another execution if they are the same there, so that executions share their memory.
func DecodeLike(src []byte, like *Execution) (*Execution, error) {
	return decode(src, (*wire.Reader).Text, like)
}

// DecodeListed reads a description like DecodeLike, but drops the payloads, as lists show executions.
func DecodeListed(src []byte, like *Execution) (*Execution, error) {
	x, err := decode(src, (*wire.Reader).SkipText, like)
	if err == nil {
		x.dropPayloads()
	}
	return x, err
}

// decode reads a description, using payload to read its input, output and cause.
func decode(src []byte, payload func(*wire.Reader) string, like *Execution) (*Execution, error) {
	r := wire.NewReader(src)
	x := &Execution{}
	x.ARN, x.Name, x.MachineARN, x.MapRunARN = r.Text(), r.Text(), r.TextLike(like.MachineARN),
		r.TextLike(like.MapRunARN)
	x.Status = history.Status(r.TextLike(string(like.Status)))
	x.Input, x.Output = payload(&r), payload(&r)
	name, cause := r.Text(), payload(&r)
	var hasName, hasCause bool
	r.Flags(&x.Express, &hasName, &hasCause, &x.Sync)
	if hasName {
		x.Failure.SetName(name)
	}
	if hasCause {
		x.Failure.SetCause(cause)
	}
	x.Start, x.Stop = r.Time(), r.Time()
	x.Items, x.HistorySize = r.Varint(), r.Varint()
	for _, s := range [...]struct {
		to   *string
		like string
	}{{&x.VersionARN, like.VersionARN}, {&x.AliasARN, like.AliasARN}, {&x.Revision, like.Revision},
		{&x.TraceHeader, ""}, {&x.Definition, like.Definition}, {&x.TestCase, like.TestCase}} {
		if r.More() {
			*s.to = r.TextLike(s.like)
		}
	}
	if r.More() {
		x.FirstItem = r.Varint()
	}
	if r.More() {
		x.RedriveCount, x.Redriven, x.MapRunRedrive = r.Varint(), r.Time(), r.Varint()
	}
	if r.More() {
		x.LastItem = r.Text()
	}
	for r.More() {
		x.RedriveTokens = append(x.RedriveTokens, RedriveToken{r.Text(), r.Time()})
	}
	return x, damage(&r, "execution")
}

// damage returns the error for a stored value that could not be read.
func damage(r *wire.Reader, what string) error {
	if r.Bad() {
		return fmt.Errorf("journal: a stored %s is truncated or damaged", what)
	}
	return nil
}
