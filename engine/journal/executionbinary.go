package journal

import (
	"errors"
	"fmt"
	"slices"

	"stepback/engine/history"
	"stepback/engine/internal/wire"
)

// longText is the number of bytes from which on a text may be stored apart. A shorter one is compressed in less time
// than a key of its own takes.
const longText = 4 << 10

// LongTexts returns the texts of at least 4 KiB among the input of an execution and the data of the events of its first
// step, each once. all holds at least these events. It returns nil if FirstStep is 0.
func (x *Execution) LongTexts(all []history.Event) []string {
	if x.FirstStep == 0 {
		return nil
	}
	var texts []string
	if len(x.Input) >= longText {
		texts = append(texts, x.Input)
	}
	for i := range all[:min(int(x.FirstStep), len(all))] {
		if text := all[i].Data; len(text) >= longText && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// AppendTexts appends the stored form of texts. DecodeTexts reads it back.
func AppendTexts(dst []byte, texts []string) []byte {
	w := wire.Writer{Bytes: dst}
	w.Uvarint(uint64(len(texts)))
	for _, text := range texts {
		w.Text(text)
	}
	return w.Bytes
}

// DecodeTexts reads texts written by AppendTexts.
func DecodeTexts(src []byte) ([]string, error) {
	r := wire.NewReader(src)
	texts := make([]string, r.Count())
	for i := range texts {
		texts[i] = r.Text()
	}
	return texts, damage(&r, "list of texts")
}

// AppendBinary appends the compact stored form of an execution's description. Decode reads it back. apart are the
// execution's LongTexts if they are stored apart: then the description does not repeat the input if it is one of them.
func (x *Execution) AppendBinary(dst []byte, apart []string) []byte {
	w := wire.Writer{Bytes: dst}
	input, inputApart := x.Input, len(apart) > 0 && apart[0] == x.Input
	if inputApart {
		input = ""
	}
	for _, s := range [...]string{
		x.ARN, x.Name, x.MachineARN, x.MapRunARN, string(x.Status), input, x.Output, x.Failure.Name, x.Failure.Cause,
	} {
		w.Text(s)
	}
	w.Flags(x.Express, x.Failure.HasName(), x.Failure.HasCause(), x.Sync, inputApart, len(apart) > 0)
	if len(apart) > 0 {
		w.Varint(x.FirstStep)
	}
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

// Decode reads a description written by AppendBinary. Fields that stores of the first format lack come last. apart
// returns the texts that are stored apart; if it is nil, a description without its input is an error.
func Decode(src []byte, apart history.Apart) (*Execution, error) {
	return DecodeLike(src, apart, &Execution{})
}

// DecodeLike reads a description like Decode. Texts that many executions have in common, such as the ARN of the state
// machine, are taken from another execution if they are the same there, so that executions share their memory.
func DecodeLike(src []byte, apart history.Apart, like *Execution) (*Execution, error) {
	x, inputApart, err := decode(src, (*wire.Reader).Text, like)
	if err != nil || !inputApart {
		return x, err
	}
	if apart == nil {
		return nil, errors.New("journal: a stored execution refers to an input that is not stored")
	}
	x.Input, err = apart(0)
	return x, err
}

// DecodeListed reads a description like DecodeLike, but drops the payloads, as lists show executions.
func DecodeListed(src []byte, like *Execution) (*Execution, error) {
	x, _, err := decode(src, (*wire.Reader).SkipText, like)
	if err == nil {
		x.dropPayloads()
	}
	return x, err
}

// decode reads a description, using payload to read its input, output and cause. inputApart is true if the input is
// stored apart.
func decode(src []byte, payload func(*wire.Reader) string, like *Execution) (x *Execution, inputApart bool, err error) {
	r := wire.NewReader(src)
	x = &Execution{}
	x.ARN, x.Name, x.MachineARN, x.MapRunARN = r.Text(), r.Text(), r.TextLike(like.MachineARN),
		r.TextLike(like.MapRunARN)
	x.Status = history.Status(r.TextLike(string(like.Status)))
	x.Input, x.Output = payload(&r), payload(&r)
	name, cause := r.Text(), payload(&r)
	var hasName, hasCause, hasTexts bool
	r.Flags(&x.Express, &hasName, &hasCause, &x.Sync, &inputApart, &hasTexts)
	if hasTexts {
		x.FirstStep = r.Varint()
	}
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
	return x, inputApart, damage(&r, "execution")
}

// damage returns the error for a stored value that could not be read.
func damage(r *wire.Reader, what string) error {
	if r.Bad() {
		return fmt.Errorf("journal: a stored %s is truncated or damaged", what)
	}
	return nil
}
