package plan

import (
	"errors"
	"fmt"

	"stepback/asl"
	"stepback/asl/expression"
	"stepback/asl/jsonpath"
	"stepback/jsonvalue"
)

// Map is a compiled Map state: its items, and how they are processed.
type Map struct {
	Processor    *Graph
	Distributed  bool
	Express      bool // distributed: child executions are EXPRESS
	Label        string
	ItemsPath    *jsonpath.Path    // nil means the whole input
	Items        *expression.Value // JSONata; nil means the whole input
	ItemSelector *Payload
	Direct       []DirectMember // the ItemSelector if its result can be written directly, otherwise nil

	MaxConcurrency             Number
	ToleratedFailureCount      Number
	ToleratedFailurePercentage Number

	Reader  *Reader
	Batcher *Batcher
	Writer  *Writer
}

// Reader is a compiled ItemReader.
type Reader struct {
	asl.ItemReader
	Parameters *Payload // Arguments in JSONata
	MaxItems   Number
}

// Batcher is a compiled ItemBatcher.
type Batcher struct {
	MaxItemsPerBatch      Number
	MaxInputBytesPerBatch Number
	BatchInput            *Payload
}

// Writer is a compiled ResultWriter.
type Writer struct {
	asl.ResultWriter
	Parameters *Payload // Arguments in JSONata
}

func (c *compiler) mapState(s *asl.State) (*Map, error) {
	f := s.Map
	if f == nil || f.Processor == nil {
		return nil, errors.New("a Map state needs an ItemProcessor")
	}
	g, err := c.graph(f.Processor)
	if err != nil {
		return nil, fmt.Errorf("ItemProcessor: %w", err)
	}
	m := &Map{Processor: g, Distributed: f.Distributed, Express: f.Execution == "EXPRESS", Label: f.Label,
		Direct: direct(s)}
	if m.Label == "" {
		m.Label = s.Name
	}
	if f.ItemsPath != "" && f.ItemsPath != "$" {
		if m.ItemsPath, err = jsonpath.Compile(f.ItemsPath); err != nil {
			return nil, fmt.Errorf("ItemsPath: %w", err)
		}
	}
	d := dialect(s.QueryLanguage)
	steps := []func() error{
		func() (err error) { m.Items, err = d.value("Items", f.Items); return },
		func() (err error) { m.ItemSelector, err = d.payload("ItemSelector", f.ItemSelector); return },
		func() (err error) { m.MaxConcurrency, err = d.number("", "MaxConcurrency", f.MaxConcurrency); return },
		func() (err error) {
			m.ToleratedFailureCount, err = d.number("", "ToleratedFailureCount", f.ToleratedFailureCount)
			return
		},
		func() (err error) {
			m.ToleratedFailurePercentage, err = d.number("", "ToleratedFailurePercentage", f.ToleratedFailurePercentage)
			return
		},
		func() error { return m.reader(d, f.Reader) },
		func() error { return m.batcher(d, f.Batcher) },
		func() error { return m.writer(d, f.Writer) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// location compiles the parameters of a reader or writer.
func (d dialect) location(owner string, v *jsonvalue.Value) (*Payload, error) {
	if d == dialect(asl.JSONata) {
		return d.payload(owner+"/Arguments", v)
	}
	return d.payload(owner+".Parameters", v)
}

func (m *Map) reader(d dialect, r *asl.ItemReader) error {
	if r == nil {
		return nil
	}
	m.Reader = &Reader{ItemReader: *r}
	var err error
	if m.Reader.Parameters, err = d.location("ItemReader", r.Parameters); err != nil {
		return err
	}
	m.Reader.MaxItems, err = d.number("ItemReader/ReaderConfig/", "MaxItems", r.MaxItems)
	return err
}

func (m *Map) batcher(d dialect, b *asl.ItemBatcher) error {
	if b == nil {
		return nil
	}
	m.Batcher = &Batcher{}
	var err error
	if m.Batcher.MaxItemsPerBatch, err = d.number("ItemBatcher/", "MaxItemsPerBatch", b.MaxItemsPerBatch); err != nil {
		return err
	}
	if m.Batcher.MaxInputBytesPerBatch, err = d.number("ItemBatcher/", "MaxInputBytesPerBatch",
		b.MaxInputBytesPerBatch); err != nil {
		return err
	}
	m.Batcher.BatchInput, err = d.payload("ItemBatcher/BatchInput", b.BatchInput)
	return err
}

func (m *Map) writer(d dialect, w *asl.ResultWriter) error {
	if w == nil {
		return nil
	}
	m.Writer = &Writer{ResultWriter: *w}
	var err error
	m.Writer.Parameters, err = d.location("ResultWriter", w.Parameters)
	return err
}
