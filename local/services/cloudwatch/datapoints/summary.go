package datapoints

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strconv"
)

// Limits for the number of different values in a summary. Up to mostExact values are kept unrounded, and up to
// mostRounded are kept with three digits. If there are more, they are rounded to two digits, or to one. When a
// limit is crossed, all values are rounded; after that, each new value is rounded as it is added.
const (
	mostExact   = 512
	mostRounded = 2048
)

// Value is a value with its number of occurrences.
type Value struct{ Value, Count float64 }

// Summary holds the values of a metric in a period. The zero value is empty.
type Summary struct {
	Count, Sum, Min, Max float64
	// Values are the different values in ascending order. They are missing if a client put only a summary
	// (Incomplete is true); percentiles cannot be computed from it.
	Values     []Value
	Incomplete bool
	// Unit is the unit of the values; "None" by default.
	Unit string
}

// Add adds a value that occurred count times.
func (s *Summary) Add(value, count float64) {
	s.merge(Summary{Count: count, Sum: value * count, Min: value, Max: value, Values: []Value{{value, count}}})
}

// Merge adds the values of another summary.
func (s *Summary) Merge(o *Summary) { s.merge(*o) }

func (s *Summary) merge(o Summary) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		s.Min, s.Max = o.Min, o.Max
	}
	s.Count += o.Count
	s.Sum += o.Sum
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	s.Incomplete = s.Incomplete || o.Incomplete
	if s.Incomplete {
		s.Values = nil
		return
	}
	for _, v := range o.Values {
		s.keep(v)
	}
}

// keep adds a value with the precision that the number of values allows.
func (s *Summary) keep(v Value) {
	exact := len(s.Values) <= mostExact
	if !exact {
		v.Value = rounded(v.Value, 3)
	}
	s.add(v)
	switch n := len(s.Values); {
	case exact && n > mostExact:
		s.round(3)
	case n > mostRounded:
		if s.round(2); len(s.Values) > mostRounded {
			s.round(1)
		}
	}
}

// round rounds all values to a number of digits.
func (s *Summary) round(digits int) {
	kept := s.Values[:0] // rounding keeps the order
	for _, v := range s.Values {
		v.Value = rounded(v.Value, digits)
		if n := len(kept); n > 0 && kept[n-1].Value == v.Value {
			kept[n-1].Count += v.Count
		} else {
			kept = append(kept, v)
		}
	}
	s.Values = kept
}

func (s *Summary) add(v Value) {
	at, found := slices.BinarySearchFunc(s.Values, v.Value, func(v Value, x float64) int {
		switch {
		case v.Value < x:
			return -1
		case v.Value > x:
			return 1
		}
		return 0
	})
	if found {
		s.Values[at].Count += v.Count
	} else {
		s.Values = slices.Insert(s.Values, at, v)
	}
}

func rounded(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		return v
	}
	return r
}

// Average returns the mean of the values; NaN if there are none.
func (s *Summary) Average() float64 {
	if s.Count == 0 {
		return math.NaN()
	}
	return s.Sum / s.Count
}

// Percentile returns the value below which p percent of the values are, interpolated between two values as CloudWatch
// does; NaN if the values are unknown. p is between 0 and 100.
func (s *Summary) Percentile(p float64) float64 {
	if len(s.Values) == 0 {
		return math.NaN()
	}
	rank := p / 100 * (s.Count - 1)
	low := s.at(math.Floor(rank))
	return low + (s.at(math.Ceil(rank))-low)*(rank-math.Floor(rank))
}

// at returns the value with a rank, counted from 0.
func (s *Summary) at(rank float64) float64 {
	seen := 0.0
	for _, v := range s.Values {
		if seen += v.Count; seen > rank {
			return v.Value
		}
	}
	return s.Values[len(s.Values)-1].Value
}

// Between returns the summary of the values between two bounds, inclusive.
func (s *Summary) Between(low, high float64) Summary {
	var cut Summary
	for _, v := range s.Values {
		if v.Value >= low && v.Value <= high {
			cut.Add(v.Value, v.Count)
		}
	}
	return cut
}

// Append appends the summary to bytes, in the format of Read.
func (s *Summary) Append(to []byte) []byte {
	incomplete := byte(0)
	if s.Incomplete {
		incomplete = 1
	}
	to = append(to, incomplete, byte(len(s.Unit)))
	to = append(to, s.Unit...)
	for _, v := range []float64{s.Count, s.Sum, s.Min, s.Max} {
		to = binary.BigEndian.AppendUint64(to, math.Float64bits(v))
	}
	for _, v := range s.Values {
		to = binary.BigEndian.AppendUint64(to, math.Float64bits(v.Value))
		to = binary.BigEndian.AppendUint64(to, math.Float64bits(v.Count))
	}
	return to
}

var errSummary = errors.New("a datapoint cannot be read")

// Read decodes what Append has encoded.
func (s *Summary) Read(b []byte) error {
	if len(b) < 2 || len(b) < 2+int(b[1])+32 || (len(b)-2-int(b[1]))%16 != 0 {
		return errSummary
	}
	*s = Summary{Incomplete: b[0] == 1, Unit: string(b[2 : 2+b[1]])}
	b = b[2+b[1]:]
	next := func() float64 {
		v := math.Float64frombits(binary.BigEndian.Uint64(b))
		b = b[8:]
		return v
	}
	s.Count, s.Sum, s.Min, s.Max = next(), next(), next(), next()
	for len(b) > 0 {
		s.Values = append(s.Values, Value{next(), next()})
	}
	return nil
}
