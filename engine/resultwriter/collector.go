package resultwriter

import (
	"cmp"
	"slices"
)

// MaxOutputBytes is the maximum size of a state output, 256 KiB of JSON text.
const MaxOutputBytes = 262_144

// Collector builds the output of a distributed Map without export: the array of its children's results, in the
// children's order. It holds at most MaxOutputBytes and must be used by one goroutine at a time.
type Collector struct {
	format  format
	results []collected
	bytes   int // size of the array so far
	over    bool
}

type collected struct {
	index int64
	text  []byte
}

// NewCollector returns an empty Collector. An empty transformation means COMPACT, the service's default without export.
func NewCollector(t Transformation) *Collector {
	if t == "" {
		t = Compact
	}
	return &Collector{format: format{transformation: t}, bytes: len("[]")}
}

// Add adds the result of the child with this index (from 0); children may end in any order. It returns a
// *DataLimitError for the first result that does not fit and for all later ones.
func (c *Collector) Add(index int64, r ChildResult) error {
	if c.over {
		return &DataLimitError{Limit: MaxOutputBytes}
	}
	text := c.format.append(nil, &r)
	if len(text) == 0 {
		return nil
	}
	c.bytes += len(text)
	if len(c.results) > 0 {
		c.bytes++
	}
	if c.bytes > MaxOutputBytes {
		c.over, c.results = true, nil
		return &DataLimitError{Limit: MaxOutputBytes}
	}
	c.results = append(c.results, collected{index: index, text: text})
	return nil
}

// Finish returns the JSON text of the array, or a *DataLimitError.
func (c *Collector) Finish() ([]byte, error) {
	if c.over {
		return nil, &DataLimitError{Limit: MaxOutputBytes}
	}
	slices.SortFunc(c.results, func(a, b collected) int { return cmp.Compare(a.index, b.index) })
	out := append(make([]byte, 0, c.bytes), '[')
	for i, r := range c.results {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, r.text...)
	}
	return append(out, ']'), nil
}
