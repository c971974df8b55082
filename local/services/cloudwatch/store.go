package cloudwatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stepback/aws"
	"stepback/local/services/cloudwatch/datapoints"
	"stepback/local/services/documents"
	"stepback/retrymetrics/metricmath"
)

// The prefixes of keys.
const (
	metricKeys    = "m/" // scope, metric and unit: the number of its data
	pointKeys     = "p/" // number, resolution, second: a summary
	nextKey       = "n"  // the next number
	alarmKeys     = "a/" // scope, name
	historyKeys   = "h/" // scope, name, time
	evaluatedKey  = "e"  // the time up to which alarms have been evaluated, in seconds
	actionKeys    = "x/" // time: an undelivered action
	dashboardKeys = "d/" // account, name
	detectorKeys  = "b/" // scope, metric and statistic: an anomaly detector
	insightKeys   = "i/" // scope, name: a Contributor Insights rule
	streamKeys    = "s/" // scope, name: a metric stream
)

// Dimension is a dimension of a metric.
type Dimension = metricmath.Dimension

// Metric identifies a metric.
type Metric struct {
	Namespace  string
	Name       string      `json:"MetricName"`
	Dimensions []Dimension // sorted
}

func (m *Metric) sorted() {
	slices.SortFunc(m.Dimensions, func(a, b Dimension) int { return strings.Compare(a.Name, b.Name) })
	if m.Dimensions == nil {
		m.Dimensions = []Dimension{}
	}
}

// text returns a text that is unique to the metric.
func (m *Metric) text() string {
	var b strings.Builder
	b.WriteString(m.Namespace + "\x00" + m.Name)
	for _, d := range m.Dimensions {
		b.WriteString("\x00" + d.Name + "\x00" + d.Value)
	}
	return b.String()
}

func (m *Metric) dimension(name string) (string, bool) {
	for _, d := range m.Dimensions {
		if d.Name == name {
			return d.Value, true
		}
	}
	return "", false
}

// known is a metric that has data.
type known struct {
	Metric
	scope aws.Scope
	Units map[string]string // unit to number of its data
	Last  int64             // second of its newest data
}

// registry holds the metrics that have data. It is loaded when it is first needed.
type registry struct {
	read bool
	of   map[string]*known // metrics by scope and canonical text
	next uint64
}

func scopeKey(s aws.Scope) string { return s.Account + "/" + s.Region + "/" }

// registered returns the registry, and loads it if necessary. The caller holds mu.
func (s *Service) registered() (*registry, error) {
	r := &s.metrics
	if r.read {
		return r, nil
	}
	r.of = map[string]*known{}
	if err := s.table.Scan(metricKeys, func(key string, value []byte) error {
		k := new(known)
		parts := strings.SplitN(key, "/", 4)
		k.scope = aws.Scope{Account: parts[1], Region: parts[2]}
		r.of[key] = k
		return json.Unmarshal(value, k)
	}); err != nil {
		return nil, err
	}
	text, _, err := s.table.Get(nextKey)
	if err != nil {
		return nil, err
	}
	r.next, _ = strconv.ParseUint(string(text), 10, 64) // 0 if there is none
	r.read = true
	return r, nil
}

// The resolutions at which data are kept, and for how long.
var resolutions = []struct {
	letter string
	period int64
	keep   time.Duration
}{
	{"s", 1, 3 * time.Hour}, {"m", 60, 15 * 24 * time.Hour}, {"q", 300, 63 * 24 * time.Hour}, {"y", 3600, 455 * 24 * time.Hour},
}

func pointKey(number, resolution string, second int64) string {
	return fmt.Sprintf("%s%s%s%012d", pointKeys, number, resolution, second)
}

// Datum holds values of a metric at a time.
type Datum struct {
	Metric
	At   time.Time
	Data datapoints.Summary
	// Fine is true if the values are also stored with a resolution of one second.
	Fine bool
}

// Put stores data. When it returns nil, they are on disk.
func (s *Service) Put(scope aws.Scope, all []Datum) error {
	return s.change(func(b *documents.Batch) error {
		r, err := s.registered()
		if err != nil {
			return err
		}
		sums := map[string]*datapoints.Summary{}
		for i := range all {
			number := s.number(b, r, scope, &all[i])
			for _, res := range resolutions[:2] {
				if res.period == 1 && !all[i].Fine {
					continue
				}
				at := all[i].At.Unix()
				key := pointKey(number, res.letter, at-at%res.period)
				if sums[key] == nil {
					sums[key] = &datapoints.Summary{}
					text, found, err := s.table.Get(key)
					if err == nil && found {
						err = sums[key].Read(text)
					}
					if err != nil {
						return err
					}
				}
				sums[key].Unit = all[i].Data.Unit
				sums[key].Merge(&all[i].Data)
			}
		}
		for key, sum := range sums {
			b.Put(s.table, key, sum.Append(nil))
		}
		return nil
	})
}

// number returns the number under which the data of a metric in one unit are stored. It allocates a number for a
// new metric or unit. The caller holds mu.
func (s *Service) number(b *documents.Batch, r *registry, scope aws.Scope, d *Datum) string {
	d.sorted()
	key := metricKeys + scopeKey(scope) + d.text()
	k := r.of[key]
	if k == nil {
		k = &known{Metric: d.Metric, scope: scope, Units: map[string]string{}}
		r.of[key] = k
	}
	const often = 600 // seconds: a metric's age need not be exact
	number, found := k.Units[d.Data.Unit]
	if !found {
		number = fmt.Sprintf("%010x", r.next)
		k.Units[d.Data.Unit] = number
		r.next++
		b.Put(s.table, nextKey, strconv.AppendUint(nil, r.next, 10))
	}
	if at := d.At.Unix(); !found || at > k.Last+often {
		k.Last = max(k.Last, at)
		text, err := json.Marshal(k)
		if err == nil { // a map of strings can always be encoded
			b.Put(s.table, key, text)
		}
	}
	return number
}

// units returns the units in which a metric has data, sorted; only the requested one if there is one.
func (s *Service) units(scope aws.Scope, m *Metric, asked string) ([]string, error) {
	if asked != "" {
		return []string{asked}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.registered()
	if err != nil {
		return nil, err
	}
	k := r.of[metricKeys+scopeKey(scope)+m.text()]
	if k == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(k.Units)), nil
}

// read returns the summaries of a metric for consecutive periods. If unit is not empty, only data in that unit count.
func (s *Service) read(scope aws.Scope, m *Metric, unit string, start time.Time, period time.Duration, n int) (
	[]datapoints.Summary, error) {
	s.mu.Lock()
	r, err := s.registered()
	var numbers []string
	if err == nil {
		if k := r.of[metricKeys+scopeKey(scope)+m.text()]; k != nil {
			for u, number := range k.Units {
				if unit == "" || u == unit {
					numbers = append(numbers, number)
				}
			}
		}
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	all := make([]datapoints.Summary, n)
	seconds, from := int64(period/time.Second), start.Unix()
	letters := []string{"m", "q", "y"}
	if seconds < 60 {
		letters = []string{"s", "m"}
	}
	end := from + seconds*int64(n)
	for _, number := range numbers {
		found := false
		for _, letter := range letters {
			if letter == "m" && seconds < 60 && found {
				break // the minutes contain the same data; data of standard resolution are only there
			}
			prefix := pointKeys + number + letter
			err := s.table.ScanFrom(prefix, pointKey(number, letter, from), func(key string, value []byte) error {
				at, err := strconv.ParseInt(key[len(prefix):], 10, 64)
				if err != nil {
					return err
				}
				if at >= end {
					return errEnd
				}
				var one datapoints.Summary
				if err := one.Read(value); err != nil {
					return err
				}
				found = true
				sum := &all[(at-from)/seconds]
				sum.Unit = one.Unit
				sum.Merge(&one)
				return nil
			})
			if err != nil && !errors.Is(err, errEnd) {
				return nil, err
			}
		}
	}
	return all, nil
}

var errEnd = errors.New("the end")

// age aggregates old data to coarser resolutions, and deletes the oldest.
func (s *Service) age(now time.Time) error {
	s.mu.Lock()
	r, err := s.registered()
	var numbers []string
	if err == nil {
		for _, k := range r.of {
			for _, number := range k.Units {
				numbers = append(numbers, number)
			}
		}
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	for _, number := range numbers {
		for i, res := range resolutions {
			if err := s.ageOne(number, i, now.Add(-res.keep).Unix()); err != nil {
				return err
			}
		}
	}
	return nil
}

// ageOne moves the data of a resolution that are older than the second before to the next coarser resolution. Data
// by the second are only deleted, because the minutes already contain them, and data of the coarsest resolution are
// deleted, too.
func (s *Service) ageOne(number string, resolution int, before int64) error {
	res := resolutions[resolution]
	prefix := pointKeys + number + res.letter
	return s.change(func(b *documents.Batch) error {
		merged := map[string]*datapoints.Summary{}
		err := s.table.Scan(prefix, func(key string, value []byte) error {
			at, err := strconv.ParseInt(key[len(prefix):], 10, 64)
			if err != nil {
				return err
			}
			if at >= before {
				return errEnd
			}
			b.Delete(s.table, key)
			if resolution == 0 || resolution == len(resolutions)-1 { // the minutes already contain them
				return nil
			}
			coarse := resolutions[resolution+1]
			into := pointKey(number, coarse.letter, at-at%coarse.period)
			var one datapoints.Summary
			if err := one.Read(value); err != nil {
				return err
			}
			if merged[into] == nil {
				merged[into] = &datapoints.Summary{Unit: one.Unit}
				text, found, err := s.table.Get(into)
				if err != nil {
					return err
				}
				if found {
					if err := merged[into].Read(text); err != nil {
						return err
					}
				}
			}
			merged[into].Merge(&one)
			return nil
		})
		for key, sum := range merged {
			b.Put(s.table, key, sum.Append(nil))
		}
		if errors.Is(err, errEnd) {
			err = nil
		}
		return err
	})
}
