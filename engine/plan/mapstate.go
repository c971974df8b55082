package plan

import (
	"errors"
	"fmt"

	"stepback/asl"
	"stepback/asl/jsonpath"
	"stepback/asl/template"
)

// Map is what a Map state iterates over and how.
type Map struct {
	Processor    *Graph
	Distributed  bool
	Express      bool // distributed: child executions are EXPRESS
	Label        string
	ItemsPath    *jsonpath.Path // nil means the whole input
	ItemSelector *template.Template

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
	Parameters *template.Template
	MaxItems   Number
}

// Batcher is a compiled ItemBatcher.
type Batcher struct {
	MaxItemsPerBatch      Number
	MaxInputBytesPerBatch Number
	BatchInput            *template.Template
}

// Writer is a compiled ResultWriter.
type Writer struct {
	asl.ResultWriter
	Parameters *template.Template
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
	m := &Map{Processor: g, Distributed: f.Distributed, Express: f.Execution == "EXPRESS", Label: f.Label}
	if m.Label == "" {
		m.Label = s.Name
	}
	if f.ItemsPath != "" && f.ItemsPath != "$" {
		if m.ItemsPath, err = jsonpath.Compile(f.ItemsPath); err != nil {
			return nil, fmt.Errorf("ItemsPath: %w", err)
		}
	}
	steps := []func() error{
		func() (err error) { m.ItemSelector, err = payload("ItemSelector", f.ItemSelector); return },
		func() (err error) { m.MaxConcurrency, err = number("MaxConcurrency", f.MaxConcurrency); return },
		func() (err error) {
			m.ToleratedFailureCount, err = number("ToleratedFailureCount", f.ToleratedFailureCount)
			return
		},
		func() (err error) {
			m.ToleratedFailurePercentage, err = number("ToleratedFailurePercentage", f.ToleratedFailurePercentage)
			return
		},
		func() error { return m.reader(f.Reader) },
		func() error { return m.batcher(f.Batcher) },
		func() error { return m.writer(f.Writer) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Map) reader(r *asl.ItemReader) error {
	if r == nil {
		return nil
	}
	m.Reader = &Reader{ItemReader: *r}
	var err error
	if m.Reader.Parameters, err = payload("ItemReader.Parameters", r.Parameters); err != nil {
		return err
	}
	m.Reader.MaxItems, err = number("MaxItems", r.MaxItems)
	return err
}

func (m *Map) batcher(b *asl.ItemBatcher) error {
	if b == nil {
		return nil
	}
	m.Batcher = &Batcher{}
	var err error
	if m.Batcher.MaxItemsPerBatch, err = number("MaxItemsPerBatch", b.MaxItemsPerBatch); err != nil {
		return err
	}
	if m.Batcher.MaxInputBytesPerBatch, err = number("MaxInputBytesPerBatch", b.MaxInputBytesPerBatch); err != nil {
		return err
	}
	m.Batcher.BatchInput, err = payload("ItemBatcher.BatchInput", b.BatchInput)
	return err
}

func (m *Map) writer(w *asl.ResultWriter) error {
	if w == nil {
		return nil
	}
	m.Writer = &Writer{ResultWriter: *w}
	var err error
	m.Writer.Parameters, err = payload("ResultWriter.Parameters", w.Parameters)
	return err
}
